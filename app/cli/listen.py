"""``sayso listen``: a live transcript of the microphone, or of a sound file as if it were spoken, in the terminal."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from sayso.app.cli.connection import server, server_options


@click.command()
@click.option("--file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Sound file to listen to.")
@click.option("--fast", is_flag=True, help="Feed the file as fast as it is read, not at its own pace.")
@click.option("--microphone", default="", metavar="NAME", help="The microphone to use; see “sayso devices”.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a line.")
@server_options
def command(
    file: Path | None,
    fast: bool,
    microphone: str,
    as_json: bool,
    server: str,
    api_key_file: Path | None,
    model: str,
) -> None:
    """Show what is said, live: stable words plainly, tentative ones dimmed. Ctrl+C ends it."""
    from sayso.app.errors import AppError

    try:
        complete = asyncio.run(_listen(file, fast, microphone, as_json, server, api_key_file, model))
    except AppError as error:
        raise click.ClickException(str(error)) from error
    if not complete:
        raise click.exceptions.Exit(1)


async def _listen(
    file: Path | None,
    fast: bool,
    microphone: str,
    as_json: bool,
    address: str,
    api_key_file: Path | None,
    model: str,
) -> bool:
    """Listen until Ctrl+C or the end of the file; whether all text has come."""
    from sayso.app.cli.listening import FileSource, Listening, MicrophoneSource
    from sayso.app.cli.terminal import writer

    async with server(address, api_key_file, model) as source:
        listening = Listening(source, writer(as_json))
        if file is not None:
            return await listening.run(FileSource(file, fast))
        return await listening.run(MicrophoneSource(microphone))
