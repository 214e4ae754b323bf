"""Which server gets the speech: the one on this machine, or a remote one. Owns the local server's life.

Runs on the event loop. A switch keeps the open turn: the realtime client replays what the old server has not confirmed.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from sayso.app.local_server import LocalServer
from sayso.app.realtime.client import EndpointSource, RealtimeClient
from sayso.app.realtime.endpoint import Endpoint, parse, remote
from sayso.app.realtime.events import Connection
from sayso.app.settings import KeyStore, Settings
from sayso.app.snapshot import ServerKind, ServerState, ServerView

_ENDED = "The engine has ended to free memory; it starts again when you speak."


class ServerChoice:
    """The server in use and how it is."""

    def __init__(self, client: RealtimeClient, local: LocalServer, keys: KeyStore, settings: Settings) -> None:
        self._client = client
        self._local = local
        self._keys = keys
        self._model = settings.remote_model
        self._remote_url = settings.remote_url
        url = settings.remote_url if settings.server is ServerKind.REMOTE else ""
        self._view = ServerView(settings.server, ServerState.STARTING, url)
        self.ends_at_rest = settings.memory.end_server
        """Whether the local server ends when the connection rests; the next speech starts it again."""

    @property
    def view(self) -> ServerView:
        return self._view

    async def begin(self) -> None:
        """Connect to the server of the settings."""
        await self._client.switch(self._source())

    async def use_embedded(self) -> None:
        """Use the engine on this machine, starting it when it does not run."""
        self._view = ServerView(ServerKind.EMBEDDED, ServerState.STARTING)
        self._local.spawn()
        await self._client.switch(self._source())

    @property
    def model(self) -> str:
        """What is asked of the remote server; empty takes its own."""
        return self._model

    async def use_remote(self, address: str, key: str, model: str | None = None) -> str:
        """Use a remote server; an empty key means the saved one. Gives a line for people about the key, or nothing.

        No model keeps the one chosen before, but for another server: that takes its own until one is chosen.
        Raises RealtimeError ``bad_url`` and leaves everything as it is.
        """
        url = parse(address)
        warning = await asyncio.to_thread(self._keys.set, url, key) if key else ""
        if model is not None or url != self._remote_url:
            self._model = model or ""
        self._remote_url = url
        self._view = ServerView(ServerKind.REMOTE, ServerState.CONNECTING, url)
        await self._client.switch(self._source())
        return warning

    async def apply(self, event: Connection) -> None:
        """Take over how the connection is; end the local server where a remote one or rest has taken its place."""
        view = self._view
        model = event.model or view.model
        self._view = replace(view, state=event.state, model=model, detail=event.detail)
        replaced = view.kind is ServerKind.REMOTE and event.state is ServerState.READY
        # Asked of the client and not of the event: somebody may have begun to speak since.
        rests = view.kind is ServerKind.EMBEDDED and self.ends_at_rest and self._client.is_resting
        if rests:
            self._view = replace(self._view, detail=_ENDED)
        if (replaced or rests) and self._local.pid is not None:
            await self._local.close()

    @property
    def reporting(self) -> Endpoint | None:
        """The server in use, to be asked for its figures; None where nothing runs. Starts nothing."""
        return self._local.running if self._view.kind is ServerKind.EMBEDDED else self._client.endpoint

    async def close(self) -> None:
        """End the local server."""
        await self._local.close()

    def _source(self) -> EndpointSource:
        return self._local.endpoint if self._view.kind is ServerKind.EMBEDDED else self._remote

    async def _remote(self) -> Endpoint:
        key = await asyncio.to_thread(self._keys.get, self._view.url)
        return remote(self._view.url, key, self._model)
