"""Which of several texts for the same sound is done, asked about, or left: texts as a small recogniser really gave."""

import pytest

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, NoMatch, match
from sayso.app.commands.names import Names
from sayso.app.commands.other_text import OtherText
from sayso.app.commands.policy import Confirm, Run, decide
from sayso.app.commands.weighing import KEY_LEAD, LEAD, LIKELY, weigh
from sayso.app.snapshot import Mode


def texts(*pairs: tuple[float, str]) -> tuple[OtherText, ...]:
    return tuple(OtherText(text, behind) for behind, text in pairs)


@pytest.mark.parametrize(
    ("heard", "behind", "other", "intent"),
    [
        ("Pies.", 0.9, "Pause.", "media.pause"),
        ("Base gear.", 0.3, "Paste here.", "shortcuts.paste"),
        ("Go to the next time.", 0.6, "Go to the next tab.", "shortcuts.next_tab"),
        ("Scroll of a bit.", 0.4, "Scroll up a bit.", "scrolling.little"),
        ("Remind me to stretch it one hour.", 0.5, "Remind me to stretch in one hour.", "timers.remind"),
    ],
)
def test_a_text_that_is_no_command_gives_way_to_a_likely_one_that_is(
    grammar: Grammar, names: Names, heard: str, behind: float, other: str, intent: str
) -> None:
    found = weigh(grammar, heard, texts((behind, other)), names)
    assert isinstance(found, Match)
    assert (found.intent, found.rival) == (intent, "")


def test_the_likeliest_of_the_others_is_taken(grammar: Grammar, names: Names) -> None:
    found = weigh(grammar, "Base not.", texts((0.1, "Based now."), (0.2, "Paste that."), (1.9, "Copy that.")), names)
    assert isinstance(found, Match)
    assert found.intent == "shortcuts.paste"


@pytest.mark.parametrize("heard", ["Close window.", "Type hello world.", "Maximize.", "Go to example dot com."])
def test_a_command_stays_what_it_is_whatever_else_it_was_not(grammar: Grammar, names: Names, heard: str) -> None:
    others = texts((0.2, "Close widow."), (LEAD, "Mute."), (LEAD, "Unmute please."), (3.0, "Paste that."))
    assert weigh(grammar, heard, others, names) == match(grammar, heard, names)


def test_of_two_commands_about_as_likely_the_likelier_one_is_asked_about(grammar: Grammar, names: Names) -> None:
    found = weigh(grammar, "Maximize.", texts((0.2, "Unmaximize.")), names)
    assert isinstance(found, Match)
    assert (found.intent, found.rival) == ("placing.maximize", "unmaximize")
    decision = decide(found, Mode.COMMANDS, heard="Maximize.")
    assert isinstance(decision, Confirm)
    assert "unmaximize" in decision.question


def test_keys_are_told_apart_with_those_that_are_held(grammar: Grammar, names: Names) -> None:
    found = weigh(grammar, "Press control Z.", texts((1.2, "Press control C.")), names)
    assert isinstance(found, Match)
    assert (found.title, found.rival) == ("Press control+z", "press control c")
    sure = weigh(grammar, "Press control Z.", texts((KEY_LEAD, "Press control C.")), names)
    assert isinstance(sure, Match)
    assert sure.rival == ""


def test_other_spellings_of_the_same_command_are_no_rivals(grammar: Grammar, names: Names) -> None:
    others = texts((0.1, "Close the window"), (0.1, "Close this window."))
    assert weigh(grammar, "Close window.", others, names) == match(grammar, "Close window.", names)


def test_free_words_that_were_heard_otherwise_are_no_rivals(grammar: Grammar, names: Names) -> None:
    heard = "Type good morning everyone."
    assert weigh(grammar, heard, texts((0.3, "Type go to morning everyone.")), names) == match(grammar, heard, names)


def test_free_words_behind_an_ordinary_one_are_asked_about_where_it_was_perhaps_not_said(
    grammar: Grammar, names: Names
) -> None:
    found = weigh(grammar, "Write this up.", texts((0.3, "Write this app."), (1.0, "Right to the curb.")), names)
    assert isinstance(found, Match)
    assert (found.intent, found.rival) == ("typing.text", "right to the curb")
    assert isinstance(decide(found, Mode.COMMANDS, heard=""), Confirm)
    sure = weigh(grammar, "Write this up.", texts((0.3, "Write this app."), (3.5, "Right to the curb.")), names)
    assert isinstance(decide(sure, Mode.COMMANDS, heard=""), Run)


