"""The page about the engine: which models there are, how fast, what runs now, and every change of that. Event loop.

Models are listed, fetched, measured and removed by ``sayso models`` in a process of its own; what runs now is what the
server in use tells. One thing is done at a time, and the next one asked for takes its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import msgspec

from sayso.app.engine_change import EngineChange
from sayso.app.engine_speed import Speeds, usable_cores
from sayso.app.engine_view import AUTOMATIC, EngineFacts, EngineView, ModelRow, Work
from sayso.app.errors import AppError
from sayso.app.local_server import LocalServer
from sayso.app.model_commands import COMMAND, read, run
from sayso.app.model_folders import path_of, titles
from sayso.app.server_choice import ServerChoice
from sayso.app.server_reports import ReportError, ServerReports
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import ServerKind

LOOK_EVERY_S = 2.0
_LIST_S = 60.0
_FETCH_S = 6 * 3600.0
_MEASURE_S = 180.0
_REMOVE_S = 60.0
_CHECK_S = 60.0
_WORDS = {
    "hub_unreachable": "The hub that models come from cannot be reached, or the transfer broke off. What came so far "
    "is kept: try again when there is a network.",
}
"""Where the command line's own words name its options."""


class _Listed(msgspec.Struct):
    """A line of ``sayso models list --json``, as far as it matters here."""

    name: str
    kind: str = ""
    download_bytes: int = 0
    memory_bytes: int = 0
    languages: tuple[str, ...] = ()
    licence: str = ""
    installed: bool = False
    auto: bool = False
    hears: bool = False
    stored_bytes: int = 0
    own: bool = False
    told_as: str = ""
    fault: str = ""


class _Measured(msgspec.Struct):
    factor: float


class _Fetched(msgspec.Struct):
    done_bytes: int = 0
    total_bytes: int = 0
    folder: str = ""


