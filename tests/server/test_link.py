"""One connection's session in the engine."""

from __future__ import annotations

from sayso.engine import messages as m
from sayso.server.link import EngineLink

SECOND = bytes(32_000)


def test_the_session_is_opened_with_its_first_audio_only() -> None:
    link = EngineLink("c")
    assert [type(message) for message in link.audio(SECOND)] == [m.Open, m.Audio]
    assert [type(message) for message in link.audio(SECOND)] == [m.Audio]


def test_a_session_that_was_never_opened_needs_no_messages() -> None:
    link = EngineLink("c")
    assert link.close() == link.cancel() == link.configure(m.SessionOptions("en")) == []


def test_after_a_loss_an_old_name_is_not_heard() -> None:
    link = EngineLink("c")
    list(link.audio(SECOND))
    old = m.Text("c.0", 0, "x", True, 0, 1)
    assert link.hears(old)
    link.forget()
    list(link.audio(SECOND))
    assert not link.hears(old)
    assert link.hears(m.Text("c.1", 0, "x", True, 0, 1))


def test_results_from_before_a_cancel_are_not_heard() -> None:
    link = EngineLink("c")
    list(link.audio(SECOND))
    assert link.cancel() == [m.Cancel("c.0", 1)]
    assert not link.hears(m.Text("c.0", 0, "x", True, 0, 1))
    assert link.hears(m.Flushed("c.0", 1, 1, 0))
    assert [message.epoch for message in link.audio(SECOND)] == [1]  # type: ignore[union-attr]


def test_messages_of_the_whole_engine_are_not_a_sessions_own() -> None:
    link = EngineLink("c")
    list(link.audio(SECOND))
    assert not link.hears(m.Failed(None, "x", "y"))
    assert not link.hears(m.Metrics(1, 1.0, 1.0, 0.0))


def test_only_the_newest_marker_is_awaited() -> None:
    link = EngineLink("c")
    first, second = link.flush(), link.flush()
    assert isinstance(first, m.Flush)
    assert isinstance(second, m.Flush)
    assert not link.awaits(first.marker)
    assert link.awaits(second.marker)


def test_options_that_did_not_change_are_not_sent_again() -> None:
    link = EngineLink("c")
    list(link.audio(SECOND))
    assert link.configure(m.SessionOptions(words=True)) == []
    assert link.configure(m.SessionOptions("de")) == [m.Configure("c.0", m.SessionOptions("de"))]
