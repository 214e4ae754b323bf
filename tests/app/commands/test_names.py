"""The thing that was meant is found, or the two it may be, or none."""

from __future__ import annotations

import pytest

from sayso.app.commands.names import Ambiguous, Found, Named, Names, Unknown, resolve

FIREFOX = Named("firefox", "Firefox", ("Firefox", "Web Browser"), ("internet",))
CHROME = Named("chrome", "Google Chrome", ("Google Chrome",))
WRITER = Named("writer", "LibreOffice Writer", ("LibreOffice Writer",), ("document",))
CALC = Named("calc", "LibreOffice Calc", ("LibreOffice Calc",))
FILES = Named("files", "Files", ("Files",))
THINGS = [FIREFOX, CHROME, WRITER, CALC, FILES]


@pytest.mark.parametrize(
    ("spoken", "meant"),
    [
        ("firefox", FIREFOX),
        ("fire fox", FIREFOX),
        ("Fire-Fox", FIREFOX),
        ("fire fogs", FIREFOX),
        ("fire facts", FIREFOX),
        ("web browser", FIREFOX),
        ("internet", FIREFOX),
        ("chrome", CHROME),
        ("libre office writer", WRITER),
        ("writer", WRITER),
        ("document", WRITER),
        ("files", FILES),
    ],
)
def test_a_thing_is_found_by_its_names(spoken: str, meant: Named) -> None:
    found = resolve(spoken, THINGS)

    assert isinstance(found, Found)
    assert found.named is meant


def test_two_alike_are_both_told() -> None:
    found = resolve("libre office", THINGS)

    assert isinstance(found, Ambiguous)
    assert {found.first, found.second} == {WRITER, CALC}


def test_a_full_name_beats_a_part_of_another() -> None:
    other = Named("files2", "Files Backup", ("Files Backup",))

    assert resolve("files", [other, FILES]) == Found(FILES, 100.0)


def test_two_of_one_title_are_not_asked_about() -> None:
    twin = Named("twin", "Files", ("Files",))

    assert isinstance(resolve("files", [FILES, twin]), Found)


def test_what_all_of_a_kind_are_called_is_surely_a_name_but_gives_way_to_the_own_name_of_one() -> None:
    xterm = Named("xterm", "XTerm", ("XTerm",), ("shell",), ("terminal", "text console"))
    terminal = Named("gnome", "Terminal", ("Terminal",))

    assert resolve("terminal", [xterm, WRITER]) == Found(xterm, 91.0)
    assert resolve("terminal", [xterm, terminal]) == Found(terminal, 100.0)
    assert Names([xterm]).knows("terminal")
    assert not Names([xterm]).knows("shell")
    assert not Names([xterm]).knows("console")


@pytest.mark.parametrize(("spoken", "nearest"), [("fireworks", FIREFOX), ("the door", None), ("", None)])
def test_what_is_not_there_is_unknown_with_the_nearest(spoken: str, nearest: Named | None) -> None:
    assert resolve(spoken, THINGS) == Unknown(nearest)


@pytest.mark.parametrize(
    ("spoken", "known"),
    [("fire fox", True), ("chrome", True), ("document", False), ("fire fogs", False), ("the door", False), ("", False)],
)
def test_only_a_name_is_certainly_known(spoken: str, known: bool) -> None:
    assert Names(THINGS).knows(spoken) is known
