"""The import contracts of pyproject.toml: each breaks when a line is written that it forbids, and only then."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("app", "engine", "server", "ui", "assets")

UI = "The windows take only what the app offers"
APP = "The app takes the protocol from the server"
SERVER = "The server takes the pipe's messages and framing"
ENGINE = "The engine knows nobody above it"
WIRE = "The wire protocol does no input or output"
DECIDING = "Deciding in the engine needs no torch"
TORCH = "No torch outside the engine"
QT = "Qt only in the windows"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source that may be spoilt, importable as sayso from its folder `path`."""
    folder = tmp_path_factory.mktemp("contracts")
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / "path" / "sayso" / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def report(tree: Path) -> str:
    """What the linter says of each contract, on one line."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(tree / "path"), "COLUMNS": "400"}
    ended = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert "Contracts:" in ended.stdout, ended.stdout + ended.stderr
    return " ".join(ended.stdout.split("Contracts:")[0].split())


def broken(tree: Path, file: str, line: str) -> str:
    """The linter's report after this line was added to this file."""
    path = tree / "path" / "sayso" / file
    before = path.read_text()
    path.write_text(f"{before}\n{line}\n")
    try:
        return report(tree)
    finally:
        path.write_text(before)


@pytest.mark.parametrize(
    ("contract", "file", "line"),
    [
        (UI, "ui/theme.py", "import sayso.server.protocol.events"),
        (APP, "app/snapshot.py", "import sayso.server.session"),
        (APP, "app/snapshot.py", "import sayso.engine.messages"),
        (SERVER, "server/session.py", "import sayso.engine.session"),
        (SERVER, "server/session.py", "import sayso.app.snapshot"),
        (ENGINE, "engine/loop.py", "import sayso.server.protocol.events"),
        (WIRE, "server/protocol/events.py", "import asyncio"),
        (DECIDING, "engine/scheduler.py", "import torch"),
        (DECIDING, "engine/messages.py", "import sayso.engine.modules.whisper_network"),
        (TORCH, "app/snapshot.py", "import torch"),
        (QT, "app/snapshot.py", "import PySide6.QtCore"),
        (QT, "app/snapshot.py", "import sayso.ui.theme"),
    ],
)
def test_a_contract_breaks_when_it_is_violated(tree: Path, contract: str, file: str, line: str) -> None:
    said = broken(tree, file, line)
    verdict = said.split(contract, 1)[1].split("KEPT")[0]
    assert "BROKEN" in verdict, said


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("app/snapshot.py", "import sayso.server.protocol.events"),
        ("app/cli/serve.py", "import sayso.server.session"),
        ("server/session.py", "import sayso.engine.messages"),
        ("engine/loop.py", "import torch"),
        ("app/__main__.py", "import PySide6.QtCore, qasync, sayso.ui.theme"),
    ],
)
def test_no_contract_breaks_by_what_is_allowed(tree: Path, file: str, line: str) -> None:
    assert "BROKEN" not in broken(tree, file, line)
