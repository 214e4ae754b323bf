"""Taking a port, announcing the URL, and ending on signals: the server as a process of its own where it must be."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from bounded import child, read_line, wait_for
from running_server import SCRIPT, client, scripted, server

from sayso.engine.messages import Retention
from sayso.server.config import ServerConfig
from sayso.server.errors import ServerError
from sayso.server.idle import IdleSettings
from sayso.server.run import bound_socket, engine_settings, url_of


def test_a_taken_port_is_named_and_another_is_suggested() -> None:
    with bound_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServerError, match=f"Port {port} of 127.0.0.1 is taken") as caught:
            bound_socket("127.0.0.1", port)
        assert caught.value.code == "port_taken"
        assert "--port" in caught.value.message


def test_a_host_that_is_not_ours_is_an_error() -> None:
    with pytest.raises(ServerError) as caught:
        bound_socket("203.0.113.1", 0)
    assert caught.value.code == "bad_host"


def test_the_url_has_the_real_port_and_brackets_where_needed() -> None:
    with bound_socket("127.0.0.1", 0) as sock:
        assert url_of("127.0.0.1", sock) == f"ws://127.0.0.1:{sock.getsockname()[1]}/v1/realtime"
        assert url_of("::1", sock).startswith("ws://[::1]:")


async def test_a_port_taken_starts_no_engine(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with bound_socket("127.0.0.1", 0) as taken:
        config = ServerConfig(port=taken.getsockname()[1])
        with pytest.raises(ServerError, match="taken"):
            async with server(scripted("--log", log), config):
                pass
    assert not log.exists()


async def test_with_once_ready_the_url_comes_only_when_the_engine_can_transcribe(tmp_path: Path) -> None:
    gate = tmp_path / "ready"
    asyncio.get_running_loop().call_later(0.3, gate.touch)
    async with server(scripted("--ready-file", gate)) as url, client(url) as c:
        assert gate.exists()
        await c.choose("engine")
        assert (await c.expect("sayso.engine"))["state"] == "ready"


PROGRAM = """
import asyncio, sys
from sayso.server.config import ServerConfig
from sayso.server.engine_settings import EngineSettings
from sayso.server.run import run
settings = EngineSettings(command=(sys.executable, *sys.argv[1:]))
asyncio.run(run(ServerConfig(port=0), lambda url: print(url, flush=True), once_ready=True, settings=settings))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_server_and_engine_in_order(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(SCRIPT), "--log", str(tmp_path / "engine")]
    with child(command, os.environ, tmp_path / "log", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        url = read_line(process.stdout.fileno(), "the URL", 20)
        port = int(url.rpartition(":")[2].partition("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            process.send_signal(number)
            assert process.wait(10) == 0, (tmp_path / "log").read_text()
    assert (tmp_path / "engine").read_text().splitlines()[-1] == "Stop -"
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_killed_server_leaves_no_engine(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(SCRIPT)]
    with child(command, os.environ, tmp_path / "log", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        read_line(process.stdout.fileno(), "the URL", 20)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == 1
        process.kill()
        process.wait(5)
        wait_for(lambda: not Path(f"/proc/{children[0]}").exists(), "the engine to end with the server's pipe")


def test_the_engine_is_told_when_to_give_memory_back() -> None:
    settings = engine_settings(ServerConfig(park_after_s=5, drop_after_s=60, most_device_mb=2, engine_end_after_s=600))
    assert settings.retention == Retention(park_s=5, drop_s=60, device_bytes=2_000_000)
    assert settings.idle == IdleSettings(end_after_s=600)


def test_memory_is_kept_unless_the_configuration_says_otherwise() -> None:
    settings = engine_settings(ServerConfig())
    assert (settings.retention, settings.idle) == (Retention(), IdleSettings())


def test_a_server_needs_neither_numpy_nor_what_the_engine_or_the_desktop_need() -> None:
    """Each would cost every server 10 MB or more for as long as it listens."""
    program = (
        "import sys, sayso.server.__main__, sayso.server.app, uvicorn.protocols.http.h11_impl\n"
        "import uvicorn.protocols.websockets.websockets_sansio_impl\n"
        "print([name for name in ('numpy', 'psutil', 'torch', 'PySide6', 'hassil') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
