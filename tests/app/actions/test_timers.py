"""Timers are set, asked for and cancelled by a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest
from spoken_actions import BareHands

from sayso.app.actions import ActionError, create
from sayso.app.alarms import Alarms
from sayso.app.commands.matching import Match


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def alarms(clock: Clock) -> Alarms:
    return Alarms(clock)


@pytest.fixture
async def timed(alarms: Alarms, said: Callable[[str], Match]) -> AsyncIterator[BareHands]:
    performer = create(environment={}, alarms=alarms)
    yield BareHands(performer, said)
    await performer.close()


async def test_a_timer_is_set_asked_for_and_taken_back(timed: BareHands, alarms: Alarms, clock: Clock) -> None:
    outcome = await timed.do("set a timer for five minutes")
    assert outcome.title == "Set a timer for 5 minutes"
    assert [(alarm.title, alarm.due) for alarm in alarms.pending()] == [("The timer of 5 minutes is over", 1300.0)]

    clock.now += 90.5
    assert (await timed.do("how long left on the timer")).detail == "timer: 3 minutes 30 seconds left"

    assert outcome.undo is not None
    await timed.performer.undo(outcome.undo)
    assert alarms.pending() == ()


async def test_a_reminder_keeps_the_words_as_they_were_heard(timed: BareHands, alarms: Alarms) -> None:
    await timed.do("Remind me to call Anna in an hour and a half.")
    await timed.do("Remind me in ten minutes to put the cake in the oven.")

    assert [(alarm.title, alarm.due) for alarm in alarms.pending()] == [
        ("Reminder: put the cake in the oven", 1600.0),
        ("Reminder: call Anna", 6400.0),
    ]


async def test_cancelling_takes_one_kind_and_undo_sets_it_with_what_was_left(
    timed: BareHands, alarms: Alarms, clock: Clock
) -> None:
    for sentence in ("set a timer for 1 minute", "timer 2 minutes", "remind me to eat in 1 hour"):
        await timed.do(sentence)
    clock.now += 30
    outcome = await timed.do("cancel all timers")
    assert [alarm.kind for alarm in alarms.pending()] == ["reminder"]
    assert outcome.detail == "2 timers cancelled"

    clock.now += 1000
    assert outcome.undo is not None
    await timed.performer.undo(outcome.undo)
    assert [alarms.left(alarm) for alarm in alarms.pending()] == [30, 90, 3600 - 1030]


@pytest.mark.parametrize("sentence", ["how long left on the timer", "cancel the timer", "cancel my reminders"])
async def test_without_a_timer_it_says_so(timed: BareHands, sentence: str) -> None:
    with pytest.raises(ActionError) as refused:
        await timed.do(sentence)

    assert refused.value.code == "no_timer"


async def test_a_timer_that_is_over_cannot_be_taken_back(timed: BareHands, alarms: Alarms) -> None:
    outcome = await timed.do("set a timer for 1 second")
    alarms.remove(alarms.pending()[0])

    assert outcome.undo is not None
    with pytest.raises(ActionError) as refused:
        await timed.performer.undo(outcome.undo)
    assert refused.value.code == "alarm_gone"
