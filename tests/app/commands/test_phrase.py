"""The wake phrase as the recogniser really spells it, and ordinary speech that is like it."""

from __future__ import annotations

import pytest

from sayso.app.commands.phrase import after_phrase

# Whisper tiny.en on five voices, with the phrase expected and without.
SPELLED = (
    ("Hey sayso volume up.", "volume up."),
    ("Hey say so. Volume up.", "Volume up."),
    ("Hey, say so volume up.", "volume up."),
    ("Hey Sayso. Open firefox.", "Open firefox."),
    ("Hey, say so, open Firefox.", "open Firefox."),
    ("Hey sayso.", ""),
    ("Hey, say so.", ""),
)
ORDINARY = (
    "",
    "Hey.",
    "They say so.",
    "He says so himself.",
    "Hey, say something.",
    "Hey, so what did you say?",
    "Hey say, open the window.",
    "Let's say so then.",
    "Hey Sarah. Open the window.",
    "Okay, so let's go.",
    "I told her to close the window.",
    "He said hey sayso and left.",
)


@pytest.mark.parametrize(("heard", "rest"), SPELLED)
def test_what_follows_the_phrase_is_found_however_it_is_spelled(heard: str, rest: str) -> None:
    assert after_phrase(heard, "hey sayso") == rest


@pytest.mark.parametrize("heard", ORDINARY)
def test_ordinary_speech_does_not_begin_with_it(heard: str) -> None:
    assert after_phrase(heard, "hey sayso") is None


@pytest.mark.parametrize(
    ("phrase", "heard", "rest"),
    [
        ("computer", "Computer. Close window.", "Close window."),
        ("computer", "Computer volume up.", "volume up."),
        ("Okay, Sayso!", "Okay say so. Open firefox.", "Open firefox."),
        ("okay sayso", "Okay sayso. Volume up.", "Volume up."),
    ],
)
def test_any_phrase_can_be_chosen(phrase: str, heard: str, rest: str) -> None:
    assert after_phrase(heard, phrase) == rest


@pytest.mark.parametrize("heard", ["The computer is broken.", "Can you get volume up?", "Commuters wait."])
def test_a_single_word_must_come_first_and_whole(heard: str) -> None:
    assert after_phrase(heard, "computer") is None


def test_an_empty_phrase_is_never_said() -> None:
    assert after_phrase("volume up", " ") is None
