"""The wire's state table."""

from __future__ import annotations

import pytest

from sayso.server.protocol.state import TRANSITIONS, TransitionError, WireMachine, WireState


def test_a_connection_starts_new_and_goes_through_a_turn() -> None:
    machine = WireMachine("s")
    assert machine.state is WireState.NEW
    for state in (WireState.READY, WireState.STREAMING, WireState.DRAINING, WireState.READY, WireState.CLOSED):
        machine.to(state)
        assert machine.state is state
    assert machine.ended


@pytest.mark.parametrize("target", list(WireState))
@pytest.mark.parametrize("end", [WireState.CLOSED, WireState.FAILED])
def test_nothing_follows_an_end(end: WireState, target: WireState) -> None:
    machine = WireMachine("s")
    machine.to(end)
    with pytest.raises(TransitionError):
        machine.to(target)
    assert machine.state is end


def test_audio_cannot_start_before_a_model_is_chosen() -> None:
    with pytest.raises(TransitionError):
        WireMachine("s").to(WireState.STREAMING)


def test_every_state_has_its_row_and_every_living_one_can_end() -> None:
    assert set(TRANSITIONS) == set(WireState)
    living = set(WireState) - {WireState.CLOSED, WireState.FAILED}
    assert all({WireState.CLOSED, WireState.FAILED} <= TRANSITIONS[state] for state in living)
