"""The engine page's intents with a stand-in for ``sayso models`` that is a real child process."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from running_server import eventually

from sayso.app.engine_panel import EnginePanel
from sayso.app.engine_speed import Speeds
from sayso.app.engine_view import Work
from sayso.app.errors import AppError
from sayso.app.settings import Loaded, Settings, load
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import ServerKind

MODELS = """
import json, pathlib, sys
folder = pathlib.Path({folder!r})
def say(**fields): print(json.dumps(fields), flush=True)
match sys.argv[1:]:
    case ["check", path, "--json"]:
        if not path.endswith("mine"):
            say(error=dict(code="model_cannot_hear", message=path + " continues text."))
            sys.exit(1)
        say(name=path, kind="whisper")
    case ["list", "--json", *folders]:
        here = (folder / "base.en").exists()
        say(name="tiny.en", kind="whisper", download_bytes=76, memory_bytes=420, languages=["en"], licence="MIT",
            installed=True, auto=True, hears=True, stored_bytes=0)
        say(name="base.en", kind="whisper", download_bytes=145, memory_bytes=500, languages=["en"], licence="MIT",
            installed=here, auto=False, hears=True, stored_bytes=145 if here else 0)
        say(name="smollm2", kind="causal", installed=True, hears=False)
        for path in folders[1::2]:
            say(name=path, own=True, told_as="mine", kind="whisper", languages=["en"], installed=True, hears=True)
    case ["pull", "base.en", "--json"]:
        say(done_bytes=100, total_bytes=145)
        if (folder / "stall").exists():
            sys.stdin.read()
        (folder / "base.en").touch()
        say(folder=str(folder))
    case ["pull", name, "--json"]:
        say(error=dict(code="hub_unreachable", message="The hub cannot be reached."))
        sys.exit(1)
    case ["speed", name, "--json", "--device", device, "--threads", threads]:
        say(model=name, factor=dict([("tiny.en", 0.2), ("base.en", 0.41)]).get(name, 1.5))
    case ["remove", name, "--json"]:
        (folder / name).unlink()
        say(removed_bytes=145)
