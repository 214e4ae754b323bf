"""What counts as an answer to a question, and how much of one what is asked about needs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, match
from sayso.app.commands.policy import Answer
from sayso.app.question import ANSWER_WITHIN_S, Question, Surroundings


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.load()


def asked(grammar: Grammar, sentence: str) -> Question:
    command = match(grammar, sentence)
    assert isinstance(command, Match)
    return Question(1, command, Surroundings())


@pytest.mark.parametrize(
    ("heard", "answer"),
    [("Yes.", Answer.YES), ("Go ahead!", Answer.YES), ("No.", Answer.NO), ("volume up", Answer.NONE)],
)
def test_a_yes_is_enough_for_most(grammar: Grammar, heard: str, answer: Answer) -> None:
    question = asked(grammar, "suspend the computer")
    assert question.yes == "yes"
    assert question.answer(heard) is answer


@pytest.mark.parametrize(
    ("heard", "answer"),
    [
        ("Yes, shut down.", Answer.YES),
        ("Yes, shutdown the computer.", Answer.YES),
        ("Yes.", Answer.NONE),
        ("Go ahead.", Answer.NONE),
        ("Shut down.", Answer.NONE),
        ("Yes, restart.", Answer.NONE),
        ("Yes, shut down tomorrow.", Answer.NONE),
        ("No.", Answer.NO),
        ("Never mind.", Answer.NO),
    ],
)
def test_where_work_is_lost_a_yes_has_to_say_for_what(grammar: Grammar, heard: str, answer: Answer) -> None:
    question = asked(grammar, "shut down the computer")
    assert question.yes == "yes, shut down"
    assert question.answer(heard) is answer


@pytest.mark.parametrize(("sentence", "heard"), [("suspend the computer", "yes"), ("log out", "yes, log out")])
def test_a_late_yes_is_meant_for_somebody_else_and_a_late_no_is_a_no(
    grammar: Grammar, sentence: str, heard: str
) -> None:
    question = asked(grammar, sentence)
    late = replace(question, asked_at=question.asked_at - ANSWER_WITHIN_S - 1)
    assert (question.answer(heard), late.answer(heard)) == (Answer.YES, Answer.NONE)
    assert late.answer("no") is Answer.NO
