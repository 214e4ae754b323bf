"""What a control client can have done, and that no client can do more: over a real socket, from real processes."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sayso.app.control_server import ControlServer
from sayso.app.single_instance import claim

CLIENT = """
import contextlib, socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.settimeout(10)
    connection.connect(sys.argv[1])
    answer = b""
    # A server that hangs up without reading what came resets the connection.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(b"toggle\\n")
        answer = connection.makefile("rb").read()
    print(answer)
"""


@dataclass
class Running:
    """A server in this process, and what it was asked to do."""

    path: Path
    done: list[str] = field(default_factory=list)
    closing: bool = False

    async def ask(self, line: bytes) -> bytes:
        reader, writer = await asyncio.open_unix_connection(self.path)
        writer.write(line)
        answer = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        return answer


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    where = Path(tempfile.mkdtemp())
    instance = claim(where)
    assert instance is not None
    made = Running(where / "control")
    server = ControlServer(
        {"toggle": lambda: made.done.append("toggle")}, {"show": made.done.append}, lambda: made.closing
    )
    with instance:
        await server.start(instance)
        yield made
        server.close()
    shutil.rmtree(where)


async def test_a_known_word_is_done(running: Running) -> None:
    assert await running.ask(b"toggle\n") == b"done\n"
    assert running.done == ["toggle"]


async def test_what_shows_something_takes_the_leave_to_be_in_front(running: Running) -> None:
    assert await running.ask(b"show a-leave_1\n") == b"done\n"
    assert await running.ask(b"show\n") == b"done\n"
    assert running.done == ["a-leave_1", ""]


@pytest.mark.parametrize("line", [b"format\n", b"\n", b"toggle now\n", b"\xff\xfe\n", b"toggle\r\n"])
async def test_anything_else_is_refused(running: Running, line: bytes) -> None:
    assert await running.ask(line) == b"refused\n"
    assert running.done == []


async def test_a_line_too_long_is_hung_up_on(running: Running) -> None:
    try:
        answer = await running.ask(b"toggle" + b" " * 1000 + b"\n")
    except ConnectionError:
        answer = b""
    assert answer == b""
    assert await running.ask(b"toggle\n") == b"done\n"


async def test_more_than_a_few_clients_at_once_are_hung_up_on(running: Running) -> None:
    silent = [await asyncio.open_unix_connection(running.path) for _ in range(8)]
    try:
        answer = await running.ask(b"toggle\n")
    except ConnectionError:
        answer = b""
    assert answer == b""
    assert running.done == []
    for _, writer in silent:
        writer.close()


async def test_silent_clients_do_not_keep_others_away_for_good(running: Running) -> None:
    silent = [await asyncio.open_unix_connection(running.path) for _ in range(20)]
    await asyncio.wait_for(asyncio.gather(*(reader.read() for reader, _ in silent)), 10)
    for _, writer in silent:
        writer.close()
    assert await running.ask(b"toggle\n") == b"done\n"


async def test_while_it_ends_nothing_is_done(running: Running) -> None:
    running.closing = True
    assert await running.ask(b"toggle\n") == b"closing\n"
    assert running.done == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
async def test_another_user_is_refused_even_where_the_socket_is_open_to_all(running: Running) -> None:
    running.path.parent.chmod(0o711)
    running.path.chmod(0o666)
    for user, answer in ((0, b"done\n"), (65534, b"")):
        client = await asyncio.create_subprocess_exec(
            "/usr/bin/python3", "-c", CLIENT, str(running.path), user=user, stdout=subprocess.PIPE
        )
        printed, _ = await asyncio.wait_for(client.communicate(), 20)
        assert printed.strip() == repr(answer).encode()
    assert running.done == ["toggle"]
