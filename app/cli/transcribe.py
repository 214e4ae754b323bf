"""``sayso transcribe``: the text of sound files on standard output, as fast as the server gives it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sayso.app.cli.connection import server, server_options

if TYPE_CHECKING:
    from sayso.app.realtime.client import EndpointSource, RealtimeClient
    from sayso.app.realtime.endpoint import Endpoint
    from sayso.app.realtime.events import RealtimeEvent

_PIECE_TIMEOUT_S = 180.0
"""For one piece of at most 40 s, a model that still loads included."""


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path))
@server_options
def command(files: tuple[Path, ...], server: str, api_key_file: Path | None, model: str) -> None:
    """Print what is said in sound files; with several, each line begins with its file's name."""
    from sayso.app.errors import AppError

    try:
        failures = asyncio.run(_transcribe_all(files, server, api_key_file, model))
    except AppError as error:
        raise click.ClickException(str(error)) from error
    if failures:
        raise click.exceptions.Exit(1)


async def _transcribe_all(files: tuple[Path, ...], address: str, api_key_file: Path | None, model: str) -> int:
    """Transcribe one file after another; how many failed."""
    from sayso.app.audio.errors import AudioError

    failures = 0
    async with server(address, api_key_file, model) as source:
        for file in files:
            try:
                text = await _transcribe(file, source)
            except AudioError as error:
                click.echo(f"Error: {error}", err=True)
                failures += 1
            else:
                click.echo(f"{file}: {text}" if len(files) > 1 else text)
    return failures


async def _transcribe(path: Path, source: Endpoint | EndpointSource) -> str:
    """The text of one file; raises AudioError for the file, RealtimeError for the server."""
    from sayso.app.audio.sound_file import open_sound_file, pieces
    from sayso.app.realtime.client import RealtimeClient

    file = open_sound_file(path)
    run = _Run()
    client = RealtimeClient(source, run.heard)
    run.client = client
    client.start()
    try:
        for piece in pieces(file):
            turn = client.begin()
            client.append(turn, piece)
            client.end(turn)
            await run.until_done(turn)
    finally:
        await client.close()
    return " ".join(text for text in run.texts if text)


class _Run:
    """What came of one file so far."""

    client: RealtimeClient

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._changed = asyncio.Event()
        self._done = 0
        self._fault: tuple[str, str] | None = None

    def heard(self, event: RealtimeEvent) -> None:
        from sayso.app.realtime.events import Connection, TurnDone, TurnLost
        from sayso.app.snapshot import ServerState

        match event:
            case TurnDone(turn, text):
                self._done = turn
                self.texts.append(text.strip())
            case TurnLost(code=code, message=message) | Connection(ServerState.REFUSED, code=code, detail=message):
                self._fault = (code, message)
            case Connection(ServerState.LOST, detail=message):
                click.echo(message, err=True)
        self._changed.set()

    async def until_done(self, turn: int) -> None:
        """Wait until the turn has its text; raises RealtimeError when it will not get it."""
        from sayso.app.realtime.errors import RealtimeError

        try:
            async with asyncio.timeout(_PIECE_TIMEOUT_S):
                while self._done < turn and self._fault is None:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            reason = self.client.connection.detail or "The server did not finish in time."
            raise RealtimeError("timed_out", reason) from None
        if self._fault is not None:
            raise RealtimeError(*self._fault)
