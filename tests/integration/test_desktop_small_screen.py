"""Sayso at twice the size on a small screen, on the real app: nothing is cut off that the keyboard does not reach."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from integration.desktop_session import DesktopSession, desktop_session
from screen_reader import Element
from virtual_desktop import virtual_desktop

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(360)]

SCALE = 2
SCREEN = (1024, 600)
MOST_STOPS = 60
"""Of the Tab key, until it is back where it began."""


@pytest.fixture(scope="module")
def session() -> Iterator[DesktopSession]:
    with virtual_desktop(SCREEN) as desktop:
        desktop.environment["QT_SCALE_FACTOR"] = str(SCALE)
        with desktop_session(desktop) as started:
            started.wait_for_headline("Ready")
            yield started


def focused(session: DesktopSession, before: str = "") -> Element:
    """What has the keyboard, as soon as it is another than the one whose path is ``before``."""
    found: list[Element] = []

    def another() -> bool:
        found[:] = [each for each in session.reader.find() if each.name and each.has_state("focused")]
        return bool(found) and found[0].path != before

    session.reader.wait_until(another, "something else with the keyboard", 30)
    return found[0]


def inside(element: Element, window: Element) -> bool:
    (left, top, width, height), (x, y, wide, high) = element.extents, window.extents
    return left >= x and top >= y and left + width <= x + wide and top + height <= y + high


def walked(session: DesktopSession, window: Element) -> dict[str, str]:
    """Every stop of the Tab key, by path, with its name; each was on the screen when it had the keyboard."""
    stops: dict[str, str] = {}
    at = focused(session)
    while at.path not in stops:
        assert len(stops) < MOST_STOPS, stops
        session.reader.wait_until(lambda at=at: inside(at, window), f"{at.name!r} brought into view", 30)
        stops[at.path] = at.name
        session.desktop.xdotool("key", "--clearmodifiers", "Tab")
        at = focused(session, at.path)
    return stops


def on_the_screen(window: Element) -> bool:
    left, top, width, height = window.extents
    return left >= 0 and top >= 0 and left + width <= SCREEN[0] / SCALE and top + height <= SCREEN[1] / SCALE


def test_every_control_of_the_window_comes_into_view_by_keyboard(session: DesktopSession) -> None:
    session.desktop.focus(session.desktop.wait_for_window("Sayso"))
    window = session.reader.wait_for("frame", "Sayso")
    assert on_the_screen(window)
    names = walked(session, window).values()
    for name in ("Stop listening", "Mode: Commands", "Engine: Embedded", "Menu", "Actions"):
        assert name in names


def test_the_settings_fit_and_their_pages_stand_below_each_other(session: DesktopSession) -> None:
    session.desktop.focus(session.desktop.wait_for_window("Sayso"))
    session.desktop.xdotool("key", "--clearmodifiers", "ctrl+comma")
    session.desktop.focus(session.desktop.wait_for_window("Settings"))
    window = session.reader.wait_for("dialog", "Settings")
    assert on_the_screen(window)

    rows = session.reader.wait_for("list", "Pages of the settings").children
    assert rows[-1].name == "About"
    for (_, top, _, height), (_, below, _, _) in pairwise(each.extents for each in rows):
        assert top + height <= below, "a page's name is over another's"
    session.desktop.xdotool("key", "--clearmodifiers", "ctrl+Prior")
    session.reader.wait_until(lambda: inside(rows[-1], window), "the last page's name brought into view", 30)


@pytest.mark.parametrize(("key", "title"), [("ctrl+h", "History"), ("F1", "Keyboard")])
def test_the_other_windows_fit(session: DesktopSession, key: str, title: str) -> None:
    session.desktop.focus(session.desktop.wait_for_window("Sayso"))
    session.desktop.xdotool("key", "--clearmodifiers", key)
    shown = session.desktop.wait_for_window(title)
    window = session.reader.wait_for("dialog", title)
    session.reader.wait_until(lambda: on_the_screen(window), f"all of {title!r} on the screen", 30)
    session.desktop.focus(shown)
    session.desktop.xdotool("key", "--clearmodifiers", "Escape")
    session.desktop.wait_until_closed(shown)
