"""``sayso models`` as a real child process: read as it speaks, refused, given up, and never left behind."""

from __future__ import annotations

import asyncio
import sys

import psutil
import pytest
from bounded import wait_for

from sayso.app.model_commands import ModelCommandError, run

LINES = "print('{\"a\": 1}'); print('{\"a\": 2}')"
FAULT = 'print(\'{"error": {"code": "hub_unreachable", "message": "No network."}}\'); raise SystemExit(1)'
WAITING = "import os, sys; print('{\"pid\": %d}' % os.getpid(), flush=True); sys.stdin.read()"


def program(text: str) -> list[str]:
    return [sys.executable, "-c", text]


async def test_each_line_is_given_as_it_comes_and_the_end_is_waited_for() -> None:
    lines: list[bytes] = []
    await run([], lines.append, 30, program(LINES))
    assert lines == [b'{"a": 1}\n', b'{"a": 2}\n']


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (FAULT, "hub_unreachable", "No network."),
        ("print('nonsense')", "models_failed", "cannot be read"),
        ("raise SystemExit(3)", "models_failed", "log"),
    ],
)
async def test_what_goes_wrong_is_a_coded_error(text: str, code: str, words: str) -> None:
    with pytest.raises(ModelCommandError, match=words) as caught:
        await run([], lambda line: None, 30, program(text))
    assert caught.value.code == code


async def test_a_program_that_cannot_be_run_is_an_error() -> None:
    with pytest.raises(ModelCommandError) as caught:
        await run([], lambda line: None, 30, ["/nowhere/sayso"])
    assert caught.value.code == "models_missing"


async def test_cancelling_ends_the_child() -> None:
    pids: asyncio.Queue[int] = asyncio.Queue()
    task = asyncio.create_task(
        run([], lambda line: pids.put_nowait(int(line.split()[1].rstrip(b"}"))), 60, program(WAITING))
    )
    async with asyncio.timeout(30):
        pid = await pids.get()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    wait_for(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE, "its end", 15)


async def test_a_child_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(ModelCommandError, match="given up") as caught:
        await run([], lambda line: None, 0.5, program("import sys; sys.stdin.read()"))
    assert caught.value.code == "models_slow"


async def test_a_child_that_says_all_and_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayso.app.model_commands._END_S", 0.2)
    with pytest.raises(ModelCommandError, match="did not end") as caught:
        await run([], lambda line: None, 30, program("import os, sys; os.close(1); sys.stdin.read()"))
    assert caught.value.code == "models_failed"
