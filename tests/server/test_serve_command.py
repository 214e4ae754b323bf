"""``sayso serve`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sayso.app.cli.serve import command
from sayso.server.config import ServerConfig
from sayso.server.limits import RunningLimits
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


NAMES = {
    field: next(opt for opt in each.opts if opt.startswith("--"))
    for each in command.params
    for field in [each.name]
    if field in RunningLimits.__struct_fields__
}
"""The option of every limit."""


def test_every_limit_is_in_the_help_under_its_group_with_its_unit() -> None:
    assert NAMES.keys() == set(RunningLimits.__struct_fields__)
    lines = CliRunner().invoke(command, ["--help"]).output.splitlines()
    groups = [lines.index(name) for name in ("Memory:", "Sessions:", "Other:")]
    of_limits = [line.split() for line in lines[groups[0] : groups[2]]]
    for field, option in NAMES.items():
        (shown,) = [parts for parts in of_limits if parts[:1] == [option]]
        assert len(shown) > 3, f"{option} is not explained"
        if field.endswith("_s"):
            assert shown[1] == "SECONDS"
    assert any(line.strip().startswith("--port") for line in lines[lines.index("Listening:") : groups[0]])


def test_every_limit_can_be_set_by_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wanted = {field: 11 + number for number, field in enumerate(NAMES)}
    file = tmp_path / "serve.toml"
    file.write_text("".join(f"{NAMES[field].lstrip('-')} = {value}\n" for field, value in wanted.items()))
    config = options(monkeypatch, "--config", str(file))
    assert {field: getattr(config, field) for field in NAMES} == wanted
