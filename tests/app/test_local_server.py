"""The desktop's own server as a real child process: found, restarted, and never left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from bounded import wait_for

from sayso.app.local_server import LocalServer, LocalServerError
from sayso.app.snapshot import ServerKind

STAND_IN = """
import json, sys
config = json.loads(sys.stdin.readline())
assert config["host"] == "127.0.0.1" and config["port"] == 0 and config["key"] and config["model"] == "auto", config
print(json.dumps({"url": "ws://127.0.0.1:4000/v1/realtime"}), flush=True)
sys.stdin.read()
"""
REFUSING = """
import sys
sys.stdin.readline()
print('{"error": {"code": "bad_config", "message": "It cannot be."}}', flush=True)
sys.exit(1)
"""


def server(program: str) -> LocalServer:
    return LocalServer(command=[sys.executable, "-c", program])


async def test_the_servers_own_report_tells_where_it_is() -> None:
    local = server(STAND_IN)
    try:
        endpoint = await local.endpoint()
        assert endpoint.url == "ws://127.0.0.1:4000/v1/realtime"
        assert endpoint.kind is ServerKind.EMBEDDED
        assert endpoint.key
        assert await local.endpoint() == endpoint
    finally:
        await local.close()


async def test_spawning_twice_starts_one_process() -> None:
    local = server(STAND_IN)
    local.spawn()
    pid = local.pid
    local.spawn()
    assert local.pid == pid
    await local.close()
    assert local.pid is None


async def test_a_server_that_died_is_started_again() -> None:
    local = server(STAND_IN)
    try:
        await local.endpoint()
        first = local.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: local.pid is None, "the end of the server")
        await local.endpoint()
        assert local.pid not in (None, first)
    finally:
        await local.close()


async def test_what_the_server_reports_is_raised() -> None:
    local = server(REFUSING)
    with pytest.raises(LocalServerError, match="It cannot be") as caught:
        await local.endpoint()
    assert caught.value.code == "bad_config"
    await local.close()


@pytest.mark.parametrize("program", ["", "import sys; sys.exit(3)", "print('nonsense', flush=True)"])
async def test_a_server_that_ends_without_a_report_is_an_error_that_says_so(program: str) -> None:
    local = server(program)
    for _ in range(2):
        with pytest.raises(LocalServerError) as caught:
            await local.endpoint()
        assert caught.value.code == "server_failed"
    await local.close()


async def test_a_server_that_cannot_be_run_is_an_error() -> None:
    local = LocalServer(command=["/nowhere/python"])
    with pytest.raises(LocalServerError) as caught:
        await local.endpoint()
    assert caught.value.code == "server_missing"


async def test_closing_in_the_middle_of_a_start_ends_the_process() -> None:
    local = server("import sys; sys.stdin.read()")
    waiting = asyncio.create_task(local.endpoint())
    await asyncio.sleep(0)
    pid = local.pid
    assert pid is not None
    await local.close()
    with pytest.raises(LocalServerError):
        await waiting
    assert not psutil.pid_exists(pid)


def test_the_server_ends_when_its_owner_is_killed(tmp_path: Path) -> None:
    owner = f"""
import asyncio, sys
from sayso.app.local_server import LocalServer
async def main():
    local = LocalServer(command=[sys.executable, "-c", {STAND_IN!r}])
    await local.endpoint()
    print(local.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", owner], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    wait_for(lambda: not psutil.pid_exists(pid), "the end of the orphan")


async def test_ctrl_c_in_the_terminal_does_not_reach_the_server() -> None:
    local = server(STAND_IN)
    try:
        await local.endpoint()
        assert local.pid is not None
        assert os.getpgid(local.pid) != os.getpgid(0)
    finally:
        await local.close()
