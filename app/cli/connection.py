"""Which server a command talks to: one named with ``--server``, or one of its own that it starts and ends."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from sayso.app.realtime.client import EndpointSource
    from sayso.app.realtime.endpoint import Endpoint

_Command = TypeVar("_Command", bound=Callable[..., Any])

KEY_VARIABLE = "SAYSO_API_KEY"


def server_options(command: _Command) -> _Command:
    """Add the options that ``server`` takes."""
    for option in (
        click.option("--model", default="", help="The server's model; its own where none is named."),
        click.option(
            "--api-key-file",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help=f"A file with the server's key. {KEY_VARIABLE} does the same.",
        ),
        click.option("--server", default="", metavar="URL", help="A running server; without it one is started here."),
    ):
        command = option(command)
    return command


@asynccontextmanager
async def server(address: str, api_key_file: Path | None, model: str) -> AsyncIterator[Endpoint | EndpointSource]:
    """Where to connect to while the block runs; raises AppError when the address or the key is of no use."""
    from sayso.app.local_server import LocalServer
    from sayso.app.realtime.endpoint import remote

    if address:
        yield remote(address, _key(api_key_file), model)
        return
    local = LocalServer(model or "auto")
    try:
        local.spawn()
        yield local.endpoint
    finally:
        await local.close()


def _key(file: Path | None) -> str:
    from sayso.app.errors import AppError

    if file is None:
        return os.environ.get(KEY_VARIABLE, "").strip()
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise AppError("bad_key_file", f"The key file {file} cannot be read ({error}).") from error
