"""The page about sessions and memory: what is measured, what is chosen, and what is asked for. Runs on the event loop.

The server is asked once a second, and only while somebody looks. Choices are in force at once: the desktop's own here,
the local server's by telling it, and one that is started later is started with them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from sayso.app.errors import AppError
from sayso.app.local_server import LocalServer
from sayso.app.memory_freeing import FreeNow
from sayso.app.memory_limits import LimitsKeeper
from sayso.app.memory_policy import PRESETS, Controls, Preset, changed, from_server, preset_of, server_limits
from sayso.app.memory_samples import Samples, own_memory, sample
from sayso.app.memory_starts import Starts
from sayso.app.memory_view import Freeing, MemoryView, Place, Sample, Source
from sayso.app.realtime.client import RealtimeClient
from sayso.app.realtime.events import Connection
from sayso.app.server_choice import ServerChoice
from sayso.app.server_reports import Health, ReportError, ServerReports
from sayso.app.session_orders import SessionOrders, session_row
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import ServerKind, ServerState

LOOK_EVERY_S = 1.0
ENGINE_RESTS = "idle"
"""The code of a connection that is open to a server whose engine rests."""
_KEEPER_ONLY = "Only the keeper of this server may see or change this: it asks for an admin key."


class MemoryPanel:
    """Implements the page's intents; ``view`` is what it shows."""

    def __init__(
        self,
        store: SettingsStore,
        client: RealtimeClient,
        server: ServerChoice,
        local: LocalServer,
        changed: Callable[[], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``changed`` is told of every change; ``spawn`` runs work whose faults the user is to see."""
        self._store = store
        self._client = client
        self._server = server
        self._local = local
        self._changed = changed
        self._spawn = spawn
        self._clock = clock
        self._samples = Samples()
        self._starts = Starts(store, local, clock)
        self._limits = LimitsKeeper(local, spawn)
        self._free_now = FreeNow(client, local, self._measure)
        self._orders = SessionOrders(lambda: self._reports)
        self._watch = 0
        """The number of the look that goes on; 0 when nobody looks."""
        self._looks = 0
        self._expected = False
        """Speech is about to come, and the engine is wanted ready for it."""
        self._view = MemoryView()
        self._apply()

    @property
    def view(self) -> MemoryView:
        controls = self._store.settings.memory
        return replace(self._view, preset=preset_of(controls), controls=controls, starts=self._starts.times)

    # What the page asks for.

    def watch(self, on: bool) -> None:
        """Somebody looks at the page, or no more."""
        if on and not self._watch:
            self._show(session_fault="")
            self._looks += 1
            self._watch = self._looks
            self._spawn(self._look(self._watch))
        elif not on:
            self._watch = 0

    def use_preset(self, preset: Preset) -> None:
        if preset in PRESETS:
            self._choose(PRESETS[preset])

    def set_control(self, name: str, value: float) -> None:
        try:
            self._choose(changed(self._store.settings.memory, name, value))
        except AppError as error:
            self._show(fault=str(error))

    def free_now(self) -> None:
        if self._view.freeing is not Freeing.WAITING:
            self._show(freeing=Freeing.WAITING, freed=None, fault="")
            self._spawn(self._free())

    def close_session(self, session: str) -> None:
        self._order(lambda: self._orders.close(session))

    def put_away(self, session: str, place: Place) -> None:
        self._order(lambda: self._orders.put_away(session, place))

    # What happens meanwhile.

    def about_to_speak(self) -> None:
        """The key was pressed: what rests is started before the first word."""
        self._expected = True
        self._client.rest.disturb()
        self._wake(self._client.connection)

    def connection(self, event: Connection) -> None:
        """How the connection is, after the server's choice has taken it over."""
        self._limits.tell()
        self._wake(event)
        if event.state is ServerState.READY:
            self._expected = False
            if self._is_local:
                self._starts.ready()
                self._spawn(self._learn())

    def _choose(self, controls: Controls) -> None:
        self._store.change(memory=controls)
        self._apply()
        self._show(fault="")

    def _apply(self) -> None:
        controls = self._store.settings.memory
        self._client.rest.after(controls.close_after_s)
        self._server.ends_at_rest = controls.end_server
        self._limits.want(server_limits(controls))

    def _wake(self, connection: Connection) -> None:
        """Start the local server's engine where it rests and speech is expected."""
        rests = connection.state is ServerState.RESTING and connection.code == ENGINE_RESTS
        reports = self._reports
        if rests and self._expected and reports is not None and self._is_local:
            self._expected = False
            self._spawn(reports.start_engine())

    async def _learn(self) -> None:
        """Take over how long the engine took to start."""
        health = await self._health()
        if health is not None:
            self._starts.learn(health.engine)

    async def _look(self, number: int) -> None:
        while self._watch == number:
            began_s = self._clock()
            await self._look_once()
            await asyncio.sleep(max(0.0, LOOK_EVERY_S - (self._clock() - began_s)))

    async def _look_once(self) -> None:
        health = await self._health()
        if health is not None and self._is_local:
            self._starts.learn(health.engine)
        self._take_sample(health)
        self._show(
            source=self._source(health),
            server="" if self._is_local else urlsplit(self._server.view.url).netloc,
            engine=health.status if health is not None else "",
            scarcity_unknown=health is not None and health.engine.memory_pressure is None,
            **await self._details(),
        )

    async def _details(self) -> dict[str, Any]:
        """Sessions, and a remote server's limits; or why they are not told."""
        nothing: dict[str, Any] = {"sessions": (), "theirs": None, "refusal": ""}
        reports = self._reports
        if reports is None:
            return nothing
        try:
            sessions = await reports.sessions()
            limits = None if self._is_local else await reports.limits()
        except ReportError as error:
            return nothing | {"refusal": _words(error)}
        rows = tuple(session_row(each, own=each.id == self._client.session_id) for each in sessions)
        theirs = from_server(limits, self._store.settings.memory) if limits is not None else None
        return {"sessions": rows, "theirs": theirs, "refusal": ""}

    @property
    def _is_local(self) -> bool:
        return self._server.view.kind is ServerKind.EMBEDDED

    @property
    def _reports(self) -> ServerReports | None:
        """The server in use, where one runs and is ours."""
        endpoint = self._server.reporting
        if endpoint is None or not (self._is_local or self._client.is_sayso):
            return None
        return ServerReports(endpoint)

    async def _health(self) -> Health | None:
        reports = self._reports
        try:
            return await reports.health() if reports is not None else None
        except ReportError:
            # A server that does not answer is a state to be shown, and the connection tells the reason.
            return None

    def _source(self, health: Health | None) -> Source:
        if self._is_local:
            ended = Source.ENDED if self._local.pid is None else Source.UNREACHED
            return Source.LOCAL if health is not None else ended
        if self._client.is_sayso is False:
            return Source.PLAIN
        return Source.REMOTE if health is not None else Source.UNREACHED

    def _take_sample(self, health: Health | None) -> Sample:
        ended = self._source(health) is Source.ENDED
        taken = sample(self._clock(), own_memory(), health, ended=ended)
        self._samples.add(taken)
        self._show(samples=self._samples.all)
        return taken

    async def _measure(self) -> Sample:
        return self._take_sample(await self._health())

    async def _free(self) -> None:
        reports, controls = self._reports, self._store.settings.memory
        try:
            if reports is None and self._source(None) is Source.UNREACHED:
                raise ReportError("unreachable", "The server does not answer yet, so there is nothing to free.")
            if reports is None or (controls.end_server and self._is_local):
                freed = await self._free_now.end_connection(with_server=controls.end_server and self._is_local)
            else:
                freed = await self._free_now.end_engine(reports)
        except AppError as error:
            self._show(freeing=Freeing.NO, fault=_words(error))
        else:
            self._show(freeing=Freeing.DONE, freed=freed)

    def _order(self, order: Callable[[], Awaitable[None]]) -> None:
        self._show(session_fault="")
        self._spawn(self._carry_out(order))

    async def _carry_out(self, order: Callable[[], Awaitable[None]]) -> None:
        try:
            await order()
        except AppError as error:
            self._show(session_fault=_words(error))

    def _show(self, **changes: Any) -> None:
        self._view = replace(self._view, **changes)
        self._changed()


def _words(error: AppError) -> str:
    return _KEEPER_ONLY if error.code == "admin_only" else str(error)
