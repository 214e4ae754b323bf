"""The guide's steps, what counts as tried, and when it comes by itself."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sayso.app.commands.grammar import Grammar
from sayso.app.engine_view import ModelRow
from sayso.app.feed import Feed
from sayso.app.first_run import TASKS, FirstRun, larger, neighbour, steps, tried
from sayso.app.first_run_view import Step, TaskState, TaskView
from sayso.app.settings import Loaded, Settings, load
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import FeedItem, FeedState, ServerKind, Why

EMBEDDED, REMOTE = ServerKind.EMBEDDED, ServerKind.REMOTE


def item(number: int, intent: str, state: FeedState, detail: str = "") -> FeedItem:
    return FeedItem(number, "", "", state, detail, why=Why(intent, "", 100.0))


def test_a_remote_server_leaves_the_step_about_models_out() -> None:
    assert steps(EMBEDDED) == (Step.MICROPHONE, Step.SERVER, Step.MODEL, Step.COMMANDS)
    assert steps(REMOTE) == (Step.MICROPHONE, Step.SERVER, Step.COMMANDS)


@pytest.mark.parametrize(
    ("step", "server", "by", "expected"),
    [
        (Step.SERVER, EMBEDDED, 1, Step.MODEL),
        (Step.SERVER, REMOTE, 1, Step.COMMANDS),
        (Step.COMMANDS, REMOTE, -1, Step.SERVER),
        (Step.COMMANDS, EMBEDDED, 1, None),
        (Step.MICROPHONE, EMBEDDED, -1, None),
        (Step.MODEL, REMOTE, -1, Step.SERVER),
    ],
)
def test_each_step_has_its_neighbours(step: Step, server: ServerKind, by: int, expected: Step | None) -> None:
    assert neighbour(step, server, by) is expected


def test_what_is_to_be_tried_is_what_the_grammar_says_for_these_intents() -> None:
    commands = Grammar.load().commands
    assert [commands[task.intent].say for task in TASKS] == [task.say for task in TASKS]


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], TaskState.OPEN),
        ([FeedState.HEARD], TaskState.HEARD),
        ([FeedState.RUNNING], TaskState.RUNNING),
        ([FeedState.CONFIRM], TaskState.ASKED),
        ([FeedState.DONE], TaskState.DONE),
        ([FeedState.UNDONE], TaskState.DONE),
        ([FeedState.FAILED], TaskState.FAILED),
        ([FeedState.REFUSED], TaskState.FAILED),
        ([FeedState.FAILED, FeedState.DONE], TaskState.DONE),
        ([FeedState.DONE, FeedState.FAILED], TaskState.DONE),
        ([FeedState.FAILED, FeedState.RUNNING], TaskState.RUNNING),
    ],
)
def test_a_command_is_ticked_once_it_was_done_whatever_comes_later(
    states: list[FeedState], expected: TaskState
) -> None:
    items = [item(number, "volume.change", state, state) for number, state in enumerate(states, 1)]
    shown = {task.say: task for task in tried(items, 1)}
    assert shown["volume up"].state is expected
    assert shown["what time is it"] == TaskView("what time is it")


def test_what_was_said_before_the_guide_and_what_was_not_said_counts_for_nothing() -> None:
    items = [item(4, "volume.change", FeedState.DONE), FeedItem(5, "", "Timer", FeedState.DONE)]
    assert {task.state for task in tried(items, 5)} == {TaskState.OPEN}


def row(name: str, installed: bool) -> ModelRow:
    return ModelRow(name, ("en",), 1, 1, "MIT", installed)


@pytest.mark.parametrize(
    ("here", "offered"),
    [((), "base.en"), (("base",), "base"), (("base.en",), "base.en"), (("base", "base.en"), "base.en")],
)
def test_the_larger_model_is_one_that_is_here_or_else_the_english_one(here: tuple[str, ...], offered: str) -> None:
    models = [row("tiny.en", True), *(row(name, name in here) for name in ("base.en", "base"))]
    found = larger(models)
    assert found is not None
    assert found.name == offered


def test_where_no_base_is_known_none_is_offered() -> None:
    assert larger([row("tiny.en", True)]) is None


class Made:
    def __init__(self, folder: Path, guided: bool) -> None:
        self.store = SettingsStore(Loaded(Settings(guided=guided)), folder)
        self.server = SimpleNamespace(view=SimpleNamespace(kind=EMBEDDED))
        self.commander = SimpleNamespace(feed=Feed())
        self.changes = 0
        server: Any = self.server
        self.guide = FirstRun(self.store, server, self.commander, self.changed)

    def changed(self) -> None:
        self.changes += 1


async def test_it_goes_from_step_to_step_and_is_done_after_the_last(tmp_path: Path) -> None:
    made = Made(tmp_path, guided=False)
    seen = []
    while made.guide.view.is_open:
        seen.append((made.guide.view.step, made.guide.view.number, made.guide.view.count))
        made.guide.forward()
    assert seen == [(step, number, 4) for number, step in enumerate(Step, 1)]
    await made.store.written()
    assert load(tmp_path).settings.guided
    assert not Made(tmp_path, guided=load(tmp_path).settings.guided).guide.view.is_open
    assert made.changes == 4


async def test_going_back_ends_at_the_first_step(tmp_path: Path) -> None:
    made = Made(tmp_path, guided=False)
    made.guide.forward()
    for _ in range(3):
        made.guide.back()
    assert made.guide.view.step is Step.MICROPHONE


async def test_skipping_it_is_remembered_and_it_can_be_opened_again_from_its_beginning(tmp_path: Path) -> None:
    made = Made(tmp_path, guided=False)
    made.guide.forward()
    made.guide.close()
    assert not made.guide.view.is_open
    made.commander.feed = made.commander.feed.heard("volume up", "Turn the volume up", FeedState.DONE)
    made.guide.open()
    assert (made.guide.view.step, made.guide.view.number) == (Step.MICROPHONE, 1)
    assert {task.state for task in made.guide.view.tasks} == {TaskState.OPEN}
    await made.store.written()
    assert load(tmp_path).settings.guided


async def test_choosing_a_remote_server_on_the_way_leaves_a_step_that_is_there(tmp_path: Path) -> None:
    made = Made(tmp_path, guided=False)
    made.guide.forward()
    made.guide.forward()
    assert made.guide.view.step is Step.MODEL
    made.server.view = SimpleNamespace(kind=REMOTE)
    assert (made.guide.view.step, made.guide.view.number, made.guide.view.count) == (Step.COMMANDS, 3, 3)


def test_it_comes_by_itself_only_where_there_are_no_settings_yet(tmp_path: Path) -> None:
    assert not load(tmp_path).settings.guided
    (tmp_path / "settings.json").write_text('{"microphone": "USB"}')
    assert load(tmp_path).settings.guided