class EnginePanel:
    """Implements the page's intents; ``view`` is what it shows."""

    def __init__(
        self,
        store: SettingsStore,
        server: ServerChoice,
        local: LocalServer,
        changed: Callable[[], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        speeds: Speeds | None = None,
        command: Sequence[str] = COMMAND,
    ) -> None:
        """``changed`` is told of every change; ``spawn`` runs work. ``command`` replaces ``sayso models``."""
        self._store = store
        self._server = server
        self._change = EngineChange(local, server)
        self._changed = changed
        self._spawn = spawn
        self._speeds = speeds or Speeds()
        self._command = command
        self._task: asyncio.Task[None] | None = None
        self._watchers = 0
        self._looks = 0
        """The number of the newest look, which goes on while there are watchers."""
        self._listed: tuple[_Listed, ...] = ()
        self._view = EngineView(most_threads=usable_cores())

    @property
    def view(self) -> EngineView:
        chosen, remote = self._store.settings, self._server.view.kind is ServerKind.REMOTE
        return replace(
            self._view,
            model=chosen.model,
            device=chosen.device,
            threads=chosen.threads,
            remote=urlsplit(self._server.view.url).netloc if remote else "",
        )

    # What the page asks for.

    def watch(self, on: bool) -> None:
        """One more window looks at the models, or one less."""
        self._watchers = max(0, self._watchers + (1 if on else -1))
        if on and self._watchers == 1:
            self._looks += 1
            self._spawn(self._look(self._looks))

    def use_model(self, name: str) -> None:
        self._choose(model=name)

    def use_device(self, device: str) -> None:
        self._choose(device=device)

    def use_threads(self, threads: int) -> None:
        self._choose(threads=threads)

    def fetch(self, name: str) -> None:
        self._begin(Work.FETCHING, name, self._fetch(name))

    def obtain(self, name: str) -> None:
        """Fetch a model and use it."""
        self._begin(Work.FETCHING, name, self._obtain(name))

    def measure(self, name: str) -> None:
        self._begin(Work.MEASURING, name, self._measure((name,)))

    def measure_all(self, names: Sequence[str]) -> None:
        """Measure those that are installed and were not measured yet, one after another."""
        rows = {row.name: row for row in self._view.models}
        wanted = [name for name in names if name in rows and rows[name].installed and rows[name].factor is None]
        if wanted and self._view.work is Work.NONE:
            self._begin(Work.MEASURING, wanted[0], self._measure(wanted))

    def add_folder(self, typed: str) -> None:
        """List a folder of the user's own, once a model that hears was found in it."""
        folder = path_of(typed)
        if folder:
            self._begin(Work.CHECKING, folder, self._add_folder(folder))

    def remove(self, name: str) -> None:
        self._begin(Work.REMOVING, name, self._remove(name))

    def stop_work(self) -> None:
        """End what goes on; what was fetched stays, and the engine of before goes on."""
        if self._task is not None:
            self._task.cancel()

    # How it is done.

    def _choose(self, **choice: Any) -> None:
        now = self._store.settings
        wanted = {"model": now.model, "device": now.device, "threads": now.threads, **choice}
        if wanted == {"model": now.model, "device": now.device, "threads": now.threads}:
            return
        self._begin(Work.LOADING, wanted["model"], self._load(**wanted))

    def _begin(self, work: Work, about: str, doing: Coroutine[Any, Any, None]) -> None:
        former, self._task = self._task, asyncio.get_running_loop().create_task(doing, name=f"engine {work}")
        if former is not None:
            former.cancel()
        self._show(work=work, about=about, done_bytes=0, total_bytes=0, fault="")
        self._spawn(self._finish(self._task))

    async def _finish(self, task: asyncio.Task[None]) -> None:
        """Wait for the work, and show how it ended unless other work has taken its place."""
        fault = ""
        try:
            await task
        except asyncio.CancelledError:
            if not task.done():
                task.cancel()
                raise
        except AppError as error:
            fault = _WORDS.get(error.code) or str(error)
        finally:
            if self._task is task:
                self._task = None
                self._show(work=Work.NONE, about="", fault=fault)
                self._relist()

    async def _load(self, model: str, device: str, threads: int) -> None:
        try:
            await self._change.to(model, device, threads)
        except AppError as error:
            goes_on = "" if self._server.view.kind is ServerKind.REMOTE else " The engine of before goes on."
            raise AppError(error.code, f"{error}{goes_on}") from error
        self._store.change(model=model, device=device, threads=threads)
        await self._ask()

    async def _fetch(self, name: str) -> None:
        def take(line: bytes) -> None:
            told = read(line, _Fetched)
            if told.total_bytes:
                self._show(done_bytes=told.done_bytes, total_bytes=told.total_bytes)

        await run(["pull", name, "--json"], take, _FETCH_S, self._command)
        await self._list()

    async def _obtain(self, name: str) -> None:
        await self._fetch(name)
        self._show(work=Work.LOADING)
        chosen = self._store.settings
        await self._load(name, chosen.device, chosen.threads)

    async def _measure(self, names: Sequence[str]) -> None:
        chosen = self._store.settings
        options = ["--json", "--device", chosen.device, "--threads", str(chosen.threads)]
        for name in names:
            self._show(about=name)
            found: list[_Measured] = []
            await run(
                ["speed", name, *options],
                lambda line, found=found: found.append(read(line, _Measured)),  # type: ignore[misc]
                _MEASURE_S,
                self._command,
            )
            for measured in found:
                await asyncio.to_thread(self._speeds.keep, name, chosen.device, chosen.threads, measured.factor)
            self._relist()

    async def _add_folder(self, folder: str) -> None:
        await run(["check", folder, "--json"], lambda _: None, _CHECK_S, self._command)
        folders = self._store.settings.model_folders
        if folder not in folders:
            self._store.change(model_folders=(*folders, folder))
        await self._list()

    async def _remove(self, name: str) -> None:
        """Delete what was fetched; of a folder of the user's own only its place in the list is given up."""
        view, folders = self.view, self._store.settings.model_folders
        if name == view.running or (name in folders and name == view.model):
            raise AppError("model_in_use", f"{view.shown(name)} is in use: use another one first, then remove it.")
        if name in folders:
            self._store.change(model_folders=tuple(each for each in folders if each != name))
        else:
            await run(["remove", name, "--json"], lambda _: None, _REMOVE_S, self._command)
        if name == self._store.settings.model:
            self._store.change(model=AUTOMATIC)
        await self._list()

    async def _look(self, number: int) -> None:
        await asyncio.to_thread(self._speeds.load)
        await self._ask()
        try:
            await self._list()
        except AppError as error:
            self._show(fault=str(error))
        while self._watchers and self._looks == number:
            await asyncio.sleep(LOOK_EVERY_S)
            await self._ask()

    async def _list(self) -> None:
        listed: list[_Listed] = []
        folders = [part for each in self._store.settings.model_folders for part in ("--folder", each)]
        await run(["list", "--json", *folders], lambda line: listed.append(read(line, _Listed)), _LIST_S, self._command)
        self._listed = tuple(listed)
        self._relist()

    def _relist(self) -> None:
        """Join what is listed with what was measured for the choice of now."""
        chosen = self._store.settings
        called = titles([each.name for each in self._listed if each.own])
        rows = tuple(
            ModelRow(
                each.name,
                each.languages,
                each.download_bytes,
                each.memory_bytes,
                each.licence,
                each.installed,
                each.stored_bytes,
                each.auto,
                self._speeds.get(each.name, chosen.device, chosen.threads),
                title=called.get(each.name, ""),
                own=each.own,
                told_as=each.told_as,
                fault=each.fault,
            )
            for each in self._listed
            if each.hears
        )
        self._show(models=rows)

    async def _ask(self) -> None:
        """Take over what the server in use tells of its engine."""
        endpoint = self._server.reporting
        facts = None
        if endpoint is not None:
            try:
                health = await ServerReports(endpoint).health()
            except ReportError:
                # A server that does not answer, or is none of ours, tells nothing; the connection shows why.
                health = None
            if health is not None and health.status:
                told = health.engine
                facts = EngineFacts(
                    health.status,
                    told.model,
                    told.device,
                    told.threads,
                    told.start_ms,
                    told.resident_bytes,
                    told.device_bytes,
                )
                if told.devices and self._server.view.kind is ServerKind.EMBEDDED:
                    self._show(devices=told.devices)
        self._show(facts=facts)

    def _show(self, **changes: Any) -> None:
        shown = replace(self._view, **changes)
        if shown != self._view:
            self._view = shown
            self._changed()
