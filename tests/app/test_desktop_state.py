from itertools import pairwise

import pytest

from sayso.app.desktop_state import ALLOWED, DesktopStateMachine
from sayso.app.snapshot import DesktopState


def test_every_state_has_a_row_and_can_be_quit() -> None:
    assert set(ALLOWED) == set(DesktopState)
    assert all(DesktopState.QUITTING in row for state, row in ALLOWED.items() if state is not DesktopState.QUITTING)


@pytest.mark.parametrize(
    "path",
    [
        (DesktopState.STARTING, DesktopState.LISTENING, DesktopState.RECONNECTING, DesktopState.LISTENING),
        (DesktopState.STARTING, DesktopState.IDLE, DesktopState.LISTENING, DesktopState.IDLE),
    ],
)
def test_the_usual_ways_are_allowed(path: tuple[DesktopState, ...]) -> None:
    machine = DesktopStateMachine()
    for before, after in pairwise(path):
        assert machine.state is before
        assert machine.move(after)


def test_a_late_event_cannot_bring_a_state_back_after_quitting() -> None:
    machine = DesktopStateMachine()
    machine.move(DesktopState.QUITTING)
    assert not machine.move(DesktopState.LISTENING)
    assert machine.state is DesktopState.QUITTING


def test_an_idle_desktop_is_not_made_listening_by_a_reconnect() -> None:
    machine = DesktopStateMachine()
    machine.move(DesktopState.IDLE)
    assert not machine.move(DesktopState.RECONNECTING)
    assert not machine.listening
