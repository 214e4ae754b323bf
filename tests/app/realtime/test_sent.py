"""What was sent and may have to be sent again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sayso.app.realtime.sent import Sent, SentLog
from sayso.app.realtime.turn import Sending, Turn
from sayso.server.protocol.rejoin import Rejoin


def sending() -> Sending:
    return Sending(Turn(1), 0, 0, Rejoin(""))


def turn_of(appends: int) -> list[Sent]:
    """A turn of appends of ten samples."""
    turn = sending()
    return [
        Sent(turn, None),
        *(Sent(turn, 10 * number) for number in range(appends)),
        Sent(turn, 10 * appends, final=True),
    ]


@given(st.integers(0, 20), st.integers(0, 25))
def test_what_did_not_come_is_taken_back_newest_first(appends: int, received: int) -> None:
    log, events = SentLog(), turn_of(appends)
    for event in events:
        log.add(event)
    back = log.take_back(received)
    if received > len(events):
        assert back is None
        assert log.count == len(events)
    else:
        assert back == events[received:][::-1]
        assert log.count == received


@given(st.integers(1, 20), st.integers(0, 250))
def test_what_is_answered_for_need_not_be_kept_and_the_rest_can_be_taken_back(appends: int, position: int) -> None:
    log, events = SentLog(), turn_of(appends)
    for event in events:
        log.add(event)
    log.settle(position)
    # The opening and every append that ends at or before the position; the end of the turn is answered by its text.
    answered = min(1 + position // 10, len(events) - 1)
    assert log.take_back(answered) == events[answered:][::-1]


def test_a_server_that_claims_less_than_it_has_answered_for_means_another_session() -> None:
    log = SentLog()
    for event in turn_of(5):
        log.add(event)
    log.clear()
    assert log.take_back(6) is None
    assert log.take_back(7) == []
