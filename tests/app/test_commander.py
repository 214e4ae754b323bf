"""The commander with the real grammar and performer; the deeds themselves are recorded instead of done."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, field

import pytest

from sayso.app.actions import ActionError, Performer, Receipt
from sayso.app.actions.base import Done, Job
from sayso.app.actions.desktop.none import NO_DISPLAY, Refusing
from sayso.app.actions.timers import Timers
from sayso.app.actions.typing import Typist
from sayso.app.actions.undo import UndoLog
from sayso.app.alarms import Alarms
from sayso.app.carried_out import CarriedOut
from sayso.app.commander import Commander
from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match
from sayso.app.commands.names import Named
from sayso.app.commands.other_text import OtherText
from sayso.app.question import Surroundings
from sayso.app.said import Said
from sayso.app.snapshot import DICTATION, FeedState, LineKind, Mode
from sayso.app.why import Moments


@dataclass
class Recorder:
    """An action family that writes down what it was asked to do."""

    family: str
    done: list[str] = field(default_factory=list)
    fails: bool = False
    receipt: Receipt = Receipt.VERIFIED
    """How sure the way back is."""
    refusals: list[str] = field(default_factory=list)
    """Codes with which the next ways back are refused."""

    def describe(self, match: Match) -> str:
        return match.title

    def perform(self, job: Job) -> Done:
        if self.fails:
            raise ActionError("no_sound", "No sound server is running. Start one.")
        self.done.append(job.match.intent)
        return Done("it is louder", revert=lambda halt: self._revert())

    def _revert(self) -> Done:
        if self.refusals:
            raise ActionError(self.refusals.pop(0), "Go back to that window.")
        self.done.append("reverted")
        return Done("the text is on the clipboard", self.receipt)

    def names(self) -> list[Named]:
        return [Named("firefox", "Firefox", ("Firefox",))] if self.family == "applications" else []


@dataclass
class Stage:
    commander: Commander
    volume: Recorder
    applications: Recorder
    power: Recorder
    outcomes: list[tuple[int, LineKind]]
    told: list[CarriedOut] = field(default_factory=list)
    meanings: list[str] = field(default_factory=list)

    async def say(self, *heard: str) -> None:
        for turn, text in enumerate(heard, start=1):
            self.commander.submit(Said(turn, text), self._around())
        await asyncio.wait_for(self.commander.finished(), 10)

    def _around(self) -> Awaitable[Surroundings]:
        return asyncio.ensure_future(self.commander.look_around())

    def states(self) -> list[FeedState]:
        return [item.state for item in self.commander.feed.items]


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.load()


@pytest.fixture
async def stage(grammar: Grammar) -> AsyncIterator[Stage]:
    volume, applications, power = Recorder("volume"), Recorder("applications"), Recorder("power")
    backend = Refusing("none", NO_DISPLAY)
    performer = Performer([volume, applications, power], backend, Typist(backend, 1), UndoLog(), own_pid=1)
    outcomes: list[tuple[int, LineKind]] = []
    meanings: list[str] = []
    told: list[CarriedOut] = []

    def became(turn: int, kind: LineKind, meant: str) -> None:
        outcomes.append((turn, kind))
        meanings.append(meant)

    commander = Commander(
        grammar,
        performer,
        lambda: None,
        became,
        on_carried_out=told.append,
    )
    task = asyncio.create_task(commander.run())
    yield Stage(commander, volume, applications, power, outcomes, told, meanings)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_command_is_done_and_its_line_is_marked_as_a_command(stage: Stage) -> None:
    await stage.say("Volume up.")
    assert stage.volume.done == ["volume.change"]
    assert stage.outcomes == [(1, LineKind.COMMAND)]
    item = stage.commander.feed.items[0]
    assert (item.state, item.detail, item.can_undo) == (FeedState.DONE, "it is louder", True)


async def test_commands_are_done_in_the_order_in_which_they_were_said(stage: Stage) -> None:
    await stage.say("volume up", "mute", "volume down", "unmute")
    assert stage.volume.done == ["volume.change", "volume.mute", "volume.change", "volume.unmute"]


async def test_ordinary_speech_does_nothing_among_commands_and_is_marked_as_plain(stage: Stage) -> None:
    await stage.say("I told her that the weather would be nice.")
    assert stage.volume.done == []
    assert stage.commander.feed.items == ()
    assert stage.outcomes == [(1, LineKind.PLAIN)]


async def test_what_is_almost_a_command_comes_with_the_one_that_may_have_been_meant(stage: Stage) -> None:
    await stage.say("turn the volume sideways")
    assert stage.volume.done == []
    assert stage.outcomes == [(1, LineKind.PLAIN)]
    assert "volume" in stage.meanings[0]


async def test_a_failure_is_shown_with_its_reason(stage: Stage) -> None:
    stage.volume.fails = True
    await stage.say("volume up")
    item = stage.commander.feed.items[0]
    assert item.state is FeedState.FAILED
    assert "No sound server" in item.detail


async def test_undo_from_the_window_takes_the_action_back(stage: Stage) -> None:
    await stage.say("volume up")
    stage.commander.undo(1)
    await asyncio.wait_for(stage.commander.finished(), 10)
    assert stage.volume.done == ["volume.change", "reverted"]
    assert stage.states() == [FeedState.UNDONE]


@pytest.mark.parametrize(("code", "again"), [("window_changed", True), ("used_by_hand", False)])
async def test_what_could_not_be_taken_back_says_so_and_can_be_tried_again_where_that_may_help(
    stage: Stage, code: str, again: bool
) -> None:
    await stage.say("volume up")
    stage.volume.refusals.append(code)
    stage.commander.undo(1)
    await asyncio.wait_for(stage.commander.finished(), 10)
    item = stage.commander.feed.items[0]
    assert (item.state, item.detail) == (FeedState.DONE, "Not undone: Go back to that window.")
    assert item.can_undo is again
    stage.commander.undo(1)
    await asyncio.wait_for(stage.commander.finished(), 10)
    assert stage.volume.done == ["volume.change", *(["reverted"] if again else [])]
    assert stage.states() == [FeedState.UNDONE if again else FeedState.DONE]


async def test_what_came_back_on_the_clipboard_only_is_not_said_to_be_undone(stage: Stage) -> None:
    await stage.say("volume up")
    stage.volume.receipt = Receipt.ON_CLIPBOARD
    stage.commander.undo(stage.commander.feed.items[0].id)
    await asyncio.wait_for(stage.commander.finished(), 10)
    item = stage.commander.feed.items[0]
    assert (item.state, item.detail, item.can_undo) == (FeedState.DONE, "the text is on the clipboard", False)


async def test_after_stop_listening_only_start_listening_counts(stage: Stage) -> None:
    await stage.say("stop listening", "volume up", "start listening", "mute")
    assert stage.volume.done == ["volume.mute"]
    assert not stage.commander.asleep


async def test_the_mode_can_be_changed_by_voice(stage: Stage) -> None:
    await stage.say("dictation mode")
    assert stage.commander.mode is Mode.DICTATION
    await stage.say("command mode")
    assert stage.commander.mode is Mode.COMMANDS


async def test_dictation_that_cannot_be_typed_is_kept_in_the_transcript_with_the_reason_in_the_feed(
    stage: Stage,
) -> None:
    stage.commander.set_mode(Mode.DICTATION)
    await stage.say("Dear all, the meeting moves to Friday.")
    assert stage.outcomes == [(1, LineKind.PLAIN)]
    assert stage.states() == [FeedState.FAILED]


async def test_a_whole_command_is_complete_before_silence_says_so(stage: Stage) -> None:
    await stage.commander.look_around()
    assert stage.commander.is_complete("volume up")
    assert stage.commander.is_complete("Open Firefox.")


@pytest.mark.parametrize("heard", ["", "volume", "open fire", "type hello world", "search the web for tides", "nice"])
async def test_what_may_go_on_is_never_complete(stage: Stage, heard: str) -> None:
    await stage.commander.look_around()
    assert not stage.commander.is_complete(heard)


async def test_commands_are_expected_and_in_dictation_nothing(stage: Stage) -> None:
    assert {"Mute", "Close window"} <= set(stage.commander.expected)
    assert stage.commander.weighs
    stage.commander.set_mode(Mode.DICTATION)
    assert stage.commander.expected == ()
    assert not stage.commander.weighs


async def test_asleep_other_texts_matter_only_behind_the_wake_phrase(stage: Stage) -> None:
    stage.commander.sleep()
    assert not stage.commander.weighs
    stage.commander.use_phrase("hey sayso", asked=False)
    assert stage.commander.weighs
    stage.commander.use_phrase("", asked=False)
    stage.commander.wake()
    assert stage.commander.weighs


MISHEARD = Said(1, "Follow me at.", others=(OtherText("Volume up.", 0.5),))


async def test_what_else_was_perhaps_said_counts_among_commands(stage: Stage) -> None:
    stage.commander.submit(MISHEARD, stage._around())
    await asyncio.wait_for(stage.commander.finished(), 10)
    assert stage.volume.done == ["volume.change"]
    item = stage.commander.feed.items[0]
    assert (item.heard, item.state) == ("Follow me at.", FeedState.DONE)
    assert item.why is not None
    assert item.why.understood == "volume up"


async def test_of_two_commands_that_were_perhaps_said_one_is_asked_about(stage: Stage) -> None:
    others = (OtherText("Unmute.", 0.2),)
    stage.commander.submit(Said(1, "Mute.", others=others), stage._around())
    await asyncio.wait_for(stage.commander.finished(), 10)
    assert stage.states() == [FeedState.CONFIRM]
    assert "unmute" in stage.commander.feed.items[0].detail
    await stage.say("yes")
    assert stage.volume.done == ["volume.mute"]


async def test_in_dictation_and_asleep_only_what_was_heard_counts(stage: Stage) -> None:
    stage.commander.set_mode(Mode.DICTATION)
    stage.commander.submit(MISHEARD, stage._around())
    await asyncio.wait_for(stage.commander.finished(), 10)
    assert stage.volume.done == []
    stage.commander.set_mode(Mode.COMMANDS)
    stage.commander.sleep()
    stage.commander.submit(
        Said(2, "The art of leaning.", others=(OtherText("Start listening.", 0.1),)), stage._around()
    )
    await asyncio.wait_for(stage.commander.finished(), 10)
    assert stage.commander.asleep


async def test_behind_the_wake_phrase_other_texts_count_without_it(stage: Stage) -> None:
    stage.commander.use_phrase("hey sayso", asked=True)
    said = Said(1, "Hey, say so. Follow me at.", others=(OtherText("Hey sayso, volume up.", 0.5),))
    stage.commander.submit(said, stage._around())
    await asyncio.wait_for(stage.commander.finished(), 10)
    assert stage.volume.done == ["volume.change"]


async def test_a_timer_that_is_over_shows_in_the_feed(grammar: Grammar) -> None:
    changed = asyncio.Event()
    announced: list[str] = []
    backend, alarms = Refusing("none", NO_DISPLAY), Alarms()
    performer = Performer([Timers(alarms)], backend, Typist(backend, 1), UndoLog(), 1, announce=announced.append)
    commander = Commander(grammar, performer, changed.set, lambda turn, kind, meant: None, alarms=alarms)
    task = asyncio.create_task(commander.run())
    try:
        await Stage(commander, *(Recorder("none") for _ in range(3)), []).say("Set a timer for one second.")
        async with asyncio.timeout(10):
            while len(commander.feed.items) < 2:
                changed.clear()
                await changed.wait()
            await commander.finished()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    assert [(item.title, item.state) for item in commander.feed.items] == [
        ("Set a timer for 1 second", FeedState.DONE),
        ("The timer of 1 second is over", FeedState.DONE),
    ]
    assert announced == ["The timer of 1 second is over"]


async def test_a_fault_that_nobody_foresaw_ends_one_utterance_and_not_those_after_it(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    words = "a library lost its mind"

    async def broken() -> Surroundings:
        raise RuntimeError(words)

    stage.commander.submit(Said(1, "volume up"), asyncio.ensure_future(broken()))
    await stage.say("mute")
    assert stage.states() == [FeedState.FAILED, FeedState.DONE]
    assert stage.volume.done == ["volume.mute"]
    assert "RuntimeError" in caplog.text
    assert words not in caplog.text, "it may repeat what was said"


async def test_a_command_that_nothing_performs_is_not_reported_as_done(stage: Stage) -> None:
    await stage.say("set a timer for five minutes")
    assert stage.states() == [FeedState.FAILED]


async def test_an_action_tells_why_it_was_done_and_when_each_stage_was_reached(stage: Stage) -> None:
    moments = Moments(began_at=1.0, ended_at=2.0, text_at=3.0)
    stage.commander.submit(Said(1, "Please turn the volume up.", moments), stage._around())
    await asyncio.wait_for(stage.commander.finished(), 10)
    why = stage.commander.feed.items[0].why
    assert why is not None
    assert (why.intent, why.understood, why.score) == ("volume.change", "turn the volume up", 100.0)
    assert (why.ended_at, why.text_at) == (2.0, 3.0)
    assert 3.0 < why.decided_at <= why.done_at


async def test_what_is_said_while_asleep_is_marked_as_such_and_not_as_no_command(stage: Stage) -> None:
    await stage.say("stop listening", "volume up", "the weather is nice")
    assert stage.outcomes == [(1, LineKind.COMMAND), (2, LineKind.ASLEEP), (3, LineKind.ASLEEP)]


@pytest.mark.parametrize(
    ("answer", "done", "state", "kind"),
    [
        ("Yes.", ["power.suspend"], FeedState.DONE, LineKind.COMMAND),
        ("Go ahead!", ["power.suspend"], FeedState.DONE, LineKind.COMMAND),
        ("No, thanks.", [], FeedState.REFUSED, LineKind.COMMAND),
        ("I told her so.", [], FeedState.REFUSED, LineKind.PLAIN),
    ],
)
async def test_a_question_is_answered_by_voice(
    stage: Stage, answer: str, done: list[str], state: FeedState, kind: LineKind
) -> None:
    await stage.say("suspend the computer")
    assert stage.states() == [FeedState.CONFIRM]
    assert stage.commander.feed.items[0].detail == "Suspend the computer?"
    await stage.say(answer)
    assert stage.power.done == done
    assert stage.states() == [state]
    assert stage.outcomes[-1] == (1, kind)


@pytest.mark.parametrize(
    ("answer", "done", "state"),
    [
        ("Yes, shut down.", ["power.shut_down"], FeedState.DONE),
        ("Yes.", [], FeedState.REFUSED),
        ("Yes, restart.", [], FeedState.REFUSED),
    ],
)
async def test_where_work_could_be_lost_the_answer_has_to_name_what_is_done(
    stage: Stage, answer: str, done: list[str], state: FeedState
) -> None:
    await stage.say("shut down the computer")
    assert stage.commander.feed.items[0].yes == "yes, shut down"
    await stage.say(answer)
    assert stage.power.done == done
    assert stage.states() == [state]


async def test_what_only_sounds_like_a_command_is_asked_about_where_something_could_be_lost(stage: Stage) -> None:
    await stage.say("Blocked the scream.")
    assert stage.power.done == []
    assert stage.commander.feed.items[0].detail == "Lock the screen?"
    await stage.say("yes")
    assert stage.power.done == ["power.lock"]


async def test_a_question_is_answered_by_hand_and_only_once(stage: Stage) -> None:
    await stage.say("suspend the computer")
    stage.commander.confirm(1)
    stage.commander.confirm(1)
    stage.commander.refuse(1)
    await stage.say("yes")
    assert stage.power.done == ["power.suspend"]
    assert stage.states() == [FeedState.DONE]
    assert stage.outcomes[-1] == (1, LineKind.PLAIN)


async def test_a_question_that_is_refused_by_hand_does_nothing_and_a_later_yes_is_too_late(stage: Stage) -> None:
    await stage.say("suspend the computer")
    stage.commander.refuse(1)
    await stage.say("yes")
    assert stage.power.done == []
    assert stage.states() == [FeedState.REFUSED]


async def test_a_yes_long_after_the_question_does_nothing_by_voice(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.say("suspend the computer")
    asked = time.monotonic()
    monkeypatch.setattr("sayso.app.question.time.monotonic", lambda: asked + 3600)
    await stage.say("yes")
    assert stage.power.done == []
    assert stage.states() == [FeedState.REFUSED]


async def test_words_that_cannot_be_typed_again_show_why_in_the_feed(stage: Stage) -> None:
    stage.commander.insert("the words of before")
    await asyncio.wait_for(stage.commander.finished(), 10)
    item = stage.commander.feed.items[0]
    assert (item.title, item.state, item.heard) == ("Type the words again", FeedState.FAILED, "the words of before")
    assert item.detail


async def test_what_became_of_each_utterance_is_told_when_nothing_is_left_to_do(stage: Stage) -> None:
    await stage.say("volume up", "the weather is nice", "suspend the computer", "yes")
    assert [(told.text, told.kind, told.item.state if told.item else None) for told in stage.told] == [
        ("volume up", LineKind.COMMAND, FeedState.DONE),
        ("the weather is nice", LineKind.PLAIN, None),
        ("suspend the computer", LineKind.COMMAND, FeedState.CONFIRM),
        ("yes", LineKind.COMMAND, FeedState.DONE),
    ]


async def test_where_the_phrase_is_asked_for_nothing_is_done_without_it(stage: Stage) -> None:
    stage.commander.use_phrase("hey sayso", asked=True)
    assert stage.commander.expected[0] == "Hey sayso"
    await stage.say("volume up", "Hey, say so. Volume up.")
    assert stage.volume.done == ["volume.change"]
    assert stage.outcomes == [(1, LineKind.ASIDE), (2, LineKind.COMMAND)]


async def test_after_the_phrase_and_after_each_deed_more_can_be_said_without_it_for_some_seconds(stage: Stage) -> None:
    stage.commander.use_phrase("hey sayso", asked=True)
    assert not stage.commander.attentive
    await stage.say("Hey sayso.")
    assert stage.outcomes == [(1, LineKind.COMMAND)]
    assert stage.commander.attentive
    await stage.say("volume up", "mute")
    assert stage.volume.done == ["volume.change", "volume.mute"]
    stage.commander._attention.forget()
    await stage.say("unmute")
    assert stage.volume.done == ["volume.change", "volume.mute"]


async def test_ordinary_talk_does_not_keep_it_attentive(stage: Stage) -> None:
    stage.commander.use_phrase("hey sayso", asked=True)
    await stage.say("Hey sayso.")
    until = stage.commander._attention._until
    await stage.say("The weather is nice today.")
    assert stage.commander._attention._until == until


async def test_the_phrase_wakes_and_what_follows_it_is_done(stage: Stage) -> None:
    stage.commander.use_phrase("hey sayso", asked=False)
    assert stage.commander.expected_phrase == ""
    await stage.say("stop listening", "hey sayso volume up")
    assert stage.volume.done == ["volume.change"]
    assert not stage.commander.asleep
    stage.commander.sleep()
    assert stage.commander.expected[0] == "Hey sayso"


async def test_a_question_is_answered_without_the_phrase(stage: Stage) -> None:
    stage.commander.use_phrase("hey sayso", asked=True)
    await stage.say("hey sayso suspend the computer")
    stage.commander._attention.forget()
    await stage.say("somebody else is talking", "yes")
    assert stage.power.done == ["power.suspend"]


@pytest.mark.parametrize(
    ("heard", "complete"),
    [("volume up", False), ("hey say so volume up", True), ("hey sayso", False), ("Hey sayso, volume", False)],
)
async def test_with_a_phrase_only_what_follows_it_is_complete(stage: Stage, heard: str, complete: bool) -> None:
    stage.commander.use_phrase("hey sayso", asked=True)
    assert stage.commander.is_complete(heard) is complete


async def test_what_is_said_while_the_key_is_held_is_done_when_it_is_let_go(stage: Stage) -> None:
    stage.commander.hold_back(True)
    stage.commander.submit(Said(1, "volume up"), stage._around())
    await stage._around()
    for _ in range(20):
        await asyncio.sleep(0)
    assert stage.volume.done == []
    stage.commander.hold_back(False)
    await asyncio.wait_for(stage.commander.finished(), 10)
    assert stage.volume.done == ["volume.change"]


async def test_dictated_text_tells_why_it_was_typed_and_when(stage: Stage) -> None:
    stage.commander.set_mode(Mode.DICTATION)
    moments = Moments(began_at=1.0, ended_at=2.0, text_at=3.0)
    stage.commander.submit(Said(1, "The meeting moves to Friday.", moments), stage._around())
    await asyncio.wait_for(stage.commander.finished(), 10)
    why = stage.commander.feed.items[0].why
    assert why is not None
    assert (why.intent, why.ended_at, why.text_at) == (DICTATION, 2.0, 3.0)
    assert 3.0 < why.decided_at <= why.done_at
