"""``sayso toggle`` and its like: each asks its own word, and says it when nothing runs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from sayso.app.cli.control import WORDS
from sayso.app.cli.main import main
from sayso.app.single_instance import claim, folder


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return folder({"XDG_RUNTIME_DIR": str(tmp_path)})


@pytest.mark.parametrize("word", WORDS)
def test_each_command_asks_its_own_word(where: Path, word: str) -> None:
    instance = claim(where)
    assert instance is not None
    asked = []

    def serve() -> None:
        connection, _ = instance.listening.accept()
        with connection:
            asked.append(connection.recv(128))
            connection.sendall(b"done\n")

    with instance:
        instance.listening.settimeout(10)
        serving = threading.Thread(target=serve)
        serving.start()
        result = CliRunner().invoke(main, [word])
        serving.join(10)
    assert (result.exit_code, result.output) == (0, "")
    assert asked == [f"{word}\n".encode()]


@pytest.mark.parametrize("word", WORDS)
def test_with_nothing_running_it_says_so_and_fails(where: Path, word: str) -> None:
    result = CliRunner().invoke(main, [word])
    assert result.exit_code == 1
    assert "Sayso is not running" in result.output
