"""Commands are found in what recognisers write, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, NoMatch, match
from sayso.app.commands.names import Names
from sayso.app.commands.policy import Run, Type, decide
from sayso.app.snapshot import Mode

_GRAMMAR = Grammar.load()
ORDINARY = Path(__file__).parents[2] / "data" / "commands" / "ordinary.txt"


@pytest.mark.parametrize(
    ("heard", "intent", "slots"),
    [
        ("Open Firefox.", "applications.open", {"application": "firefox"}),
        ("Could you please open the Fire Fox for me?", "applications.open", {"application": "fire fox"}),
        ("Um, launch the text editor app.", "applications.open", {"application": "text editor"}),
        ("Hey computer, start uh Firefox!", "applications.open", {"application": "firefox"}),
        ("Press Ctrl+Shift+T.", "keys.press", {"modifier": "control+shift", "key": "t"}),
        ("press control plus alt plus delete", "keys.press", {"modifier": "control+alt", "key": "Delete"}),
        ("Press control C.", "keys.press", {"modifier": "control", "key": "c"}),
        ("Press control see.", "keys.press", {"modifier": "control", "key": "c"}),
        ("Press controls.", "keys.press", {"modifier": "control", "key": "s"}),
        ("Press alt F4", "keys.press", {"modifier": "alt", "key": "F4"}),
        ("Press tab three times.", "keys.press", {"key": "Tab", "count": "3"}),
        ("press the down arrow twice", "keys.press", {"key": "Down", "count": "2"}),
        ("press backspace twenty five times", "keys.press", {"key": "BackSpace", "count": "25"}),
        ("press control O", "keys.press", {"modifier": "control", "key": "o"}),
        ("Set the volume to thirty-five percent.", "volume.set", {"level": "35"}),
        ("Volume 50%.", "volume.set", {"level": "50"}),
        ("set volume too twenty", "volume.set", {"level": "20"}),
        ("Volume two thirty.", "volume.set", {"level": "30"}),
        ("Turn the volume up by a hundred percent", "volume.change", {"direction": "up", "level": "100"}),
        ("Un-mute.", "volume.unmute", {}),
        ("Go to example dot com slash docs", "web.open", {"address": "https://example.com/docs"}),
        ("Open Example.com.", "web.open", {"address": "https://example.com"}),
        ("Search the web for the best Pizza in town?", "web.search", {"query": "the best Pizza in town"}),
        ("Google twenty five to life", "web.search", {"query": "twenty five to life"}),
        ("Type hello world.", "typing.text", {"text": "hello world"}),
        ("Type: Hello, World! How are you?", "typing.text", {"text": "Hello, World! How are you?"}),
        ("type please come, um, at twenty five past", "typing.text", {"text": "please come, um, at twenty five past"}),
        ("Please type thank you.", "typing.text", {"text": "thank you"}),
        ("type First. Second.", "typing.text", {"text": "First. Second."}),
        ("type wait...", "typing.text", {"text": "wait..."}),
        ("literal close window", "typing.text", {"text": "close window"}),
        ("Close this window.", "windows.close", {}),
        ("Close Firefox", "windows.close_application", {"application": "firefox"}),
        ("Switch to command mode.", "mode.commands", {}),
        ("Switch to Firefox.", "windows.switch", {"application": "firefox"}),
        ("Next window", "windows.next", {}),
        ("Stop listening.", "listening.stop", {}),
        ("Scratch that.", "edit.scratch", {}),
        ("Undo that", "edit.undo", {}),
        ("Press undo.", "shortcuts.undo", {}),
        ("Maximize the window, please.", "placing.maximize", {}),
        ("Snap the window to the left half.", "placing.snap", {"side": "left"}),
        ("Go to the next desktop.", "workspaces.step", {"step": "next"}),
        ("Scroll down twice.", "scrolling.scroll", {"direction": "down", "count": "2"}),
        ("Delete the last five words.", "shortcuts.delete_words", {"count": "5"}),
        ("Find on this page: opening hours.", "shortcuts.find", {"query": "opening hours"}),
        ("Close tab", "shortcuts.close_tab", {}),
        ("Stop the music.", "media.pause", {}),
        ("Set brightness to forty percent.", "brightness.set", {"level": "40"}),
        ("Lock the computer.", "power.lock", {}),
        ("Set a timer for an hour and a half.", "timers.set", {"duration": "1 hour 30 minutes"}),
        (
            "Remind me to put it in the oven in ten minutes.",
            "timers.remind",
            {"reminder": "put it in the oven", "duration": "10 minutes"},
        ),
        ("What is 12 + 7?", "calculator.calculate", {"calculation": "12 plus 7"}),
        ("Open my downloads.", "folders.open", {"folder": "downloads"}),
    ],
)
def test_a_command_is_found_in_what_was_heard(
    grammar: Grammar, names: Names, heard: str, intent: str, slots: dict[str, str]
) -> None:
    found = match(grammar, heard, names)

    assert isinstance(found, Match)
    assert (found.intent, found.slots, found.score) == (intent, slots, 100.0)


@pytest.mark.parametrize(
    ("heard", "intent"),
    [
        ("Pressed control S.", "keys.press"),
        ("Scratched that.", "edit.scratch"),
        ("Scratch hat.", "edit.scratch"),
        ("Opened Firefox.", "applications.open"),
        ("Opens fire fox", "applications.open"),
        ("Volumes up.", "volume.change"),
        ("Closed window.", "windows.close"),
        ("Next windows.", "windows.next"),
        ("Switched to Firefox.", "windows.switch"),
        ("Stopped listening.", "listening.stop"),
        ("Start listing.", "listening.start"),
        ("Comment mode.", "mode.commands"),
        ("Dictations mode.", "mode.dictation"),
        ("Undue that.", "edit.undo"),
        ("Set the volumes to 30%.", "volume.set"),
        ("Scroll town.", "scrolling.scroll"),
        ("Press on do twice.", "shortcuts.undo"),
        ("Timor for 30 seconds.", "timers.set"),
        ("Precious control T.", None),
    ],
)
def test_a_small_recognition_error_is_seen_through(
    grammar: Grammar, names: Names, heard: str, intent: str | None
) -> None:
    found = match(grammar, heard, names)

    assert (found.intent if isinstance(found, Match) else None) == intent


@pytest.mark.parametrize(
    ("heard", "intent", "slots"),
    [
        ("Press center.", "keys.press", {"key": "Return"}),
        ("Press top 3 times", "keys.press", {"key": "Tab", "count": "3"}),
        ("Press SK.", "keys.press", {"key": "Escape"}),
        ("Press S-Cape.", "keys.press", {"key": "Escape"}),
        ("Press out F4", "keys.press", {"modifier": "alt", "key": "F4"}),
        ("Press all def for.", "keys.press", {"modifier": "alt", "key": "F4"}),
        ("Press the now arrow twice.", "keys.press", {"key": "Down", "count": "2"}),
        ("Press base.", "keys.press", {"key": "space"}),
        ("Press Face.", "keys.press", {"key": "space"}),
        ("Press the down arrow, twice.", "keys.press", {"key": "Down", "count": "2"}),
        ("Nute.", "volume.mute", {}),
        ("Come on in mode.", "mode.commands", {}),
        ("And full screen.", "placing.leave_full_screen", {}),
        ("And do that.", "edit.undo", {}),
        ("Switch to file.", "windows.switch", {"application": "file"}),
        ("Go to workspace too.", "workspaces.go", {"workspace": "2"}),
        ("Move window to workspace to.", "workspaces.move", {"workspace": "2"}),
    ],
)
def test_what_a_small_recogniser_wrote_for_a_command_is_that_command(
    grammar: Grammar, names: Names, heard: str, intent: str, slots: dict[str, str]
) -> None:
    """Written by tiny.en for commands that speech synthesisers spoke."""
    found = match(grammar, heard, names)

    assert isinstance(found, Match)
    assert (found.intent, found.slots) == (intent, slots)


@pytest.mark.parametrize(
    ("heard", "intent", "slots"),
    [
        ("Kill swindle.", "windows.close", {}),
        ("New to the sound", "volume.mute", {}),
        ("Mid of my everything.", "workspaces.show_desktop", {}),
        ("Change to desktop for.", "workspaces.go", {"workspace": "4"}),
        ("Move this window to desktop free", "workspaces.move", {"workspace": "3"}),
        ("Copy mosel action.", "shortcuts.copy", {}),
        ("Turn up the file.", "volume.change", {"direction": "up"}),
        ("Take map back.", "edit.undo", {}),
        ("You open the settings please.", "applications.open", {"application": "settings"}),
    ],
)
def test_other_words_that_sound_like_a_command_are_guessed_to_be_it_among_commands_only(
    grammar: Grammar, names: Names, heard: str, intent: str, slots: dict[str, str]
) -> None:
    """Written by tiny.en for commands that speech synthesisers spoke."""
    found = match(grammar, heard, names)

    assert isinstance(found, Match)
    assert (found.intent, found.slots, found.by_sound) == (intent, slots, True)
    assert decide(found, Mode.DICTATION, heard=heard, isolated=True) == Type(heard)


@pytest.mark.parametrize(
    "heard",
    [
        "Anew.",
        "The weather is fine.",
        "The website is example dot com.",
        "Press skype.",
        "And it looks like a standard thing to close a window like this.",
    ],
)
def test_what_is_short_or_long_or_names_a_key_or_an_address_is_not_guessed_by_its_sound(
    grammar: Grammar, names: Names, heard: str
) -> None:
    assert isinstance(match(grammar, heard, names), NoMatch)


def test_what_is_said_for_a_command_that_is_off_is_not_guessed_to_be_another(names: Names) -> None:
    without = Grammar.load(off=["volume.mute", "listening.stop"])
    for heard in ("mute the sound", "stop listening"):
        assert match(without, heard, names) == NoMatch(heard)
    assert isinstance(match(without, "unmute the sound", names), Match)


def test_only_the_exact_grammar_counts_where_nothing_is_to_be_guessed(grammar: Grammar, names: Names) -> None:
    assert isinstance(match(grammar, "Volumes up.", names, guess=False), NoMatch)
    assert isinstance(match(grammar, "Kill swindle.", names, guess=False), NoMatch)
    assert isinstance(match(grammar, "Volume up.", names, guess=False), Match)


@pytest.mark.parametrize("heard", ["All right.", "Out there.", "Old men.", "All you.", "Said he.", "Top."])
def test_what_sounds_like_a_key_is_one_only_after_press(grammar: Grammar, names: Names, heard: str) -> None:
    assert isinstance(match(grammar, heard, names), NoMatch)


def test_ordinary_sentences_are_no_commands_in_dictation(grammar: Grammar, names: Names) -> None:
    sentences = ORDINARY.read_text(encoding="utf-8").splitlines()
    mistaken = []
    for sentence in sentences:
        found = match(grammar, sentence, names)
        decision = decide(found, Mode.DICTATION, heard=sentence)
        typed_anyway = isinstance(decision, Run) and decision.match.intent == "typing.text"
        if decision != Type(sentence) and not typed_anyway:
            mistaken.append((sentence, decision))

    assert not mistaken, mistaken
    assert len(sentences) >= 300


def test_orders_about_other_things_than_the_computer_are_no_commands_in_dictation(
    grammar: Grammar, names: Names
) -> None:
    """Sentences that begin as commands do; a thousand together with the written ones."""
    verbs = (
        *("open", "close", "start", "switch", "press", "turn", "set", "show me", "move", "delete", "copy", "cut"),
        *("paste", "select", "find", "play", "stop", "take", "lock", "cancel", "put", "go to", "bring up", "make"),
        *("hide", "save", "mute", "snap", "restore", "skip", "scroll"),
    )
    things = (
        *("the door", "a letter from the bank", "the second chapter", "the lamp in the hall", "my old bicycle"),
        *("the oven", "the children's room", "your answers", "the last train", "a new job", "the garden gate"),
    )
    sentences = [f"{verb} {thing}{end}" for verb in verbs for thing in things for end in ("", " before lunch")]
    mistaken = [
        each for each in sentences if decide(match(grammar, each, names), Mode.DICTATION, heard=each) != Type(each)
    ]

    assert not mistaken, mistaken
    assert len(sentences) + len(ORDINARY.read_text(encoding="utf-8").splitlines()) > 1000


def test_what_names_nothing_that_exists_is_marked_as_ordinary(grammar: Grammar, names: Names) -> None:
    known, unknown = match(grammar, "open firefox", names), match(grammar, "open the door", names)

    assert isinstance(known, Match)
    assert isinstance(unknown, Match)
    assert (known.ordinary, unknown.ordinary) == (False, True)


def test_free_text_is_never_assumed_through_an_error(grammar: Grammar, names: Names) -> None:
    assert isinstance(match(grammar, "tape hello world", names), NoMatch)


def test_what_nearly_matched_is_suggested(grammar: Grammar, names: Names) -> None:
    found = match(grammar, "mute window", names)

    assert isinstance(found, NoMatch)
    assert found.suggestions
    assert set(found.suggestions) <= {command.say for command in grammar.commands.values()}


@pytest.mark.parametrize("heard", ["", "   ", "...", "?!"])
def test_nothing_said_is_nothing_matched(grammar: Grammar, heard: str) -> None:
    assert match(grammar, heard) == NoMatch("")


def test_politeness_alone_is_no_command(grammar: Grammar) -> None:
    assert isinstance(match(grammar, "Thank you."), NoMatch)


def test_a_very_long_utterance_is_handled(grammar: Grammar, names: Names) -> None:
    found = match(grammar, "the weather is fine and " * 400, names)

    assert isinstance(found, NoMatch)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_any_text_at_all_can_be_matched(heard: str) -> None:
    found = match(_GRAMMAR, heard)

    assert isinstance(found, Match | NoMatch)


@pytest.mark.parametrize(
    "said",
    [
        "the keys are under the mat",
        "I told her that the weather would be nice",
        "and then he went to the next shop down the road",
        "it was the best of times it was the worst of times",
        "she opened a letter from her aunt",
        "the meeting moves to friday at ten",
    ],
)
def test_ordinary_speech_is_offered_no_command(grammar: Grammar, said: str) -> None:
    found = match(grammar, said)
    assert isinstance(found, NoMatch)
    assert found.suggestions == ()
