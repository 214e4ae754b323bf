"""``sayso devices``: the microphones by name."""

from __future__ import annotations

import asyncio

import click

_TIMEOUT_S = 10.0


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a line.")
def command(as_json: bool) -> None:
    """List the microphones; * marks the one that is used when none is chosen."""
    from sayso.app.audio.capture import SoundThread
    from sayso.app.audio.devices import choose, list_devices
    from sayso.app.audio.errors import AudioError

    try:
        devices = asyncio.run(SoundThread().call(list_devices, _TIMEOUT_S))
    except AudioError as error:
        raise click.ClickException(str(error)) from error
    choice = choose(devices, "")
    for device in devices:
        if device.is_monitor:
            continue
        if as_json:
            import msgspec

            fields = {"name": device.name, "label": device.label, "rate": device.rate, "channels": device.channels}
            line = {**fields, "default": device == choice.device, "muted": device.muted}
            click.echo(msgspec.json.encode(line))
        else:
            mark = "*" if device == choice.device else " "
            muted = ", muted" if device.muted else ""
            click.echo(f"{mark} {device.label} ({device.rate} Hz, {device.channels} channels{muted})  {device.name}")
    if choice.device is None:
        raise click.ClickException(choice.detail)
