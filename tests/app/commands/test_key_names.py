import pytest

from sayso.app.commands.key_names import MOST_PRESSES, Keys, read_keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Ctrl+Shift+T", (Keys(("control", "shift"), "t"),)),
        ("control+alt+del", (Keys(("control", "alt"), "Delete"),)),
        ("F5", (Keys((), "F5"),)),
        ("Win+Left", (Keys(("super",), "Left"),)),
        ("ctrl+k ctrl+s", (Keys(("control",), "k"), Keys(("control",), "s"))),
        ("Ctrl+K, Enter", (Keys(("control",), "k"), Keys((), "Return"))),
        ("ctrl+plus", (Keys(("control",), "plus"),)),
        ("ü", (Keys((), "ü"),)),
    ],
)
def test_keys_are_read_as_people_write_them(text: str, keys: tuple[Keys, ...]) -> None:
    assert read_keys(text) == keys


@pytest.mark.parametrize(
    "text", ["", "  ", "Ctrl+", "+", "Ctrl+Shift", "Hyper+X", "Ctrl+Ctrl+X", "F99", "word", "Ctrl+K word", "T+Ctrl"]
)
def test_what_is_no_key_is_none(text: str) -> None:
    assert read_keys(text) is None


def test_more_presses_than_anyone_means_are_none() -> None:
    assert read_keys("a " * MOST_PRESSES) is not None
    assert read_keys("a " * (MOST_PRESSES + 1)) is None
