"""``sayso serve``: the server without a desktop."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Any other than loopback needs a key.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0 takes a free one.")
@click.option("--model", default="auto", show_default=True, help="A model's name, a local folder, or a hub id.")
@click.option("--device", default="auto", show_default=True, help="auto, cuda, mps or cpu.")
@click.option("--threads", type=click.IntRange(min=0), default=0, help="Threads of the engine; 0 chooses.")
@click.option(
    "--precision",
    default="auto",
    show_default=True,
    help="Number types of the model: auto, float32, bfloat16, float16, int8, or two as weights/cache.",
)
@click.option(
    "--api-key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file with the key that clients must send. SAYSO_API_KEY does the same.",
)
@click.option("--allow-origin", "origins", multiple=True, metavar="ORIGIN", help="A web page's origin to allow.")
@click.option("--verbose", "-v", is_flag=True, help="Log what the server does to standard error.")
def command(
    host: str,
    port: int,
    model: str,
    device: str,
    threads: int,
    precision: str,
    api_key_file: Path | None,
    origins: tuple[str, ...],
    verbose: bool,
) -> None:
    """Serve /v1/realtime until interrupted; prints where it listens once it can transcribe."""
    import logging

    from sayso.server.config import ServerConfig, key_from
    from sayso.server.errors import ServerError
    from sayso.server.logs import set_up_logging
    from sayso.server.run import run

    set_up_logging(logging.INFO if verbose else logging.WARNING)
    try:
        key = key_from(api_key_file)
        config = ServerConfig(host, port, key, model, device, threads, origins, precision)
        asyncio.run(run(config, lambda url: click.echo(f"listening on {url}"), once_ready=True))
    except ServerError as error:
        raise click.ClickException(f"{error.message} ({error.code})") from error
