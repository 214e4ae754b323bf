"""Dictation into other programs: every character arrives, and what was copied before is on the clipboard afterwards."""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from bounded import child, wait_for
from clipboard import copied, on_clipboard, wait_for_clipboard
from editors import EDITOR, Opening, Target, gtk_editor, qt_editor, tk_editor, xterm
from mixed_text import mixed_text
from screen_reader import screen_reader
from virtual_desktop import VirtualDesktop, virtual_desktop

from sayso.app.actions import ActionError, Performer, Receipt, create
from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, match

pytestmark = [pytest.mark.desktop, pytest.mark.timeout(180)]

COPIED = "copied before: ja, 日本"
PICTURE = random.Random(1).randbytes(200_000)


@pytest.fixture(scope="module")
def desktop() -> Iterator[VirtualDesktop]:
    with virtual_desktop(sound=False, session_bus=False) as started:
        yield started


@pytest.fixture
async def performer(desktop: VirtualDesktop) -> AsyncIterator[Performer]:
    made = create(environment=desktop.environment, own_pid=os.getpid())
    yield made
    await made.close()


@pytest.mark.parametrize("opening", [xterm, qt_editor])
async def test_a_hundred_mixed_texts_arrive_exactly_and_the_clipboard_is_as_before(
    desktop: VirtualDesktop, performer: Performer, tmp_path: Path, opening: Opening
) -> None:
    with opening(desktop, tmp_path) as target, copied(desktop, COPIED, PICTURE, tmp_path):
        desktop.focus(target.window)
        receipts = await dictate(performer, target, range(100))
        clipboard_is_as_before(desktop)
        assert receipts.count(Receipt.VERIFIED) >= 90
        assert Receipt.ON_CLIPBOARD not in receipts


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("opening", [xterm, qt_editor, tk_editor, gtk_editor])
async def test_a_thousand_mixed_texts_arrive_exactly(
    desktop: VirtualDesktop, performer: Performer, tmp_path: Path, opening: Opening
) -> None:
    with opening(desktop, tmp_path) as target, copied(desktop, COPIED, PICTURE, tmp_path):
        desktop.focus(target.window)
        receipts = await dictate(performer, target, range(1000))
        if not target.copies_itself:
            clipboard_is_as_before(desktop)
        print(f"{target.name}: {receipts.count(Receipt.VERIFIED)} verified, {receipts.count(Receipt.SENT)} sent")
        assert Receipt.ON_CLIPBOARD not in receipts


def said(sentence: str) -> Match:
    found = match(Grammar.load(), sentence)
    assert isinstance(found, Match)
    return found


async def dictate(performer: Performer, target: Target, seeds: range) -> list[Receipt]:
    """Dictate these texts and compare all that the program holds after every one."""
    wanted, receipts, joined = "", list[Receipt](), False
    for at, seed in enumerate(seeds, start=1):
        text = target.wanted(mixed_text(seed))
        wanted += f" {text}" if joined else text
        outcome = await performer.type(mixed_text(seed))
        receipts.append(outcome.receipt)
        saved = bool(target.saved_by) and at % 20 == 0
        if saved:
            await performer.perform(said(target.saved_by))
        if saved or not target.saved_by:
            await asyncio.to_thread(wait_until_shown, target, wanted, seed)
        joined = not saved
    return receipts


def wait_until_shown(target: Target, wanted: str, seed: int) -> None:
    try:
        wait_for(lambda: target.shown() == wanted, f"text {seed} in {target.name}", 15)
    except AssertionError:
        shown = target.shown()
        at = next((at for at, pair in enumerate(zip(shown, wanted, strict=False)) if pair[0] != pair[1]), len(shown))
        pytest.fail(f"{target.name}, text {seed}: {shown[at : at + 80]!r} instead of {wanted[at : at + 80]!r}")


def clipboard_is_as_before(desktop: VirtualDesktop) -> None:
    wait_for_clipboard(desktop, COPIED)
    assert on_clipboard(desktop, "image/png") == PICTURE


async def test_what_a_program_tells_of_its_field_keeps_dictation_out_of_passwords_and_undo_from_other_text(
    tmp_path: Path,
) -> None:
    with virtual_desktop(sound=False) as desktop, screen_reader(desktop) as reader:
        performer = create(environment=desktop.environment, own_pid=os.getpid())
        shown = tmp_path / "shown"
        command = [sys.executable, EDITOR, shown, "password"]
        with child(command, desktop.environment | {"QT_QPA_PLATFORM": "xcb"}, tmp_path / "editor.log"):
            desktop.focus(desktop.wait_for_window("editor"))
            await asyncio.to_thread(reader.wait_for, "text", "editor")
            for text in ("hello", "naïve"):
                with pytest.raises(ActionError) as refused:
                    await performer.type(text)
                assert refused.value.code == "password_field"
            assert shown.read_text("utf-8") == ""
        with qt_editor(desktop, tmp_path) as target:
            desktop.focus(target.window)
            await performer.type("naïve")
            await asyncio.to_thread(wait_until_shown, target, "naïve", 0)
            more, changed = await performer.type("smile 😀"), await performer.type("ending")
            await asyncio.to_thread(wait_until_shown, target, "naïve smile 😀 ending", 0)
            assert more.undo is not None
            assert changed.undo is not None
            undone = await performer.undo(changed.undo)
            assert (undone.receipt, undone.detail) == (Receipt.VERIFIED, "6 characters removed from editor")
            assert target.shown() == "naïve smile 😀"
            # The program changes its text by itself, and the cursor stands behind something else.
            reader.wait_for("text").write("rewritten, and longer")
            with pytest.raises(ActionError) as refused:
                await performer.undo(more.undo)
            assert refused.value.code == "text_changed"
            assert target.shown() == "rewritten, and longer"
        await performer.close()
