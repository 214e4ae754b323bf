"""``sayso listen``: a live transcript of the microphone, or of a sound file as if it were spoken, in the terminal."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from sayso.app.cli.connection import server, server_options

if TYPE_CHECKING:
    from sayso.app.cli.listening import Source


@click.command()
@click.option("--file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Sound file to listen to.")
@click.option("--fast", is_flag=True, help="Feed the file as fast as it is read, not at its own pace.")
@click.option("--microphone", default="", metavar="NAME", help="The microphone to use; see “sayso devices”.")
@click.option("--act", is_flag=True, help="Carry out commands, as the desktop does.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a line.")
@server_options
def command(
    file: Path | None,
    fast: bool,
    microphone: str,
    act: bool,
    as_json: bool,
    server: str,
    api_key_file: Path | None,
    model: str,
) -> None:
    """Show what is said, live: stable words plainly, tentative ones dimmed. Ctrl+C ends it."""
    from sayso.app.cli.listening import FileSource, MicrophoneSource
    from sayso.app.errors import AppError

    try:
        source = MicrophoneSource(microphone) if file is None else FileSource(file, fast)
        complete = asyncio.run(_listen(source, act, as_json, _Server(server, api_key_file, model)))
    except AppError as error:
        raise click.ClickException(str(error)) from error
    if not complete:
        raise click.exceptions.Exit(1)


class _Server(NamedTuple):
    address: str
    api_key_file: Path | None
    model: str


async def _listen(source: Source, act: bool, as_json: bool, where: _Server) -> bool:
    """Listen until Ctrl+C or the end of the file; whether all text has come."""
    from sayso.app.cli.listening import Listening
    from sayso.app.cli.terminal import writer

    made = writer(as_json)
    acting = None
    if act:
        from sayso.app.cli.acting import Acting

        acting = Acting(made.show)
    async with server(*where) as endpoint:
        return await Listening(endpoint, made, acting).run(source)
