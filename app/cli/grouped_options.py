"""A command whose help shows its options in groups, and whose options may come from a TOML file. The command wins."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import click


class GroupedOption(click.Option):
    """An option that names the group of the help in which it is shown."""

    def __init__(self, *args: Any, group: str = "Options", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.group = group


class GroupedCommand(click.Command):
    """Shows its groups in the order in which their first options were declared."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(parameter, "group", "Other"), []).append(record)
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)


def read_defaults(ctx: click.Context, parameter: click.Parameter, file: Path | None) -> None:
    """Callback of ``--config``, which must be eager: names are those of the options, without their dashes."""
    if file is None:
        return
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{file} cannot be read ({error}).", ctx, parameter) from error
    names = {
        name.lstrip("-"): str(option.name)
        for option in ctx.command.params
        if option is not parameter
        for name in option.opts
        if name.startswith("--")
    }
    unknown = sorted(values.keys() - names.keys())
    if unknown:
        known = ", ".join(sorted(names))
        raise click.BadParameter(f"{file} has unknown names: {', '.join(unknown)}. Known: {known}.", ctx, parameter)
    ctx.default_map = {**(ctx.default_map or {}), **{names[name]: value for name, value in values.items()}}
