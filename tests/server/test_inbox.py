"""Audio that waits for its turn."""

from __future__ import annotations

from sayso.server.inbox import Inbox


def test_audio_without_a_commit_does_not_run() -> None:
    inbox = Inbox()
    inbox.add(b"aabb")
    assert inbox.take() is None
    assert inbox.samples == 2


def test_turns_come_out_in_order_with_their_own_audio() -> None:
    inbox = Inbox()
    inbox.add(b"11")
    inbox.start()
    inbox.add(b"1122")
    inbox.end()
    inbox.add(b"33")
    inbox.end()
    first, second = inbox.take(), inbox.take()
    assert first is not None
    assert second is not None
    assert (first.chunks, first.started, first.ended) == ([b"11", b"1122"], True, True)
    assert (second.chunks, second.started, second.ended) == ([b"33"], False, True)
    assert inbox.samples == len(inbox) == 0


def test_a_started_turn_runs_before_it_has_ended() -> None:
    inbox = Inbox()
    inbox.start()
    turn = inbox.take()
    assert turn is not None
    assert not turn.ended


def test_clear_leaves_nothing() -> None:
    inbox = Inbox()
    inbox.add(b"11")
    inbox.end()
    inbox.clear()
    assert inbox.take() is None
    assert inbox.samples == len(inbox) == 0
