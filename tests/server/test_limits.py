"""Limits that change while the server runs."""

from __future__ import annotations

import pytest

from sayso.server.config import ServerConfig
from sayso.server.errors import ServerError
from sayso.server.limits import RunningLimits, changed, limits_in


def test_what_is_not_named_stays() -> None:
    before = RunningLimits(idle_s=9, drop_after_s=5)
    assert changed(before, b'{"idle_s": 0, "most_host_mb": 3}') == RunningLimits(drop_after_s=5, most_host_mb=3)


def test_a_configuration_carries_them() -> None:
    config = ServerConfig(port=0, key="k", session_s=4)
    assert limits_in(config) == RunningLimits(session_s=4)
    assert changed(limits_in(config), b"{}") == RunningLimits(session_s=4)


@pytest.mark.parametrize(
    "body",
    [
        b'{"port": 1}',
        b'{"idle_s": null}',
        b'{"resume_s": -0.1}',
        b'{"most_host_mb": 1.5}',
        b'{"unread_bytes": 0}',
        b'{"engine_end_at_pressure": 101}',
    ],
)
def test_a_limit_that_makes_no_sense_is_named(body: bytes) -> None:
    with pytest.raises(ServerError) as caught:
        changed(RunningLimits(), body)
    assert caught.value.code == "bad_limit"
    assert body.split(b'"')[1].decode() in caught.value.message


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_every_limit_is_a_finite_number(value: float) -> None:
    for name in RunningLimits.__struct_fields__:
        with pytest.raises(ServerError, match=name):
            RunningLimits(**{name: value}).check_limits()
