"""Which sessions give their memory back, and how. A pure function of what they hold, how long they idle, and rules.

Tiers only get deeper here: device, host, disk, dropped; a session comes back by its next audio alone. A session that
is busy is never touched, nor is one for a budget whose client was heard a moment ago: it waits for the next piece of
what is being said. So a budget smaller than what those hold is passed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sayso.engine.messages import Retention, Tier

Place = Tier | Literal["closed"]

SPEAKING_S = 2.0
"""Longer than the pauses within what somebody says."""

DEPTH: dict[Place, int] = {"device": 0, "host": 1, "disk": 2, "dropped": 3, "closed": 4}


@dataclass(frozen=True)
class Tenant:
    """One session as the rules see it; ``nbytes`` of keys and values are in ``tier``."""

    session: str
    tier: Tier
    nbytes: int
    idle_s: float
    busy: bool
    recomputable: bool
    """Whether it may be dropped: enough is kept to compute it again."""


@dataclass(frozen=True)
class Move:
    """What is to be done with a session."""

    session: str
    to: Place


def moves(tenants: Iterable[Tenant], rules: Retention) -> list[Move]:
    """What is due now: by time first, then for the budgets, the longest idle first. At most one for each session."""
    everybody = list(tenants)
    resting = sorted((tenant for tenant in everybody if not tenant.busy), key=lambda tenant: -tenant.idle_s)
    due = {tenant.session: to for tenant in resting if (to := _by_time(tenant, rules)) is not None}
    silent = [tenant for tenant in resting if tenant.idle_s >= SPEAKING_S]
    if rules.device_bytes:
        on_device = [tenant for tenant in everybody if tenant.tier == "device" and tenant.session not in due]
        over = sum(tenant.nbytes for tenant in on_device) - rules.device_bytes
        for tenant in silent:
            if over > 0 and tenant.nbytes and tenant in on_device:
                due[tenant.session] = "host"
                over -= tenant.nbytes
    if rules.host_bytes:
        parked = [tenant for tenant in resting if due.get(tenant.session, tenant.tier) == "host"]
        over = sum(tenant.nbytes for tenant in parked) - rules.host_bytes
        for tenant in parked:
            if tenant.idle_s < SPEAKING_S:
                continue
            deeper = _below_host(tenant, rules)
            if over > 0 and deeper is not None:
                due[tenant.session] = deeper
                over -= tenant.nbytes
    return [Move(session, to) for session, to in due.items()]


def wait_s(tenants: Iterable[Tenant], rules: Retention) -> float | None:
    """Seconds until time alone makes another move due; None when it never does."""
    resting = [tenant for tenant in tenants if not tenant.busy]
    dues = [(tenant, after) for tenant in resting for _, after in _stages(tenant, rules)]
    if rules.device_bytes or rules.host_bytes:
        dues += [(tenant, SPEAKING_S) for tenant in resting if tenant.nbytes and tenant.tier in ("device", "host")]
    waits = [after - tenant.idle_s for tenant, after in dues if after > tenant.idle_s]
    return min(waits, default=None)


def _stages(tenant: Tenant, rules: Retention) -> list[tuple[Place, float]]:
    """Where a session can still go by time, and after how long."""
    stages: list[tuple[Place, float | None]] = [("closed", rules.close_s)]
    if tenant.nbytes and tenant.tier != "dropped":
        stages += [("dropped", rules.drop_s if tenant.recomputable else None)]
        stages += [("disk", rules.hibernate_s), ("host", rules.park_s)]
    return [(to, after) for to, after in stages if after is not None and DEPTH[to] > DEPTH[tenant.tier]]


def _by_time(tenant: Tenant, rules: Retention) -> Place | None:
    """The deepest place whose time has come."""
    return next((to for to, after in _stages(tenant, rules) if tenant.idle_s >= after), None)


def _below_host(tenant: Tenant, rules: Retention) -> Place | None:
    if rules.hibernate_s is not None:
        return "disk"
    return "dropped" if tenant.recomputable else None
