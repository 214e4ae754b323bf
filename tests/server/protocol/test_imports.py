"""The protocol and what decides stay pure: no sockets, clocks or threads of their own, no engine but its messages."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sayso.server.protocol as protocol

SERVER = Path(protocol.__path__[0]).parent
PURE = [*sorted((SERVER / "protocol").rglob("*.py"))] + [
    SERVER / name for name in ("turns.py", "inbox.py", "link.py", "lanes.py", "watchdog.py", "restart.py")
]


def imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("file", PURE, ids=lambda file: file.name)
def test_deciding_modules_do_no_input_or_output(file: Path) -> None:
    roots = {name.split(".")[0] for name in imported(file)}
    assert not roots & {"asyncio", "socket", "threading", "time", "starlette", "uvicorn", "subprocess", "os"}


@pytest.mark.parametrize("file", sorted((SERVER / "protocol").rglob("*.py")), ids=lambda file: file.name)
def test_the_protocol_knows_no_engine(file: Path) -> None:
    assert not [name for name in imported(file) if name.startswith("sayso.engine")]


@pytest.mark.parametrize("file", sorted(SERVER.rglob("*.py")), ids=lambda file: file.name)
def test_the_server_takes_only_messages_and_framing_from_the_engine(file: Path) -> None:
    taken = {".".join(name.split(".")[:3]) for name in imported(file) if name.startswith("sayso.engine")}
    assert taken <= {"sayso.engine", "sayso.engine.messages", "sayso.engine.framing"}
    assert not {name for name in imported(file) if name.split(".")[0] in ("torch", "transformers", "pydantic")}
