from pathlib import Path

import pytest

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, NoMatch, match
from sayso.app.commands.own import OwnCommand, OwnKind, command_line, title, value_problem
from sayso.app.commands.policy import Run, Type, decide
from sayso.app.snapshot import Mode

OWN = (
    OwnCommand("Good morning, everybody!", OwnKind.TEXT, "Good morning {all}"),
    OwnCommand("please start the build", OwnKind.PROGRAM, "make -j 2"),
    OwnCommand("workspace twenty five lights", OwnKind.KEYS, "Ctrl+K"),
    OwnCommand("...", OwnKind.KEYS, "Ctrl+K"),
)


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.load(own=OWN, off=["volume.change", "listening.start", "no.such"])


@pytest.mark.parametrize(
    ("heard", "intent", "score"),
    [
        ("Good morning, everybody.", "own.1", 100),
        ("good morning everybody please", "own.1", 100),
        ("good mourning everybody", "own.1", 90),
        ("Start the build!", "own.2", 100),
        ("started the build", "own.2", 90),
        ("Workspace 25 lights", "own.3", 100),
    ],
)
def test_an_own_command_is_understood_like_any_other(grammar: Grammar, heard: str, intent: str, score: int) -> None:
    found = match(grammar, heard)
    assert isinstance(found, Match)
    assert found.intent == intent
    assert found.score >= score
    assert found.command.own == OWN[int(intent[-1]) - 1]


def test_its_title_keeps_braces_and_never_tells_the_text(grammar: Grammar) -> None:
    found = match(grammar, "good morning everybody")
    assert isinstance(found, Match)
    assert found.title == "Type the text of “Good morning, everybody!”"
    braces = Grammar.load(own=[OwnCommand("curly things here", OwnKind.PROGRAM, "echo {x}")])
    named = match(braces, "curly things here")
    assert isinstance(named, Match)
    assert named.title == "Run echo {x}"


def test_own_commands_come_first_and_one_without_words_is_left_out(grammar: Grammar) -> None:
    assert list(grammar.commands)[:3] == ["own.1", "own.2", "own.3"]
    assert "own.4" not in grammar.commands


def test_what_is_off_is_not_understood_but_known_and_what_wakes_stays_on(grammar: Grammar) -> None:
    assert isinstance(match(grammar, "volume up"), NoMatch)
    assert "volume.change" in {command.intent for command in grammar.known}
    woken = match(grammar, "start listening")
    assert isinstance(woken, Match)
    assert isinstance(decide(woken, Mode.COMMANDS, heard="start listening", asleep=True), Run)


def test_a_program_runs_without_a_question_but_a_guess_is_text_in_dictation(grammar: Grammar) -> None:
    exact, guess = match(grammar, "start the build"), match(grammar, "started the build")
    assert isinstance(decide(exact, Mode.COMMANDS, heard="start the build"), Run)
    assert isinstance(decide(guess, Mode.DICTATION, heard="started the build"), Type)


def test_without_one_its_words_mean_nothing_and_the_others_are_as_before(grammar: Grammar) -> None:
    less = grammar.without("own.2")
    assert isinstance(match(less, "start the build"), NoMatch) or match(less, "start the build").intent != "own.2"  # type: ignore[union-attr]
    assert isinstance(match(less, "good morning everybody"), Match)
    assert grammar.without("own.9") is grammar


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    program = tmp_path / "greet"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return {"PATH": str(tmp_path)}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (OwnKind.KEYS, "Ctrl+Shift+T"),
        (OwnKind.TEXT, "anything"),
        (OwnKind.ADDRESS, "https://example.org/a?b=c"),
        (OwnKind.ADDRESS, "http://localhost:8000"),
        (OwnKind.PROGRAM, "greet 'the whole world'"),
    ],
)
def test_what_can_be_done_has_no_problem(programs: dict[str, str], kind: OwnKind, value: str) -> None:
    assert value_problem(OwnCommand("x", kind, value), programs) == ""


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        (OwnKind.KEYS, "", "Write the keys"),
        (OwnKind.TEXT, "  ", "Write the text"),
        (OwnKind.ADDRESS, "", "Write the address"),
        (OwnKind.PROGRAM, "", "Write the program"),
        (OwnKind.KEYS, "Ctrl+Nothing", "no keys"),
        (OwnKind.ADDRESS, "example.org", "whole web addresses"),
        (OwnKind.ADDRESS, "file:///etc/passwd", "whole web addresses"),
        (OwnKind.ADDRESS, "javascript:alert(1)", "whole web addresses"),
        (OwnKind.ADDRESS, "https://[broken", "whole web addresses"),
        (OwnKind.ADDRESS, "https://exam ple.org", "whole web addresses"),
        (OwnKind.PROGRAM, "greet 'world", "quotes do not match"),
        (OwnKind.PROGRAM, "missing-program", "No program “missing-program”"),
    ],
)
def test_what_cannot_be_done_is_told(programs: dict[str, str], kind: OwnKind, value: str, problem: str) -> None:
    assert problem in value_problem(OwnCommand("x", kind, value), programs)


def test_the_home_folder_is_filled_in_and_long_values_are_cut_in_titles() -> None:
    assert command_line("greet ~/notes 'a b' ~else") == ["greet", str(Path.home() / "notes"), "a b", "~else"]
    assert len(title(OwnCommand("x", OwnKind.ADDRESS, "https://example.org/" + "a" * 500))) < 80
