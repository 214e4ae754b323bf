"""Everything the grammar says can be said means one thing, and a broken file is refused with a reason."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hassil.intents import TextSlotList
from hassil.sample import sample_expression, sample_sentence

from sayso.app.commands.errors import GrammarError
from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, match
from sayso.app.commands.names import Names
from sayso.app.commands.own import OwnCommand, OwnKind

_SAID = {
    "application": ["firefox", "text editor"],
    "address": ["example dot com", "example.org"],
    "query": ["red shoes"],
    "text": ["Dear Sir or Madam"],
    "duration": ["5 minutes", "half an hour"],
    "reminder": ["put the cake in the oven"],
    "calculation": ["12 times 7"],
    "level": ["30"],
    "count": ["3"],
    "key": ["enter", "t"],
    "modifier": ["control", "shift"],
    "modifier_heard": ["control", "shift"],
    "key_heard": ["s cape"],
}
MOST_EXPECTED = 4096
"""More are not looked for by our engine."""
_MOST = 120
"""Sentences tried of one template; of larger ones a fixed choice is taken."""


def sentences(grammar: Grammar) -> Iterator[tuple[str, str]]:
    """Sentences of every template of every command, with one or two values in its slots."""
    lists = dict(grammar.intents.slot_lists)
    lists |= {name: TextSlotList.from_strings(values) for name, values in _SAID.items()}
    choose = random.Random(7)
    for name, intent in grammar.intents.intents.items():
        for template in (sentence for data in intent.data for sentence in data.sentences):
            said = list(sample_sentence(template, lists, grammar.intents.expansion_rules))
            for text in said if len(said) <= _MOST else choose.sample(said, _MOST):
                yield name, " ".join(text.split())


def test_every_sentence_of_the_grammar_means_its_own_command(grammar: Grammar, names: Names) -> None:
    counted = 0
    wrong = []
    for intent, sentence in sentences(grammar):
        counted += 1
        found = match(grammar, sentence, names)
        if not isinstance(found, Match) or found.intent != intent or found.score != 100.0:
            wrong.append((intent, sentence, found))

    assert not wrong, f"{len(wrong)} of {counted}: {wrong[:5]}"
    assert counted > 1500


def test_every_key_can_be_said_in_each_of_its_ways(grammar: Grammar) -> None:
    keys = grammar.intents.slot_lists["key"]
    assert isinstance(keys, TextSlotList)
    wrong = []
    for value in keys.values:
        for way in sample_expression(value.text_in):
            found = match(grammar, f"press control {way}")
            if not isinstance(found, Match) or found.slots != {"modifier": "control", "key": value.value_out}:
                wrong.append((way, value.value_out, found))

    assert not wrong, wrong[:5]
    assert len(keys.values) > 75


def test_every_command_tells_help_a_risk_and_a_way_to_say_it_that_works(grammar: Grammar, names: Names) -> None:
    assert len(grammar.commands) >= 70
    for command in grammar.commands.values():
        assert command.help
        assert command.undo
        assert command.risk in (0, 1, 2, 3)
        found = match(grammar, command.say, names)
        assert isinstance(found, Match)
        assert found.intent == command.intent
        assert "…" not in found.title


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("language: en\nintents: [", "while parsing"),
        ("just a text", "TypeError"),
        ("intents: {}", "language"),
        ("language: en\nintents:\n  open:\n    data: []", "family.verb"),
        ("language: en\nintents:\n  a.b:\n    help: x\n    data: []", "lacks say, title, risk, undo"),
        (
            "language: en\nintents:\n  a.b: {help: x, say: x, title: x, undo: x, risk: 7, data: []}",
            "not 0 to 3",
        ),
        (
            "language: en\nintents:\n  a.b: {help: x, say: x, title: x, undo: x, risk: 0, "
            'data: [{sentences: ["open [it"]}]}',
            "",
        ),
        (
            "language: en\nintents:\n  a.b: {help: x, say: x, title: x, undo: x, risk: 0, "
            'data: [{sentences: ["open <nothing>"]}]}',
            "nothing",
        ),
    ],
)
def test_a_broken_grammar_is_refused_with_the_reason(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "en.yaml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(GrammarError) as refused:
        Grammar.read(file)

    assert refused.value.code == "grammar_broken"
    assert why in str(refused.value)
    assert "en.yaml" in str(refused.value)


def test_what_a_recogniser_is_told_to_look_for_is_all_commands_once_as_it_writes_them() -> None:
    grammar = Grammar.load(own=[OwnCommand("make tea", OwnKind.TEXT, "tea")], off=["volume.mute"])
    expected = grammar.expected
    assert len(set(expected)) == len(expected) < MOST_EXPECTED
    assert {"Make tea.", "Unmaximize.", "What time is it?", "Press control S.", "Go to workspace 4."} <= {*expected}
    assert "Mute." not in expected
    assert all(isinstance(match(grammar, said, guess=False), Match) for said in expected[::7])


def test_a_language_without_a_grammar_is_refused() -> None:
    with pytest.raises(GrammarError) as refused:
        Grammar.load("xx")

    assert refused.value.code == "grammar_missing"


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "en.yaml"
    file.write_bytes(b"\xff\xfe\xfa")

    with pytest.raises(GrammarError):
        Grammar.read(file)
