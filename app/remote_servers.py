"""What the page *Server* may ask about remote servers: try one, find or remove its key. Runs on the event loop.

Nothing here changes which server is used: ``Assistant.use_remote`` and ``use_embedded`` do. At most one trial runs.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from sayso.app.realtime.endpoint import parse, remote
from sayso.app.realtime.errors import RealtimeError
from sayso.app.realtime.trial import try_server
from sayso.app.remote_server_view import Finding, RemoteServerView
from sayso.app.settings import KeyStore
from sayso.app.settings_store import SettingsStore


class RemoteServers:
    """``view`` is what the page shows; every intent returns at once and shows its effect there."""

    def __init__(
        self,
        store: SettingsStore,
        keys: KeyStore,
        changed: Callable[[], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """``changed`` is told of every change; ``spawn`` runs work whose faults the user is to see."""
        self._store = store
        self._keys = keys
        self._changed = changed
        self._spawn = spawn
        self._view = RemoteServerView()
        self._trial: asyncio.Task[Finding] | None = None

    @property
    def view(self) -> RemoteServerView:
        settings = self._store.settings
        return replace(self._view, url=settings.remote_url, model=settings.remote_model)

    def try_server(self, address: str, key: str, model: str) -> None:
        """Try the server at this address; an empty key means the saved one or none. Ends a trial that runs."""
        self.stop_trial()
        try:
            url = parse(address)
        except RealtimeError as error:
            finding = Finding(False, error.code, "This is no address of a server", str(error))
            self._show(trying=False, tried_url=address, finding=finding)
            return
        self._show(trying=True, tried_url=url, finding=None)
        self._trial = asyncio.get_running_loop().create_task(self._try(url, key, model), name="trial of a server")
        self._spawn(self._finish(self._trial))

    def stop_trial(self) -> None:
        """End the trial that runs, if one does; it then has found nothing."""
        trial, self._trial = self._trial, None
        if trial is not None:
            trial.cancel()
            self._show(trying=False)

    def look_for_key(self, address: str) -> None:
        """Find out whether a key is kept for the server at this address, and where."""
        with contextlib.suppress(RealtimeError):
            self._spawn(self._look(parse(address)))

    def remove_key(self, address: str) -> None:
        """Forget the key of the server at this address; a connection that is open goes on with it until it ends."""
        self._spawn(self._remove(address))

    async def _try(self, url: str, key: str, model: str) -> Finding:
        key = key or await asyncio.to_thread(self._keys.get, url)
        return await try_server(remote(url, key, model))

    async def _finish(self, trial: asyncio.Task[Finding]) -> None:
        try:
            finding = await trial
        except asyncio.CancelledError:
            # Either this trial was stopped or Sayso ends.
            if trial is self._trial:
                raise
            return
        if trial is self._trial:
            self._trial = None
            self._show(trying=False, finding=finding)

    async def _look(self, url: str) -> None:
        self._show(key_url=url, key_place=await asyncio.to_thread(self._keys.place, url))

    async def _remove(self, address: str) -> None:
        url = parse(address)
        await asyncio.to_thread(self._keys.set, url, "")
        await self._look(url)

    def _show(self, **changes: Any) -> None:
        view = replace(self._view, **changes)
        if view != self._view:
            self._view = view
            self._changed()
