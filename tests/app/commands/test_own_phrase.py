import pytest

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.names import Named, Names
from sayso.app.commands.own import OwnCommand, OwnKind
from sayso.app.commands.own_phrase import phrase_problem

NAMES = Names([Named("firefox", "Firefox", ("Firefox",))])


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.load(own=[OwnCommand("lights in the garden", OwnKind.KEYS, "F5")], off=["volume.change"])


@pytest.mark.parametrize(
    "phrase", ["good morning everybody", "open sesame", "Start my day", "volume up", "build it all"]
)
def test_a_phrase_that_nothing_else_has_is_free(grammar: Grammar, phrase: str) -> None:
    assert phrase_problem(phrase, grammar, NAMES) == ""


@pytest.mark.parametrize(
    ("phrase", "problem"),
    [
        ("", "Write the words"),
        ("?!", "Write the words"),
        ("um", "Write the words"),
        ("yes", "answer"),
        ("Never mind", "answer"),
        ("go", "too short"),
        ("one two three four five six seven " * 3, "too long"),
        ("new tab", "does something already: Open a new tab"),
        ("Please open Firefox", "does something already"),
        ("type hello", "does something already"),
        ("search the web for cats", "does something already"),
        ("close the windows", "too like “close window”"),
        ("knew tab", "too like “new tab”"),
        ("lights in the garden", "does something already"),
        ("light in the garden", "too like “lights in the garden”"),
    ],
)
def test_a_phrase_that_would_be_mistaken_is_told_with_what_for(grammar: Grammar, phrase: str, problem: str) -> None:
    assert problem in phrase_problem(phrase, grammar, NAMES)


def test_a_command_is_no_rival_of_the_one_that_takes_its_place(grammar: Grammar) -> None:
    assert phrase_problem("lights of the garden", grammar, NAMES) != ""
    assert phrase_problem("lights of the garden", grammar, NAMES, replacing="own.1") == ""


def test_every_way_to_say_a_command_is_taken(grammar: Grammar) -> None:
    says = [command.say for command in grammar.known if command.intent in grammar.commands]
    assert len(says) > 60
    assert [say for say in says if not phrase_problem(say, grammar, NAMES)] == []
