"""Fairness and bookkeeping of the way to the engine."""

from __future__ import annotations

from sayso.engine import messages as m
from sayso.server.lanes import Lane, Lanes


class Listener:
    def engine_message(self, message: m.Up) -> None:
        """Hears nothing in these tests."""


def audio(session: str, samples: int = 10) -> m.Audio:
    return m.Audio(session, 0, bytes(m.PCM_BYTES * samples))


def drain(lanes: Lanes) -> list[m.Down]:
    taken = []
    while (message := lanes.pop()) is not None:
        taken.append(message)
    return taken


def test_busy_connections_take_turns() -> None:
    lanes, one, two = Lanes(), Lane(Listener()), Lane(Listener())
    for _ in range(3):
        lanes.put(one, audio("one"))
    lanes.put(two, audio("two"))
    assert [message.session for message in drain(lanes)] == ["one", "two", "one", "one"]  # type: ignore[union-attr]


def test_the_order_within_a_connection_stays() -> None:
    lanes, lane = Lanes(), Lane(Listener())
    sent = [m.Open("s"), audio("s"), m.Flush("s", 0, 1)]
    for message in sent:
        lanes.put(lane, message)
    assert drain(lanes) == sent


def test_audio_on_its_way_is_counted() -> None:
    lanes, lane = Lanes(), Lane(Listener())
    lanes.put(lane, m.Open("s"))
    lanes.put(lane, audio("s", 30))
    lanes.put(lane, audio("s", 12))
    assert lane.queued_samples == 42
    drain(lanes)
    assert lane.queued_samples == 0


def test_a_close_overtakes_audio_that_nobody_wants_any_more() -> None:
    lanes, lane = Lanes(), Lane(Listener())
    for message in (m.Open("s"), audio("s"), m.Flush("s", 0, 1), m.Close("s")):
        lanes.put(lane, message)
    assert lane.queued_samples == 0
    assert drain(lanes) == [m.Open("s"), m.Close("s")]


def test_a_cancel_leaves_the_audio_of_another_session_alone() -> None:
    lanes, lane = Lanes(), Lane(Listener())
    for message in (audio("new"), audio("old"), m.Cancel("old", 1)):
        lanes.put(lane, message)
    assert drain(lanes) == [audio("new"), m.Cancel("old", 1)]


def test_messages_find_the_connection_that_opened_the_session() -> None:
    lanes, first, second = Lanes(), Listener(), Listener()
    lanes.put(Lane(first), m.Open("a"))
    lanes.put(Lane(second), m.Open("b"))
    drain(lanes)
    assert lanes.owner(m.Opened("a")) is first
    assert lanes.owner(m.Opened("b")) is second
    assert lanes.owner(m.Opened("c")) is None
    assert lanes.owner(m.Failed(None, "x", "y")) is None


def test_a_closed_session_has_no_owner_any_more() -> None:
    lanes, listener = Lanes(), Listener()
    lanes.put(Lane(listener), m.Open("a"))
    assert lanes.owner(m.Closed("a", "closed")) is listener
    assert lanes.owner(m.Opened("a")) is None


def test_clear_forgets_messages_and_owners() -> None:
    lanes, lane = Lanes(), Lane(Listener())
    lanes.put(lane, m.Open("a"))
    lanes.put(lane, audio("a"))
    lanes.clear()
    assert drain(lanes) == []
    assert lane.queued_samples == 0
    assert lanes.owner(m.Opened("a")) is None
    lanes.put(lane, m.Open("b"))
    assert drain(lanes) == [m.Open("b")]
