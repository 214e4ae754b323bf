"""``sayso serve`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sayso.app.cli.serve import command
from sayso.server.run import bound_socket


def test_a_host_that_others_can_reach_needs_a_key() -> None:
    result = CliRunner(env={"SAYSO_API_KEY": ""}).invoke(command, ["--host", "0.0.0.0", "--port", "0"])
    assert result.exit_code == 1
    assert "key_required" in result.output


def test_a_taken_port_is_a_plain_message() -> None:
    with bound_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(command, ["--port", str(port)])
    assert result.exit_code == 1
    assert f"Port {port} of 127.0.0.1 is taken" in result.output


def test_a_key_file_that_is_missing_is_a_plain_message(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["--api-key-file", str(tmp_path / "none")])
    assert result.exit_code == 1
    assert "bad_key_file" in result.output


@pytest.mark.parametrize("arguments", [["--port", "70000"], ["--threads", "-1"], ["--no-such-option"]])
def test_wrong_options_are_usage_errors(arguments: list[str]) -> None:
    assert CliRunner().invoke(command, arguments).exit_code == 2


def test_no_option_takes_the_key_itself() -> None:
    assert not [name for parameter in command.params for name in parameter.opts if name in ("--key", "--api-key")]
