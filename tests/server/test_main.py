"""The desktop's own server: one line in, one line out, and its end with its standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bounded import child, read_line, wait_for

from sayso.server.run import bound_socket

COMMAND = [sys.executable, "-m", "sayso.server"]


def answer(line: bytes, log: Path) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(COMMAND, input=line, capture_output=True, timeout=30)
    log.write_bytes(done.stderr)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", "bad_config"),
        (b"nonsense\n", "bad_config"),
        (b'{"port": "many"}\n', "bad_config"),
        (b'{"host": "0.0.0.0", "port": 0}\n', "key_required"),
    ],
)
def test_a_configuration_that_cannot_work_is_one_line_of_error(line: bytes, code: str, tmp_path: Path) -> None:
    status, body = answer(line, tmp_path / "log")
    assert status == 1
    assert body["error"]["code"] == code
    assert body["error"]["message"]
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_taken_port_is_one_line_of_error(tmp_path: Path) -> None:
    with bound_socket("127.0.0.1", 0) as taken:
        line = json.dumps({"host": "127.0.0.1", "port": taken.getsockname()[1]}).encode() + b"\n"
        status, body = answer(line, tmp_path / "log")
    assert (status, body["error"]["code"]) == (1, "port_taken")


@pytest.mark.engine
def test_it_listens_before_the_engine_is_ready_and_ends_with_its_input(tmp_path: Path) -> None:
    with child(COMMAND, os.environ, tmp_path / "log", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"host":"127.0.0.1","port":0,"key":"k","model":"auto","device":"cpu","threads":1}\n')
        process.stdin.flush()
        line = json.loads(read_line(process.stdout.fileno(), "the URL", 20))
        assert line["url"].startswith("ws://127.0.0.1:")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.stdin.close()
        assert process.wait(15) == 0, (tmp_path / "log").read_text()
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), "the engine to end")
    assert "Traceback" not in (tmp_path / "log").read_text()
