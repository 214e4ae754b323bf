from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest
import scenes

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, match
from sayso.app.snapshot import (
    DesktopState,
    FeedItem,
    FeedState,
    LineKind,
    MicrophoneState,
    MicrophoneView,
    Mode,
    ServerKind,
    ServerState,
    ServerView,
    Snapshot,
)
from sayso.ui import wording

LOADING = ServerView(ServerKind.EMBEDDED, ServerState.LOADING)
OPENING = MicrophoneView(MicrophoneState.OPENING)


@pytest.mark.parametrize(
    ("make", "headline"),
    [
        (scenes.empty, "Ready"),
        (scenes.listening, "Hearing you"),
        (scenes.idle, "Not listening"),
        (scenes.no_microphone, "No microphone"),
        (scenes.microphone_taken, "Microphone blocked"),
        (scenes.no_signal, "No signal"),
        (scenes.reconnecting, "Reconnecting"),
        (scenes.troubles, "Server refused"),
        (lambda: scenes.snapshot(microphone=OPENING, server=LOADING), "Opening microphone"),
        (lambda: scenes.snapshot(server=LOADING), "Starting the engine"),
        (lambda: scenes.snapshot(asleep=True), "Asleep"),
        (lambda: scenes.snapshot(state=DesktopState.STARTING), "Starting"),
        (lambda: scenes.snapshot(state=DesktopState.QUITTING), "Closing"),
    ],
)
def test_the_state_is_said_in_words(make: Callable[[], Snapshot], headline: str) -> None:
    assert wording.describe(make()).headline == headline


def test_every_combination_of_states_has_words() -> None:
    for state, microphone, server, kind in product(DesktopState, MicrophoneState, ServerState, ServerKind):
        view = scenes.snapshot(
            state=state, microphone=MicrophoneView(microphone), server=ServerView(kind, server, url="ws://host:1/x")
        )
        said = wording.describe(view)
        assert said.headline
        assert said.headline[0].isupper()
        assert wording.server_status(view.server)


def test_speaking_while_the_engine_loads_is_told_to_be_safe() -> None:
    said = wording.describe(scenes.starting())
    assert said.headline == "Hearing you"
    assert "words follow" in said.detail


def test_an_engine_at_rest_is_not_called_ready_and_starts_with_the_first_word() -> None:
    resting = ServerView(ServerKind.EMBEDDED, ServerState.RESTING, detail="The engine has ended; it starts again.")
    said = wording.describe(scenes.snapshot(server=resting))
    assert (said.headline, said.detail) == ("Resting", resting.detail)
    heard = wording.describe(scenes.snapshot(server=resting, microphone=scenes.HEARING))
    assert heard.headline == "Hearing you"
    assert heard.detail.startswith("Starting the engine …")


def test_being_behind_is_shown_above_one_second_only() -> None:
    assert "2.4 s behind" in wording.describe(scenes.long_text()).detail
    assert "behind" not in wording.describe(scenes.snapshot(behind_ms=900)).detail


def test_the_reason_of_the_application_goes_before_the_general_advice() -> None:
    assert "listening then goes on" in wording.describe(scenes.no_microphone()).detail


def test_the_server_in_use_is_named_by_its_host() -> None:
    assert wording.server_status(scenes.REMOTE) == "Connected to 192.168.1.20:8000, model tiny.en"
    assert wording.server_status(scenes.EMBEDDED) == "On this computer, model tiny.en"


def test_a_server_that_refuses_is_told_with_what_is_wrong_and_what_to_do() -> None:
    refused = scenes.troubles()
    assert wording.describe(refused).detail == refused.server.detail
    unexplained = replace(refused, server=replace(refused.server, detail=""))
    assert "address and key" in wording.describe(unexplained).detail


def test_a_problem_is_shown_only_while_there_is_one() -> None:
    refused = scenes.troubles().server
    assert wording.server_problem(refused) == refused.detail
    assert wording.server_problem(replace(refused, state=ServerState.READY)) == ""


def test_an_outcome_with_lost_speech_says_both() -> None:
    assert wording.outcome(scenes.line(1, "x", kind=LineKind.COMMAND, lost_ms=1200)) == "command, 1.2 s of speech lost"


def test_long_losses_are_told_in_minutes() -> None:
    assert wording.outcome(scenes.line(1, "", kind=LineKind.LOST, lost_ms=83_000)) == "1 min 23 s of speech lost"


def test_sound_that_nobody_may_have_spoken_in_is_not_called_speech() -> None:
    assert wording.outcome(scenes.line(1, "", kind=LineKind.MISSED, lost_ms=2600)) == "2.6 s not heard"


def test_every_feed_state_has_a_word_and_a_sentence() -> None:
    assert set(wording.FEED_WORDS) == set(FeedState)
    assert wording.feed_sentence(scenes.FEED[2]) == (
        "Set the volume to 30 %: done. It was 65 %. heard “set the volume to thirty percent”."
    )


@pytest.mark.parametrize(
    ("yes", "waiting", "hint"),
    [("yes", "your yes", "“yes” or “no”"), ("yes, log out", "your “yes, log out”", "log out” or")],
)
def test_a_question_tells_how_it_is_answered(yes: str, waiting: str, hint: str) -> None:
    item = FeedItem(9, "log out", "Log out", FeedState.CONFIRM, "Log out?", yes=yes)
    assert wording.feed_words(item) == f"Waiting for {waiting}"
    assert hint in wording.feed_sentence(item)
    assert "Log out? Say" in wording.feed_sentence(item)


def test_each_mode_has_three_examples() -> None:
    assert all(len(wording.examples(mode)) == 3 for mode in Mode)


def test_the_examples_are_commands_that_the_grammar_knows() -> None:
    grammar = Grammar.load()
    dictated = wording.examples(Mode.DICTATION)[0]
    for example in (*wording.examples(Mode.COMMANDS), *wording.examples(Mode.DICTATION)):
        known = isinstance(match(grammar, example), Match)
        assert known is (example != dictated), example


def test_what_is_no_command_tells_which_may_have_been_meant() -> None:
    line = replace(scenes.line(1, "volume app", kind=LineKind.PLAIN), meant="volume up")
    assert wording.outcome(line) == "no command; did you mean “volume up”?"
