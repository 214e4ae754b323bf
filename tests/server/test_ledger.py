"""What sessions hold in the engine."""

from __future__ import annotations

from sayso.engine.messages import Ledger, Memory
from sayso.server.ledger import bytes_by_tier, of_connection

MEMORY = Memory(
    resident=1,
    weights=2,
    device=0,
    sessions=(
        Ledger("sess-a.0", "waiting", kv=10, audio=1, features=5, idle_s=1, age_s=2),
        Ledger("sess-a.1", "waiting", kv=20, audio=2, features=0, idle_s=1, age_s=2),
        Ledger("sess-ab.0", "waiting", kv=400, audio=0, features=0, idle_s=1, age_s=2),
    ),
)


def test_a_connection_holds_what_its_sessions_hold_and_no_other() -> None:
    held = bytes_by_tier(of_connection(MEMORY, "sess-a"))
    assert (held["kv"], held["audio"], held["features"]) == (30, 3, 5)
    assert "idle_s" not in held
    assert bytes_by_tier(MEMORY.sessions)["kv"] == 430


def test_an_engine_that_is_gone_holds_nothing() -> None:
    assert set(bytes_by_tier(of_connection(None, "sess-a")).values()) == {0}
