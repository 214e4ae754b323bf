"""What sessions hold in the engine, by tier, joined from the engine's newest ledger. Pure.

The engine names a session after its connection and a count, since a connection may open several one after another.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from sayso.engine import messages

TIERS = tuple(f.name for f in msgspec.structs.fields(messages.Ledger) if f.type is int)
"""Every figure of bytes that the engine keeps for a session."""
PLACES = {"parked": "host", "hibernated": "disk", "dropped": "dropped"}
"""Where the keys and values of a session in this state are; else they are on the device."""


def bytes_by_tier(sessions: Iterable[messages.Ledger]) -> dict[str, int]:
    """Sums over these sessions; every tier is there."""
    sums = dict.fromkeys(TIERS, 0)
    for session in sessions:
        for tier in TIERS:
            sums[tier] += getattr(session, tier)
    return sums


def of_connection(memory: messages.Memory | None, connection: str) -> list[messages.Ledger]:
    """The engine's sessions of one connection."""
    sessions = memory.sessions if memory is not None else ()
    return [session for session in sessions if session.session.rpartition(".")[0] == connection]


def standing(sessions: Iterable[messages.Ledger]) -> tuple[str, str]:
    """State and tier of a connection's newest session in the engine; ``none`` twice when there is none."""
    newest = max(sessions, key=lambda session: int(session.session.rpartition(".")[2] or 0), default=None)
    return ("none", "none") if newest is None else (newest.state, PLACES.get(newest.state, "device"))
