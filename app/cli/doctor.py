"""``sayso doctor``: what works, what does not, and what to do, in plain words. Each check is a file's function."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from sayso.app.cli.connection import server_options


@click.command()
@server_options
def command(server: str, api_key_file: Path | None, model: str) -> None:
    """Check microphone, display, engine, model files and server. The exit status is 0 when all that is needed works."""
    from sayso.app.cli import checks

    results = asyncio.run(checks.run(server, api_key_file, model))
    for result in results:
        mark, color = {True: ("ok", "green"), False: ("FAULT", "red"), None: ("note", "yellow")}[result.works]
        click.echo(f"{click.style(f'{mark:>5}', fg=color)}  {result.subject}: {result.words}")
    faults = sum(result.works is False for result in results)
    if faults:
        click.echo(f"\n{faults} thing{'s' if faults > 1 else ''} to mend.")
        raise click.exceptions.Exit(1)
    click.echo("\nEverything that is needed works.")
