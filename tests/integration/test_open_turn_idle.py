"""A client says a little, then nothing, and never ends its turn: it is put away like any other, and closed in order."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import websockets
from running_server import client, server
from served_days import Keeper
from session_callers import REPLY_S
from speech import pcm16
from tiny_voxtral import build, warbling

from sayso.server.config import ServerConfig
from sayso.server.run import engine_settings

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]


async def test_it_waits_is_parked_and_dropped_and_then_its_turn_is_finished_and_it_is_closed(tmp_path: Path) -> None:
    config = ServerConfig(port=0, model=str(build(tmp_path / "tiny")), threads=1)
    async with server(engine_settings(config), config, once_ready=False) as url, client(url) as c:
        keeper = Keeper(url)
        await keeper.until_engine("ready")
        await c.choose("idle", model="tiny")
        await c.start()
        await c.send("input_audio_buffer.append", audio=base64.b64encode(pcm16(warbling(1.0))).decode())

        async def until(state: str) -> dict[str, Any]:
            (row,) = await keeper.until_sessions(lambda rows: rows[0]["engine_state"] == state)
            assert row["state"] == "streaming"
            return row

        waiting = await until("waiting")
        assert waiting["bytes"]["kv"] > 0
        await keeper.limit(park_after_s=0.1)
        assert (await until("parked"))["bytes"]["kv"] == 0
        await keeper.limit(drop_after_s=0.2)
        assert (await until("dropped"))["bytes"]["kv_host"] == 0
        await keeper.limit(idle_s=1.0, idle_warning_s=0.5)
        events = [await c.next(REPLY_S)]
        while events[-1]["type"] != "error":
            events.append(await c.next(REPLY_S))
        kinds = [event["type"] for event in events]
        # On a slow machine the client is idle for longer than the bound when that comes: then without a warning.
        assert kinds[-2:] == ["transcription.done", "error"]
        assert set(kinds[:-2]) <= {"transcription.delta", "sayso.idle"}
        assert (events[-1]["code"], events[-1]["turn_lost"]) == ("idle_timeout", False)
        assert events[-2]["text"] == "".join(event.get("delta", "") for event in events)
        with pytest.raises(websockets.ConnectionClosedOK):
            await c.next(REPLY_S)
        assert c.socket.close_code == 1000
        await keeper.until_sessions(lambda rows: not rows)
        await keeper.close()
