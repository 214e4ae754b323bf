"""What commands of the keys do in other programs: text is edited in an editor, and pages and tabs move in a browser.

That the keys arrive is tests/app/actions' matter; here it is the effect that a user wants.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bounded import child, wait_for
from clipboard import wait_for_clipboard
from editors import Opening, Target, gtk_editor, qt_editor
from spoken_actions import BareHands
from virtual_desktop import VirtualDesktop, virtual_desktop

from sayso.app.actions import create
from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, match

pytestmark = [pytest.mark.desktop, pytest.mark.timeout(120)]

MARGIN = 10
"""Pixels above the first line of a page and below the last."""
PAGES = Path(__file__).parents[1] / "data" / "commands" / "pages.py"


@pytest.fixture(scope="module")
def desktop() -> Iterator[VirtualDesktop]:
    with virtual_desktop(sound=False, session_bus=False) as started:
        yield started


@pytest.fixture
async def hands(desktop: VirtualDesktop) -> AsyncIterator[BareHands]:
    grammar = Grammar.load()

    def read(sentence: str) -> Match:
        found = match(grammar, sentence)
        assert isinstance(found, Match), f"{sentence!r} is no command"
        return found

    performer = create(environment=desktop.environment, own_pid=os.getpid())
    yield BareHands(performer, read)
    await performer.close()


@dataclass
class Writer:
    """Says commands to an editor and waits for the text that they are to leave in it."""

    hands: BareHands
    target: Target

    async def leaves(self, text: str, *sentences: str) -> None:
        for sentence in sentences:
            await self.hands.do(sentence)
        if self.target.saved_by:
            await self.hands.do(self.target.saved_by)
        what = f"{text!r} in {self.target.name} after {sentences}"
        await asyncio.to_thread(wait_for, lambda: self.target.shown().removesuffix("\n") == text, what, 15)


@pytest.mark.parametrize("opening", [qt_editor, pytest.param(gtk_editor, marks=pytest.mark.soak)])
async def test_text_is_edited_in_an_editor(
    desktop: VirtualDesktop, hands: BareHands, tmp_path: Path, opening: Opening
) -> None:
    with opening(desktop, tmp_path) as target:
        desktop.focus(target.window)
        writer = Writer(hands, target)
        await writer.leaves("one two three", "type one two three")
        await writer.leaves("one two ", "delete the last word")
        await writer.leaves("so one two ", "go to the start of the line", "type so", "press space")
        await writer.leaves("so one two end", "go to the end of the line", "type end")
        await writer.leaves("so one two end\nnext", "new line", "type next")
        await writer.leaves("so one two end\nnext", "select all", "copy that")
        await asyncio.to_thread(wait_for_clipboard, desktop, "so one two end\nnext")
        await writer.leaves("", "cut the selection")
        await writer.leaves("so one two end\nnext", "paste that")
        await writer.leaves("so one two end\nnext\n\nlast", "new paragraph", "type last")


async def test_an_editor_undoes_and_does_again(desktop: VirtualDesktop, hands: BareHands, tmp_path: Path) -> None:
    with qt_editor(desktop, tmp_path) as target:
        desktop.focus(target.window)
        writer = Writer(hands, target)
        await writer.leaves("word", "type word")
        await writer.leaves("", "select all", "press cut")
        await writer.leaves("word", "press undo")
        await writer.leaves("", "press redo")


@dataclass
class Browser:
    """Says commands to the program with pages and waits for what it shows then."""

    hands: BareHands
    output: Path

    @property
    def shown(self) -> dict[str, Any]:
        shown: dict[str, Any] = json.loads(self.output.read_text("utf-8"))
        return shown

    async def shows(self, sentence: str, so: Callable[[dict[str, Any]], bool]) -> None:
        await self.hands.do(sentence)
        await asyncio.to_thread(wait_for, lambda: so(self.shown), f"what “{sentence}” does", 15)


@pytest.fixture
def browser(desktop: VirtualDesktop, hands: BareHands, tmp_path: Path) -> Iterator[Browser]:
    output = tmp_path / "shown"
    with child([sys.executable, PAGES, output], desktop.environment | {"QT_QPA_PLATFORM": "xcb"}, tmp_path / "log"):
        window = desktop.wait_for_window("pages")
        wait_for(output.exists, "the program with pages")
        desktop.focus(window)
        yield Browser(hands, output)


async def test_tabs_open_close_and_change(browser: Browser) -> None:
    await browser.shows("open a new tab", lambda now: now["tabs"] == ["tab 1", "tab 2"] and now["tab"] == "tab 2")
    await browser.shows("previous tab", lambda now: now["tab"] == "tab 1")
    await browser.shows("next tab", lambda now: now["tab"] == "tab 2")
    await browser.shows("close tab", lambda now: now["tabs"] == ["tab 1"])
    await browser.shows("reopen tab", lambda now: now["tabs"] == ["tab 1", "tab 2"])


async def test_pages_go_back_and_forward_load_anew_and_grow(browser: Browser) -> None:
    loaded = browser.shown["loaded"]
    await browser.shows("go back", lambda now: now["page"] == "first")
    await browser.shows("go forward", lambda now: now["page"] == "second" and now["loaded"] > loaded + 1)
    loaded = browser.shown["loaded"]
    await browser.shows("reload page", lambda now: now["loaded"] > loaded)
    await browser.shows("zoom in twice", lambda now: now["zoom"] == 2)
    await browser.shows("zoom out", lambda now: now["zoom"] == 1)
    await browser.shows("reset zoom", lambda now: now["zoom"] == 0)
    await browser.shows("find on page line ten", lambda now: now["sought"] == "line ten")


async def test_pages_scroll_a_little_more_and_to_both_ends(browser: Browser) -> None:
    await browser.shows("scroll down a little", lambda now: now["line"] > 0)
    little = browser.shown["line"]
    await browser.shows("scroll down", lambda now: now["line"] >= 4 * little)
    await browser.shows("scroll up", lambda now: now["line"] <= little)
    await browser.shows("scroll to the bottom", lambda now: now["line"] >= now["last_line"] - MARGIN > 0)
    await browser.shows("scroll to the top", lambda now: now["line"] <= MARGIN)
