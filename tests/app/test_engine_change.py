"""Another model without a gap: the new server is real, takes over only when it is ready, and else changes nothing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from bounded import wait_for
from running_server import eventually

from sayso.app.engine_change import EngineChange, EngineChangeError
from sayso.app.local_server import LocalServer
from sayso.app.snapshot import ServerKind

STAND_IN = """
import http.server, json, sys, threading
config = json.loads(sys.stdin.readline())
answers = {"bad": ("failed", "There is no device 'bad' here. Start the server again when that is mended."),
           "slow": ("loading", "")}
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        assert self.headers["Authorization"] == "Bearer " + config["key"]
        status, detail = answers.get(config["model"], ("ready", ""))
        body = json.dumps({"status": status, "engine": {"model": config["model"], "detail": detail}}).encode()
        self.send_response(503 if status == "failed" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Health)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"url": "ws://127.0.0.1:%d/v1/realtime" % server.server_address[1]}), flush=True)
sys.stdin.read()
"""


class Scene:
    """A local server in use, and how often speech was sent to it anew."""

    def __init__(self, kind: ServerKind) -> None:
        self.local = LocalServer(model="old", command=[sys.executable, "-c", STAND_IN])
        self.server = SimpleNamespace(view=SimpleNamespace(kind=kind), use_embedded=self.use_embedded)
        self.switched_to: list[str] = []
        self.alive_at_switch: list[bool] = []
        self.old_pid = 0
        server: Any = self.server
        self.change = EngineChange(self.local, server)

    async def use_embedded(self) -> None:
        self.alive_at_switch.append(psutil.pid_exists(self.old_pid))
        self.switched_to.append((await self.local.endpoint()).url)

    async def start(self) -> str:
        url = (await self.local.endpoint()).url
        self.old_pid = self.local.pid or 0
        return url

    def old_ended(self) -> None:
        wait_for(lambda: not psutil.pid_exists(self.old_pid), "the end of the old server", 15)


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    scene = Scene(ServerKind.EMBEDDED)
    yield scene
    await scene.local.close()


async def test_the_new_server_takes_over_when_it_is_ready_and_then_the_old_one_ends(scene: Scene) -> None:
    old = await scene.start()
    await scene.change.to("new", "cpu", 1)
    assert scene.switched_to == [(await scene.local.endpoint()).url] != [old]
    assert scene.alive_at_switch == [True]
    scene.old_ended()
    assert scene.local.pid not in (None, scene.old_pid)


async def test_a_model_that_cannot_be_loaded_changes_nothing_and_its_reason_is_told(scene: Scene) -> None:
    old = await scene.start()
    with pytest.raises(EngineChangeError) as caught:
        await scene.change.to("bad", "auto", 0)
    assert str(caught.value) == "There is no device 'bad' here."
    assert (await scene.local.endpoint()).url == old
    assert scene.local.pid == scene.old_pid
    assert scene.switched_to == []


async def test_cancelling_a_change_ends_the_new_server_only(scene: Scene) -> None:
    await scene.start()
    children = psutil.Process().children
    changing = asyncio.create_task(scene.change.to("slow", "auto", 0))
    await eventually(lambda: len(children()) == 2)
    changing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await changing
    wait_for(lambda: [child.pid for child in children()] == [scene.old_pid], "the end of the new server", 15)
    assert scene.local.pid == scene.old_pid


async def test_a_remote_server_chosen_meanwhile_leaves_no_local_one_behind(scene: Scene) -> None:
    await scene.start()
    changing = asyncio.create_task(scene.change.to("new", "auto", 0))
    await eventually(lambda: len(psutil.Process().children()) == 2)
    scene.server.view = SimpleNamespace(kind=ServerKind.REMOTE)
    async with asyncio.timeout(30):
        await changing
    assert scene.local.pid is None
    assert scene.switched_to == []
    scene.old_ended()


async def test_with_a_remote_server_nothing_is_started_and_the_choice_counts_later() -> None:
    scene = Scene(ServerKind.REMOTE)
    await scene.change.to("new", "cpu", 2)
    assert scene.local.pid is None
    assert scene.switched_to == []
    assert scene.local._config["model"] == "new"
