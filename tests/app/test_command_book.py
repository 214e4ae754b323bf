"""The user's own commands and what is off, with the real grammar, commander and settings file."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sayso.app.actions import Performer
from sayso.app.actions.desktop.none import NO_DISPLAY, Refusing
from sayso.app.actions.typing import Typist
from sayso.app.actions.undo import UndoLog
from sayso.app.command_book import CommandBook
from sayso.app.commander import Commander
from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, match
from sayso.app.commands.own import OwnCommand, OwnKind
from sayso.app.settings import Loaded, Settings, load
from sayso.app.settings_store import SettingsStore

MORNING = OwnCommand("good morning everybody", OwnKind.TEXT, "Hello")
BUILD = OwnCommand("start the build", OwnKind.PROGRAM, "sh -c true")


@dataclass
class Stage:
    book: CommandBook
    commander: Commander
    store: SettingsStore
    folder: Path
    expected: list[tuple[str, ...]]
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def settle(self) -> None:
        async with asyncio.timeout(20):
            while self.tasks:
                await asyncio.gather(*self.tasks)
            await self.store.written()

    def intent(self, heard: str) -> str:
        found = match(self.commander.grammar, heard)
        return found.intent if isinstance(found, Match) else ""


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    backend = Refusing("none", NO_DISPLAY)
    performer = Performer([], backend, Typist(backend, 1), UndoLog(), own_pid=1)
    commander = Commander(Grammar.load(), performer, lambda: None, lambda turn, kind, meant: None)
    store = SettingsStore(Loaded(Settings()), tmp_path)
    expected: list[tuple[str, ...]] = []
    tasks: set[asyncio.Task[None]] = set()

    def spawn(work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    book = CommandBook(store, commander, expected.append, lambda: None, spawn, {"PATH": "/usr/bin:/bin"})
    made = Stage(book, commander, store, tmp_path, expected, tasks)
    yield made
    await made.settle()


async def test_an_added_command_is_understood_at_once_expected_and_kept(stage: Stage) -> None:
    stage.book.add(MORNING)
    assert stage.book.view.rows[0].own == MORNING
    await stage.settle()
    assert stage.intent("Good morning, everybody.") == "own.1"
    assert stage.expected[-1][0] == "Good morning everybody"
    assert load(stage.folder).settings.own_commands == (MORNING,)


async def test_many_changes_at_once_end_in_the_last(stage: Stage) -> None:
    for own in (MORNING, BUILD):
        stage.book.add(own)
    stage.book.switch(["volume.mute"], False)
    await stage.settle()
    assert stage.intent("good morning everybody") == "own.1"
    assert stage.intent("start the build") == "own.2"
    assert stage.intent("mute") == ""


async def test_a_command_is_changed_and_removed(stage: Stage) -> None:
    stage.book.add(MORNING)
    stage.book.add(BUILD)
    evening = OwnCommand("good evening everybody", OwnKind.TEXT, "Bye")
    stage.book.change("own.1", evening)
    await stage.settle()
    assert stage.intent("good evening everybody") == "own.1"
    stage.book.remove("own.1")
    await stage.settle()
    assert load(stage.folder).settings.own_commands == (BUILD,)
    assert stage.intent("start the build") == "own.1"
    assert stage.intent("good evening everybody") == ""


async def test_what_cannot_be_is_told_and_not_taken(stage: Stage) -> None:
    taken = OwnCommand("volume up", OwnKind.KEYS, "no keys at all")
    problems = stage.book.check(taken)
    assert "does something already" in problems.phrase
    assert "no keys" in problems.value
    waking = OwnCommand("hey sayso light the lamps", OwnKind.KEYS, "F5")
    assert "wakes Sayso" in stage.book.check(waking).phrase
    stage.book.add(taken)
    assert stage.store.settings.own_commands == ()
    assert not stage.book.check(MORNING)


async def test_commands_are_switched_off_and_on_again_and_that_is_kept(stage: Stage) -> None:
    stage.book.switch(["volume.change", "volume.mute"], False)
    await stage.settle()
    assert stage.intent("volume up") == ""
    assert "Volume up" not in stage.expected[-1]
    assert {row.intent for row in stage.book.view.rows if not row.on} == {"volume.change", "volume.mute"}
    assert load(stage.folder).settings.off_commands == ("volume.change", "volume.mute")
    stage.book.switch(["volume.change"], True)
    await stage.settle()
    assert stage.intent("volume up") == "volume.change"


async def test_the_command_that_wakes_cannot_be_switched_off(stage: Stage) -> None:
    stage.book.switch(["listening.start", "listening.stop"], False)
    await stage.settle()
    assert stage.intent("start listening") == "listening.start"
    assert stage.intent("stop listening") == ""
    assert next(row for row in stage.book.view.rows if row.intent == "listening.start").always_on


async def test_every_command_of_the_app_is_told_with_its_help(stage: Stage) -> None:
    rows = {row.intent: row for row in stage.book.view.rows}
    assert len(rows) == len(stage.commander.grammar.known)
    assert all(row.say and row.help and row.on for row in rows.values())
