"""``sayso serve``: the server without a desktop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from sayso.app.cli.grouped_options import GroupedCommand, GroupedOption, read_defaults

_FILE = click.Path(dir_okay=False, path_type=Path)
_SECONDS = click.FloatRange(min=0)

_MEMORY = "Memory"
_SESSIONS = "Sessions"
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _group(name: str) -> Callable[..., Decorator]:
    return partial(click.option, cls=GroupedOption, group=name)


def _seconds(group: str, name: str, field: str, help_text: str, default: float = 0.0) -> Decorator:
    return _group(group)(
        name, field, type=_SECONDS, metavar="SECONDS", default=default, show_default=True, help=help_text
    )


def _megabytes(name: str, **attributes: Any) -> Decorator:
    return _group(_MEMORY)(name, type=click.IntRange(min=0), metavar="MB", default=0, show_default=True, **attributes)


_listening = _group("Listening")
_engine = _group("Engine")


@click.command(cls=GroupedCommand)
@_listening("--host", default="127.0.0.1", show_default=True, help="Any other than loopback needs a key.")
@_listening("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0 takes a free one.")
@_listening("--api-key-file", type=_FILE, help="The key that clients must send. SAYSO_API_KEY does the same.")
@_listening(
    "--admin-key-file",
    type=_FILE,
    help="The key to list and end sessions and unload the engine from elsewhere. SAYSO_ADMIN_KEY does the same.",
)
@_listening("--allow-origin", "allow_origins", multiple=True, metavar="ORIGIN", help="A web page's origin to allow.")
@_engine("--model", default="auto", show_default=True, help="A model's name, a local folder, or a hub id.")
@_engine("--device", default="auto", show_default=True, help="auto, cuda, mps or cpu.")
@_engine("--threads", type=click.IntRange(min=0), default=0, help="Threads of the engine; 0 chooses.")
@_engine(
    "--precision",
    default="auto",
    show_default=True,
    help="Number types of the model: auto, float32, bfloat16, float16, int8, or two as weights/cache.",
)
@_seconds(_MEMORY, "--unload-after", "engine_unload_after_s", "Drop the weights when nobody speaks. 0: never.")
@_seconds(_MEMORY, "--end-after", "engine_end_after_s", "End the engine process when nobody speaks. 0: never.")
@_group(_MEMORY)(
    "--end-at-pressure",
    "engine_end_at_pressure",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    default=0.0,
    show_default=True,
    help="End an engine that nobody uses when programs wait for memory so much of the time (Linux). 0: never.",
)
@_seconds(
    _MEMORY,
    "--end-on-battery-after",
    "engine_end_on_battery_after_s",
    "As --end-after, while on battery power. 0: never.",
)
@_seconds(_MEMORY, "--park-after", "park_after_s", "Move an idle session's cache off the device. 0: never.")
@_seconds(_MEMORY, "--drop-after", "drop_after_s", "Free it; it is computed again when needed. 0: never.")
@_seconds(_MEMORY, "--hibernate-after", "hibernate_after_s", "Put it on disk, encrypted. 0: never.")
@_megabytes("--most-device-mb", help="Caches on the device; the longest idle go first, no one who speaks. 0: no bound.")
@_megabytes("--most-host-mb", help="Caches moved off the device. 0: no bound.")
@_group(_SESSIONS)(
    "--most-sessions",
    "most_connections",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="More are refused.",
)
@_seconds(_SESSIONS, "--idle-close-after", "idle_s", "Close a client that says nothing. 0: never.")
@_seconds(_SESSIONS, "--idle-warning", "idle_warning_s", "Warn it so long before. 0: not at all.", 10.0)
@_seconds(_SESSIONS, "--session-limit", "session_s", "Close a connection after so long, between turns. 0: never.")
@_seconds(_SESSIONS, "--resume-within", "resume_s", "Keep the session of a lost connection. 0: not at all.", 30.0)
@_seconds(_SESSIONS, "--waiting-audio", "waiting_s", "Audio of one client that may wait.", 600.0)
@_seconds(_SESSIONS, "--replay-audio", "replay_s", "Audio of an open turn kept for a new engine.", 300.0)
@_group(_SESSIONS)(
    "--unread-bytes",
    type=click.IntRange(min=1),
    default=8 * 1024 * 1024,
    show_default=True,
    help="A client that leaves more unread is closed.",
)
@_group("Other")(
    "--config",
    type=_FILE,
    is_eager=True,
    expose_value=False,
    callback=read_defaults,
    help='A TOML file with the names above, such as end-after = 600 or model = "auto". Options given here win.',
)
@_group("Other")("--verbose", "-v", is_flag=True, help="Log what the server does to standard error.")
def command(api_key_file: Path | None, admin_key_file: Path | None, verbose: bool, **fields: Any) -> None:
    """Serve /v1/realtime until interrupted; prints where it listens once it can transcribe."""
    import logging

    from sayso.server.config import ADMIN_KEY_VARIABLE, ServerConfig, key_from
    from sayso.server.errors import ServerError
    from sayso.server.logs import set_up_logging
    from sayso.server.run import run

    set_up_logging(logging.INFO if verbose else logging.WARNING)
    try:
        key, admin_key = key_from(api_key_file), key_from(admin_key_file, variable=ADMIN_KEY_VARIABLE)
        config = ServerConfig(key=key, admin_key=admin_key, **fields)
        asyncio.run(run(config, lambda url: click.echo(f"listening on {url}"), once_ready=True))
    except ServerError as error:
        raise click.ClickException(f"{error.message} ({error.code})") from error
