"""Keys as text: read, shown, and told from keys that typing needs."""

from __future__ import annotations

import pytest

from sayso.app.hotkeys.shortcut import Shortcut


@pytest.mark.parametrize(
    ("text", "shown", "keysym"),
    [
        ("Ctrl+Alt+Space", "Ctrl+Alt+Space", "space"),
        ("Shift+Ctrl+Space", "Ctrl+Shift+Space", "space"),
        ("Super+v", "Super+V", "v"),
        ("Pause", "Pause", "Pause"),
        ("Ctrl++", "Ctrl++", "+"),
        ("Alt+PgUp", "Alt+PgUp", "Prior"),
        ("F13", "F13", "F13"),
        ("Ctrl+Alt+Esc", "Ctrl+Alt+Esc", "Escape"),
    ],
)
def test_a_shortcut_is_read_and_shown_with_its_modifiers_in_one_order(text: str, shown: str, keysym: str) -> None:
    shortcut = Shortcut.read(text)
    assert shortcut is not None
    assert (shortcut.text, shortcut.keysym) == (shown, keysym)
    assert Shortcut.read(shortcut.text) == shortcut


@pytest.mark.parametrize("text", ["", "Ctrl", "Ctrl+Alt", "Ctrl+", "Hyper+A", "Space bar", "Ctrl+\n", " "])
def test_what_is_no_key_is_not_read(text: str) -> None:
    assert Shortcut.read(text) is None


@pytest.mark.parametrize("text", ["A", "Shift+A", "Space", "Return", "Left", "Ctrl+C", "Ctrl+V", "Shift+Ins"])
def test_keys_that_every_program_needs_are_unfit_and_the_reason_says_what_to_do(text: str) -> None:
    shortcut = Shortcut.read(text)
    assert shortcut is not None
    assert text in shortcut.unfit
    assert "take" in shortcut.unfit


@pytest.mark.parametrize("text", ["Pause", "F9", "Media Play", "Ctrl+Alt+Space", "Super+C", "Ctrl+Shift+C", "Shift+F4"])
def test_other_keys_are_fit(text: str) -> None:
    shortcut = Shortcut.read(text)
    assert shortcut is not None
    assert shortcut.unfit == ""