@pytest.mark.parametrize(
    ("heard", "behind", "other"),
    [
        ("Pies.", LIKELY + 0.1, "Pause."),
        ("Open the terminal building at six.", 0.5, "Open the terminal."),
        ("The open window let in cold air.", 0.5, "The open window. Let in cold air."),
        ("The meeting moves to Friday.", 0.1, "The meeting moved to Friday."),
    ],
    ids=["too unlikely", "only its beginning", "any words may be an address", "no command either"],
)
def test_ordinary_speech_stays_ordinary(grammar: Grammar, names: Names, heard: str, behind: float, other: str) -> None:
    found = weigh(grammar, heard, texts((behind, other)), names)
    assert found == match(grammar, heard, names)
    assert isinstance(found, NoMatch) or not found.named


def test_what_was_not_the_text_that_was_taken_loses_nothing_without_a_question(grammar: Grammar, names: Names) -> None:
    found = weigh(grammar, "Close this time.", texts((0.3, "Close this tab.")), names)
    assert isinstance(decide(found, Mode.COMMANDS, heard=""), Confirm)
    harmless = weigh(grammar, "New time.", texts((0.3, "New tab.")), names)
    assert isinstance(decide(harmless, Mode.COMMANDS, heard=""), Run)


def test_a_guess_by_sound_and_another_text_that_disagree_are_asked_about(grammar: Grammar, names: Names) -> None:
    guess = match(grammar, "A new temp please.", names)
    assert isinstance(guess, Match)
    assert guess.by_sound
    found = weigh(grammar, "A new temp please.", texts((0.1, "Mute the sound.")), names)
    assert isinstance(found, Match)
    assert found.rival
    assert isinstance(decide(found, Mode.COMMANDS, heard=""), Confirm)


def test_without_other_texts_it_is_what_the_text_means(grammar: Grammar, names: Names) -> None:
    for heard in ("Close window.", "Write hello world.", "Kill swindle.", "It rains.", ""):
        assert weigh(grammar, heard, (), names) == match(grammar, heard, names)


BY_SOUND = (
    ("Next time.", "Next tab.", 3.6, 1.2, "shortcuts.next_tab", ""),
    ("Console the timer.", "Cancel the timer.", 4.4, -1.1, "timers.cancel", "console the timer"),
    ("Write this up.", "Brightness up.", 4.9, 8.2, "brightness.change", "write this up"),
    ("Scroll up.", "Scroll up a bit.", 1.0, 11.0, "scrolling.little", "scroll up"),
    ("Maximize.", "Unmaximize.", 3.5, 18.0, "placing.maximize", "unmaximize"),
)


@pytest.mark.parametrize(("heard", "other", "behind", "by_language", "intent", "rival"), BY_SOUND)
def test_what_is_only_said_less_often_is_taken_or_asked_about(
    grammar: Grammar, names: Names, heard: str, other: str, behind: float, by_language: float, intent: str, rival: str
) -> None:
    found = weigh(grammar, heard, [OtherText(other, behind, by_language)], names)
    assert isinstance(found, Match)
    assert (found.intent, found.rival) == (intent, rival)
    unknown = weigh(grammar, heard, [OtherText(other, behind)], names)
    assert not isinstance(unknown, Match) or (unknown.intent, unknown.rival) != (intent, rival)


@pytest.mark.parametrize(
    ("heard", "other", "behind", "by_language"),
    [
        ("Tango lessons.", "Full screen.", 2.0, -18.0),
        ("So be it.", "Copy it.", 3.6, -7.0),
        ("Boat.", "Mute.", 5.5, 1.0),
    ],
)
def test_what_language_prefers_or_sounds_too_different_is_not(
    grammar: Grammar, names: Names, heard: str, other: str, behind: float, by_language: float
) -> None:
    assert isinstance(weigh(grammar, heard, [OtherText(other, behind, by_language)], names), NoMatch)


def test_a_certain_command_stays_where_another_one_is_only_said_less_often(grammar: Grammar, names: Names) -> None:
    found = weigh(grammar, "Next window.", [OtherText("Next workspace.", 3.0, 6.0)], names)
    assert isinstance(found, Match)
    assert (found.intent, found.rival) == ("windows.next", "")
