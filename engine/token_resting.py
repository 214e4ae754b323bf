"""Puts away what idle token sessions hold in their blocks, and brings it back. Loop thread."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from sayso.engine.blocks import Blocks
from sayso.engine.errors import EngineError
from sayso.engine.faults import is_out_of_memory
from sayso.engine.messages import Ledger, Tier
from sayso.engine.parcel import Away, Vault
from sayso.engine.retention import Tenant
from sayso.engine.runner.token_base import PackingRunner, TokenRunner
from sayso.engine.token_session import TokenSession

logger = logging.getLogger(__name__)

STATES: dict[Tier, str] = {"device": "waiting", "host": "parked", "disk": "hibernated", "dropped": "dropped"}


@dataclass(eq=False)
class TokenSeat:
    """A session and what the worker keeps of it."""

    name: str
    number: int
    session: TokenSession
    since: float
    """When it last moved: a chunk came, a step ran, or its client read."""
    order: int = 0
    announced: int = -1
    unread: int = 0
    opened: float = 0.0
    due: float = 0.0
    """When its next token should come, on the loop's clock: an even pace from when its chunk joined, whatever was."""
    stalled: tuple[int, int] | None = None
    """The state of memory in which there was no room for it."""
    away: Away | None = None
    """What was in its blocks, when that was put away."""
    first_block: int = 0
    """Blocks that were given back because they are behind the window."""

    def lose(self) -> None:
        """Its keys and values are gone; all of them are computed again."""
        self.session.preempt()
        self.first_block = 0


class TokenResting:
    """Without a ``vault``, or a runner that packs, a session is dropped: its tokens are kept and computed again."""

    def __init__(self, runner: TokenRunner, blocks: Blocks, vault: Vault | None) -> None:
        self._runner, self._blocks, self._vault = runner, blocks, vault

    def put_away(self, seat: TokenSeat, tier: Tier) -> None:
        """To host memory, disk or nowhere; the caller frees the blocks afterwards."""
        held = self._blocks.held(seat.name)[: self._computed_blocks(seat)]
        packs = tier != "dropped" and self._vault is not None and isinstance(self._runner, PackingRunner)
        if held and packs:
            assert self._vault is not None
            assert isinstance(self._runner, PackingRunner)
            self._pack(seat, self._runner, held, self._vault)
        elif held or tier == "dropped":
            self._forget(seat)
        if tier == "disk" and seat.away is not None and seat.away.parcel is not None:
            try:
                seat.away.hibernate()
            except EngineError as error:
                logger.warning("session %s: %s", seat.name, error.code)
                self._forget(seat)

    def _pack(self, seat: TokenSeat, runner: PackingRunner, held: Sequence[int], vault: Vault) -> None:
        """To host memory; where that is full it is dropped."""
        try:
            seat.away = Away(vault, runner.pack(held))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            logger.warning("there was no host memory for session %s, which was to be parked", seat.name)
            self._forget(seat)

    def bring_back(self, seat: TokenSeat) -> None:
        """Into the blocks that it was just given; what cannot be read any more is computed again."""
        away, seat.away = seat.away, None
        if away is None:
            return
        assert isinstance(self._runner, PackingRunner)
        try:
            parcel = away.parcel or (away.vault.fetch(away.stored) if away.stored is not None else None)
        except EngineError as error:
            logger.warning("session %s: %s", seat.name, error.code)
            parcel = None
        if parcel is None:
            seat.lose()
        else:
            self._runner.unpack(self._blocks.held(seat.name)[: self._computed_blocks(seat)], parcel)

    def ledger(self, seat: TokenSeat, now: float, *, busy: bool) -> Ledger:
        """What a session holds, blocks that are not full included."""
        host, disk = (seat.away.host_bytes, seat.away.disk_bytes) if seat.away is not None else (0, 0)
        held = len(self._blocks.held(seat.name)) * self._runner.block_bytes
        state = "active" if busy else STATES[self._tier(seat)]
        idle_s, age_s = max(0.0, now - seat.since), max(0.0, now - seat.opened)
        return Ledger(seat.name, state, held, 0, 0, idle_s, age_s, host, disk)

    def tenant(self, seat: TokenSeat, now: float, *, busy: bool) -> Tenant:
        """A session as the rules see it."""
        it = self.ledger(seat, now, busy=busy)
        nbytes = it.kv + it.kv_host + it.kv_disk
        return Tenant(seat.name, self._tier(seat), nbytes, now - seat.since, busy, recomputable=True)

    def _computed_blocks(self, seat: TokenSeat) -> int:
        return -(-seat.session.computed // self._runner.block_tokens) - seat.first_block

    def _tier(self, seat: TokenSeat) -> Tier:
        if seat.away is not None:
            return seat.away.tier
        return "device" if self._blocks.held(seat.name) or not seat.session.length else "dropped"

    def _forget(self, seat: TokenSeat) -> None:
        if seat.away is not None:
            seat.away.discard()
            seat.away = None
        seat.lose()
