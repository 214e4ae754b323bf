"""What can be taken back: the last actions, each once, and again only where a refusal may pass."""

from __future__ import annotations

import threading

import pytest

from sayso.app.actions.base import Done, Revert
from sayso.app.actions.errors import ActionError
from sayso.app.actions.undo import UndoLog

HALT = threading.Event()


def back(halt: threading.Event) -> Done:
    return Done("as before")


def refusing(code: str) -> Revert:
    def revert(halt: threading.Event) -> Done:
        raise ActionError(code, "It cannot be done now.")

    return revert


def test_the_last_fifty_are_kept_and_the_latest_comes_first() -> None:
    log = UndoLog()
    tokens = [log.add(f"action {number}", back) for number in range(51)]
    assert log.get(tokens[0]) is None
    assert all(log.get(token) is not None for token in tokens[1:])
    latest = log.latest()
    assert latest is not None
    assert latest.token is tokens[-1]


def test_what_was_taken_back_is_gone() -> None:
    log = UndoLog()
    token = log.add("louder", back)
    entry = log.get(token)
    assert entry is not None
    assert log.revert(entry, HALT).detail == "as before"
    assert log.get(token) is None
    assert log.latest() is None


@pytest.mark.parametrize(("code", "stays"), [("window_changed", True), ("modifier_held", True), ("window_gone", False)])
def test_a_refusal_that_may_pass_leaves_it_there(code: str, stays: bool) -> None:
    log = UndoLog()
    token = log.add("type", refusing(code))
    entry = log.get(token)
    assert entry is not None
    with pytest.raises(ActionError):
        log.revert(entry, HALT)
    assert (log.get(token) is not None) is stays


def test_what_was_made_and_is_gone_leaves_nothing_to_take_back() -> None:
    log = UndoLog()
    made, other = object(), object()
    token = log.add("type", back, made)
    log.add("louder", back)
    assert log.withdraw(other) is None
    assert log.withdraw(made) == token
    assert log.get(token) is None
