"""The rules of retention: what is due by time and for the budgets, and who is never touched."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.engine.messages import Retention
from sayso.engine.retention import DEPTH, SPEAKING_S, Move, Tenant, moves, wait_s

IDLE = Tenant("a", "device", 100, 10.0, busy=False, recomputable=True)
SECONDS = st.none() | st.integers(0, 100).map(float)
RULES = st.builds(Retention, SECONDS, SECONDS, SECONDS, SECONDS, st.integers(0, 500), st.integers(0, 500))
TENANTS = st.lists(
    st.builds(
        Tenant,
        st.text("abcdefgh", min_size=1, max_size=3),
        st.sampled_from(["device", "host", "disk", "dropped"]),
        st.integers(0, 200),
        st.integers(0, 120).map(float),
        st.booleans(),
        st.booleans(),
    ),
    max_size=8,
    unique_by=lambda tenant: tenant.session,
)


def test_nothing_is_due_without_rules() -> None:
    assert moves([IDLE, replace(IDLE, session="b", idle_s=1e9)], Retention()) == []


@pytest.mark.parametrize(
    ("idle_s", "to"), [(4.9, None), (5.0, "host"), (10.0, "disk"), (20.0, "dropped"), (30.0, "closed")]
)
def test_the_deepest_place_whose_time_has_come_is_due(idle_s: float, to: str | None) -> None:
    rules = Retention(park_s=5, hibernate_s=10, drop_s=20, close_s=30)
    assert moves([replace(IDLE, idle_s=idle_s)], rules) == ([Move("a", to)] if to else [])


def test_under_pressure_the_longest_idle_go_first_and_only_as_many_as_must() -> None:
    idle = [replace(IDLE, session=name, idle_s=seconds) for name, seconds in (("a", 3.0), ("b", 5.0), ("c", 4.0))]
    busy = replace(IDLE, session="d", busy=True, idle_s=99.0)
    assert moves([*idle, busy], Retention(device_bytes=200)) == [Move("b", "host"), Move("c", "host")]


def test_parked_sessions_over_the_host_budget_go_to_disk_only_where_that_is_allowed() -> None:
    parked = replace(IDLE, tier="host", idle_s=SPEAKING_S)
    assert moves([parked], Retention(host_bytes=50)) == [Move("a", "dropped")]
    assert moves([parked], Retention(host_bytes=50, hibernate_s=1000.0)) == [Move("a", "disk")]
    assert moves([replace(parked, recomputable=False)], Retention(host_bytes=50)) == []


@settings(max_examples=300, deadline=None)
@given(TENANTS, RULES)
def test_the_busy_are_never_touched_tiers_only_get_deeper_and_budgets_hold_as_far_as_the_idle_allow(
    tenants: list[Tenant], rules: Retention
) -> None:
    due = {move.session: move.to for move in moves(tenants, rules)}
    for tenant in tenants:
        to = due.get(tenant.session)
        if to is None:
            continue
        assert not tenant.busy
        assert DEPTH[to] > DEPTH[tenant.tier]
        assert to != "dropped" or tenant.recomputable
        assert to != "disk" or rules.hibernate_s is not None
        times = (rules.park_s, rules.hibernate_s, rules.drop_s, rules.close_s)
        assert tenant.idle_s >= min([SPEAKING_S, *(at for at in times if at is not None)])
    staying = [tenant for tenant in tenants if tenant.tier == "device" and tenant.session not in due]
    if rules.device_bytes and sum(tenant.nbytes for tenant in staying) > rules.device_bytes:
        assert all(tenant.busy or not tenant.nbytes or tenant.idle_s < SPEAKING_S for tenant in staying)


@settings(max_examples=200, deadline=None)
@given(TENANTS, RULES)
def test_what_is_done_is_not_due_again_and_no_deadline_is_in_the_past(tenants: list[Tenant], rules: Retention) -> None:
    due = {move.session: move.to for move in moves(tenants, rules)}
    after = [
        replace(tenant, tier=due.get(tenant.session, tenant.tier))
        for tenant in tenants
        if due.get(tenant.session) != "closed"
    ]
    assert {move.to for move in moves(after, rules)} <= {"disk", "dropped"}
    wait = wait_s(after, rules)
    assert wait is None or wait > 0.0


def test_for_a_budget_nobody_is_put_away_who_was_heard_a_moment_ago_but_soon_after() -> None:
    rules = Retention(device_bytes=1, host_bytes=1)
    for tier, to in (("device", "host"), ("host", "dropped")):
        speaking = replace(IDLE, tier=tier, idle_s=0.5)
        assert moves([speaking], rules) == []
        assert wait_s([speaking], rules) == SPEAKING_S - 0.5
        silent = replace(speaking, idle_s=SPEAKING_S)
        assert to in {move.to for move in moves([silent], rules)} | {"host"}
        assert wait_s([silent], rules) is None
