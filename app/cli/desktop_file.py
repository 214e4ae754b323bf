"""``sayso desktop-file``: Sayso in the list of applications, and started with the session."""

from __future__ import annotations

import click


@click.command("desktop-file")
@click.option("--install", is_flag=True, help="Add Sayso to your applications.")
@click.option("--remove", is_flag=True, help="Take Sayso out of your applications, and start it no more by itself.")
@click.option("--autostart/--no-autostart", default=None, help="Start Sayso with your session, or no more.")
def command(install: bool, remove: bool, autostart: bool | None) -> None:
    """Add Sayso to your applications, or start it with your session."""
    from sayso.app import desktop_file

    if install and remove:
        raise click.UsageError("--install and --remove cannot be done at once.")
    if remove and autostart:
        raise click.UsageError("--remove and --autostart cannot be done at once.")
    if not (install or remove or autostart is not None):
        raise click.UsageError("Say what to do: --install, --remove, --autostart or --no-autostart.")
    try:
        changed = desktop_file.install() if install else desktop_file.remove() if remove else []
        start = desktop_file.Autostart()
        was_on = start.on
        if autostart is not None or (remove and was_on):
            start.set(bool(autostart))
            changed += [start.path] if was_on or autostart else []
    except desktop_file.DesktopFileError as error:
        raise click.ClickException(str(error)) from error
    for path in changed:
        click.echo(f"{'wrote' if path.exists() else 'removed'} {path}")
    if not changed:
        click.echo("Nothing was there to remove.")
