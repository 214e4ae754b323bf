"""The command line itself: its help is quick because nothing heavy is imported for it."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from sayso.app.cli.main import LazyGroup, main

LOOK = """
import json, sys
from sayso.app.cli.main import main
try:
    main({arguments!r})
except SystemExit as ended:
    print(json.dumps([ended.code, sorted(sys.modules)]))
"""
HEAVY = {
    "torch",
    "numpy",
    "PySide6",
    "websockets",
    "sounddevice",
    "soundfile",
    "soxr",
    "uvicorn",
    "starlette",
    "msgspec",
}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["listen", "--help"],
        ["transcribe", "--help"],
        ["models", "--help"],
        ["toggle", "--help"],
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    program = LOOK.format(arguments=arguments)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    code, modules = json.loads(run.stdout.splitlines()[-1])
    assert code == 0
    assert HEAVY & set(modules) == set()


def test_every_command_is_there_and_says_what_it_does() -> None:
    assert isinstance(main, LazyGroup)
    with click.Context(main) as context:
        names = main.list_commands(context)
        control = ["start", "stop", "toggle", "cancel", "show", "quit"]
        assert names == ["listen", "transcribe", "serve", "models", *control, "desktop-file", "devices", "doctor"]
        for name in names:
            command = main.get_command(context, name)
            assert command is not None
            if name not in control:
                assert command is importlib.import_module(f"sayso.app.cli.{name.replace('-', '_')}").command
            assert command.help


def test_a_command_that_does_not_exist_is_named_with_those_that_do() -> None:
    result = CliRunner().invoke(main, ["lisen"])
    assert result.exit_code == 2
    assert "lisen" in result.output
    assert "listen" in result.output
