"""What becomes of an utterance, by mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, NoMatch, match
from sayso.app.commands.names import Names
from sayso.app.commands.policy import Confirm, Decision, Ignore, Run, Type, decide
from sayso.app.snapshot import Mode

Decide = Callable[..., Decision]


@pytest.fixture
def decision(grammar: Grammar, names: Names) -> Decide:
    def of(heard: str, mode: Mode, **state: bool) -> Decision:
        return decide(match(grammar, heard, names), mode, heard=heard, **state)

    return of


def test_a_command_runs_in_both_modes(decision: Decide) -> None:
    for mode in Mode:
        chosen = decision("Open Firefox.", mode)
        assert isinstance(chosen, Run)
        assert chosen.match.title == "Open firefox"


def test_other_speech_is_typed_as_it_was_heard_in_dictation_only(decision: Decide) -> None:
    heard = " It was a dark night, please. "

    assert decision(heard, Mode.DICTATION) == Type("It was a dark night, please.")
    assert isinstance(decision(heard, Mode.COMMANDS), Ignore)


def test_among_commands_what_nearly_matched_is_offered(decision: Decide) -> None:
    chosen = decision("mute window", Mode.COMMANDS)

    assert isinstance(chosen, Ignore)
    assert chosen.suggestions
    assert f"Did you mean “{chosen.suggestions[0]}”?" in chosen.reason


def test_an_unknown_application_is_asked_for_among_commands_and_text_in_dictation(decision: Decide) -> None:
    assert isinstance(decision("open the door", Mode.COMMANDS), Run)
    assert decision("open the door", Mode.DICTATION) == Type("open the door")


@pytest.mark.parametrize("heard", ["Enter.", "Mute.", "Escape.", "Undo.", "Louder."])
def test_one_word_alone_is_a_command_only_where_it_cannot_be_text(decision: Decide, heard: str) -> None:
    assert isinstance(decision(heard, Mode.COMMANDS), Run)
    assert decision(heard, Mode.DICTATION) == Type(heard)


def test_one_word_between_pauses_is_a_command_in_dictation_too(decision: Decide) -> None:
    assert isinstance(decision("Mute.", Mode.DICTATION, isolated=True), Run)


def test_the_escape_word_types_what_would_be_a_command(decision: Decide) -> None:
    for word in ("type", "literal"):
        chosen = decision(f"{word} close window", Mode.DICTATION)
        assert isinstance(chosen, Run)
        assert (chosen.match.intent, chosen.match.slots) == ("typing.text", {"text": "close window"})


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("heard", ["open firefox", "it was a dark night", "stop listening", "mute"])
def test_asleep_nothing_is_done_or_typed(decision: Decide, mode: Mode, heard: str) -> None:
    assert isinstance(decision(heard, mode, asleep=True), Ignore)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("heard", ["Start listening.", "Wake up."])
def test_asleep_only_the_words_to_wake_count(decision: Decide, mode: Mode, heard: str) -> None:
    chosen = decision(heard, mode, asleep=True)

    assert isinstance(chosen, Run)
    assert chosen.match.intent == "listening.start"


def test_a_risky_command_is_confirmed_first(grammar: Grammar, names: Names) -> None:
    found = match(grammar, "close window", names)
    assert isinstance(found, Match)
    for risk, kind in ((0, Run), (1, Run), (2, Confirm), (3, Confirm)):
        risky = replace(found, command=replace(found.command, risk=risk))
        assert isinstance(decide(risky, Mode.COMMANDS, heard="close window"), kind)


def test_a_guess_that_cannot_be_undone_is_text_in_dictation(decision: Decide) -> None:
    assert isinstance(decision("closed window", Mode.COMMANDS), Run)
    assert decision("closed window", Mode.DICTATION) == Type("closed window")


@pytest.mark.parametrize("mode", list(Mode))
def test_silence_is_left_alone(mode: Mode) -> None:
    assert decide(NoMatch(""), mode, heard="  ") == Ignore("")


def test_a_guess_by_sound_runs_only_where_nothing_is_lost_by_it(decision: Decide) -> None:
    harmless, closing = decision("Copy mosel action.", Mode.COMMANDS), decision("Kill swindle.", Mode.COMMANDS)

    assert isinstance(harmless, Run)
    assert isinstance(closing, Confirm)
    assert closing.question == "Close the window in front?"


def test_nothing_that_only_sounds_like_it_wakes(grammar: Grammar, names: Names) -> None:
    found = match(grammar, "start listening", names)
    assert isinstance(found, Match)

    guessed = replace(found, by_sound=True)

    assert isinstance(decide(guessed, Mode.COMMANDS, heard="stack listening", asleep=True), Ignore)
