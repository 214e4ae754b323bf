"""``sayso``: the desktop, or one of its commands. Each command's file is imported only when it is used."""

from __future__ import annotations

import importlib
import sys
from typing import NamedTuple

import click


class _Entry(NamedTuple):
    module: str
    help: str
    attribute: str = "command"


_COMMANDS = {
    "listen": _Entry("sayso.app.cli.listen", "Show what is said, live, in the terminal."),
    "transcribe": _Entry("sayso.app.cli.transcribe", "Print what is said in sound files."),
    "serve": _Entry("sayso.app.cli.serve", "Serve /v1/realtime without a desktop."),
    "models": _Entry("sayso.app.cli.models", "List, fetch, find and delete models."),
    "start": _Entry("sayso.app.cli.control", "Have the running Sayso listen.", "start"),
    "stop": _Entry("sayso.app.cli.control", "Have the running Sayso stop listening.", "stop"),
    "toggle": _Entry("sayso.app.cli.control", "Have the running Sayso listen, or stop when it does.", "toggle"),
    "cancel": _Entry("sayso.app.cli.control", "Drop what is being said to the running Sayso.", "cancel"),
    "show": _Entry("sayso.app.cli.control", "Show the window of the running Sayso.", "show"),
    "quit": _Entry("sayso.app.cli.control", "End the running Sayso.", "quit_"),
    "desktop-file": _Entry("sayso.app.cli.desktop_file", "Add Sayso to your applications or your session's start."),
    "devices": _Entry("sayso.app.cli.devices", "List the microphones."),
    "doctor": _Entry("sayso.app.cli.doctor", "Say what works, what does not, and what to do."),
}


class LazyGroup(click.Group):
    """Lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(importlib.import_module(entry.module), entry.attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in _COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"There is no command “{args[0]}”. Commands are {', '.join(_COMMANDS)}.")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sayso", message="%(package)s %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """A voice assistant that shows words as they are spoken and acts while you speak.

    Without a command it opens the desktop window.
    """
    if context.invoked_subcommand is None:
        from sayso.app.__main__ import main as desktop

        sys.exit(desktop())


if __name__ == "__main__":
    main()