"""


class Made:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = SettingsStore(Loaded(Settings()), folder)
        self.tasks: list[asyncio.Task[None]] = []
        self.changes = 0
        self.asked: list[tuple[str, str, int]] = []
        self.refusal = ""
        server: Any = SimpleNamespace(view=SimpleNamespace(kind=ServerKind.EMBEDDED, url=""), reporting=None)
        self.server = server
        command = [sys.executable, "-c", MODELS.format(folder=str(folder))]
        self.panel = EnginePanel(
            self.store,
            server,
            None,
            self.changed,
            self.spawn,
            Speeds(folder),
            command,  # type: ignore[arg-type]
        )
        self.panel._change.to = self.to  # type: ignore[method-assign]

    async def to(self, model: str, device: str, threads: int) -> None:
        if self.refusal:
            raise AppError("engine_refused", self.refusal)
        self.asked.append((model, device, threads))

    def changed(self) -> None:
        self.changes += 1

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    async def listed(self) -> None:
        self.panel.watch(True)
        await eventually(lambda: bool(self.panel.view.models))

    async def idle(self) -> None:
        await eventually(lambda: self.panel.view.work is Work.NONE)
        async with asyncio.timeout(15):
            await self.store.written()

    def row(self, name: str) -> Any:
        return next(row for row in self.panel.view.models if row.name == name)


@pytest.fixture
async def made(tmp_path: Path) -> Any:
    made = Made(tmp_path)
    yield made
    made.panel.watch(False)
    made.panel.stop_work()
    for task in made.tasks:
        task.cancel()
    await asyncio.gather(*made.tasks, return_exceptions=True)


async def test_models_that_hear_are_listed_while_somebody_looks(made: Made) -> None:
    assert made.panel.view.models == ()
    await made.listed()
    assert [row.name for row in made.panel.view.models] == ["tiny.en", "base.en"]
    assert made.row("tiny.en").is_automatic
    assert not made.row("base.en").installed


async def test_a_model_is_fetched_measured_and_removed(made: Made) -> None:
    await made.listed()
    made.panel.fetch("base.en")
    assert (made.panel.view.work, made.panel.view.about) == (Work.FETCHING, "base.en")
    await made.idle()
    assert made.row("base.en").installed
    made.panel.measure("base.en")
    await made.idle()
    assert made.row("base.en").factor == 0.41
    made.panel.remove("base.en")
    await made.idle()
    assert not made.row("base.en").installed
    assert made.panel.view.fault == ""


async def test_what_was_not_measured_yet_is_measured_and_the_rest_left(made: Made) -> None:
    await made.listed()
    made.panel.measure_all(["tiny.en", "base.en"])
    await made.idle()
    assert (made.row("tiny.en").factor, made.row("base.en").factor) == (0.2, None)
    made.panel.measure_all(["tiny.en", "base.en"])
    assert made.panel.view.work is Work.NONE


async def test_a_fetch_shows_how_far_it_is_and_is_stopped(made: Made) -> None:
    await made.listed()
    (made.folder / "stall").touch()
    made.panel.fetch("base.en")
    await eventually(lambda: made.panel.view.done_bytes == 100)
    assert made.panel.view.total_bytes == 145
    made.panel.stop_work()
    await made.idle()
    assert not made.row("base.en").installed
    assert made.panel.view.fault == ""


async def test_why_a_fetch_failed_is_told_until_something_else_is_asked_for(made: Made) -> None:
    await made.listed()
    made.panel.fetch("small.en")
    await made.idle()
    assert made.panel.view.fault.endswith("try again when there is a network.")
    made.panel.measure("tiny.en")
    assert made.panel.view.fault == ""
    await made.idle()


async def test_a_choice_is_kept_when_the_engine_has_taken_it(made: Made) -> None:
    made.panel.use_model("tiny.en")
    assert made.panel.view.work is Work.LOADING
    await made.idle()
    made.panel.use_threads(1)
    await made.idle()
    assert made.asked == [("tiny.en", "auto", 0), ("tiny.en", "auto", 1)]
    kept = load(made.folder).settings
    assert (kept.model, kept.device, kept.threads) == ("tiny.en", "auto", 1)
    made.panel.use_model("tiny.en")
    assert made.panel.view.work is Work.NONE


async def test_a_choice_that_cannot_be_loaded_is_not_kept_and_the_reason_is_told(made: Made) -> None:
    made.refusal = "There is no device 'cuda' here."
    made.panel.use_device("cuda")
    await made.idle()
    assert made.panel.view.fault == "There is no device 'cuda' here. The engine of before goes on."
    assert made.panel.view.device == "auto"


async def test_a_folder_of_ones_own_is_kept_once_a_model_was_found_in_it(made: Made) -> None:
    await made.listed()
    folder = made.folder / "models" / "mine"
    made.panel.add_folder(f" 'file://{made.folder}/models/../models/mine' ")
    assert (made.panel.view.work, made.panel.view.about) == (Work.CHECKING, str(folder))
    await made.idle()
    made.panel.add_folder(str(folder))
    await made.idle()
    row = made.row(str(folder))
    assert (row.title, row.own, row.installed) == ("mine", True, True)
    assert load(made.folder).settings.model_folders == (str(folder),)
    made.panel.measure(str(folder))
    await made.idle()
    assert made.row(str(folder)).factor == 1.5

    made.panel.use_model(str(folder))
    await made.idle()
    made.panel.remove(str(folder))
    await made.idle()
    assert made.panel.view.fault == "mine is in use: use another one first, then remove it."
    made.panel.use_model("tiny.en")
    await made.idle()
    made.panel.remove(str(folder))
    await made.idle()
    assert load(made.folder).settings.model_folders == ()
    assert [each.name for each in made.panel.view.models] == ["tiny.en", "base.en"]


async def test_a_folder_without_a_model_that_hears_is_not_kept(made: Made) -> None:
    await made.listed()
    made.panel.add_folder(str(made.folder / "writes"))
    await made.idle()
    assert made.panel.view.fault.endswith("writes continues text.")
    assert load(made.folder).settings.model_folders == ()
    made.panel.add_folder("  ")
    assert made.panel.view.work is Work.NONE


async def test_what_is_asked_for_last_takes_the_place_of_what_goes_on(made: Made) -> None:
    await made.listed()
    (made.folder / "stall").touch()
    made.panel.fetch("base.en")
    made.panel.measure("tiny.en")
    await made.idle()
    assert made.row("tiny.en").factor == 0.2
    assert not made.row("base.en").installed
    await eventually(lambda: not pulling())


def pulling() -> bool:
    """Whether a child of ours still fetches."""
    for child in psutil.Process().children():
        # One that has just ended tells nothing.
        with contextlib.suppress(psutil.Error):
            if "pull" in child.cmdline():
                return True
    return False


async def test_with_a_remote_server_its_name_is_told(made: Made) -> None:
    made.server.view = SimpleNamespace(kind=ServerKind.REMOTE, url="wss://speech.example.org/v1/realtime")
    assert made.panel.view.remote == "speech.example.org"
