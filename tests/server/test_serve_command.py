"""``sayso serve`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sayso.app.cli.serve import command
from sayso.server.config import ServerConfig
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


def options(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> ServerConfig:
    """The configuration with which the command would serve."""
    seen: list[ServerConfig] = []

    async def run(config: ServerConfig, announce: object, *, once_ready: bool) -> None:
        seen.append(config)

    monkeypatch.setattr("sayso.server.run.run", run)
    result = CliRunner(env={"SAYSO_API_KEY": "", "SAYSO_ADMIN_KEY": ""}).invoke(command, list(arguments))
    assert result.exit_code == 0, result.output
    return seen[0]


def test_without_options_the_configuration_is_the_default_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert options(monkeypatch) == ServerConfig()


def test_a_file_gives_the_options_and_the_command_line_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(
        'model = "tiny.en"\nend-after = 600\nidle-close-after = 90.5\nmost-sessions = 8\n'
        'allow-origin = ["https://a.example", "https://b.example"]\n'
    )
    config = options(monkeypatch, "--end-after", "30", "--config", str(file))
    assert (config.model, config.idle_s, config.most_connections) == ("tiny.en", 90.5, 8)
    assert config.allow_origins == ("https://a.example", "https://b.example")
    assert config.engine_end_after_s == 30


@pytest.mark.parametrize("text", ["model = ", "no-such-name = 1", "port = 70000", "end-after = -1", 'end-after = "x"'])
def test_a_file_that_cannot_be_used_is_a_usage_error(text: str, tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(text)
    assert CliRunner().invoke(command, ["--config", str(file)]).exit_code == 2


def test_every_limit_is_in_the_help_under_its_group() -> None:
    lines = CliRunner().invoke(command, ["--help"]).output.splitlines()
    for group, name in (("Memory:", "--end-after"), ("Sessions:", "--session-limit"), ("Listening:", "--port")):
        after = lines[lines.index(group) + 1 :]
        of_group = after[: after.index("")] if "" in after else after
        assert any(line.strip().startswith(name) for line in of_group)
