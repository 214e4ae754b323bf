"""What the keeper of a server may ask over HTTP. Real sockets and a scripted engine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import websockets
from prometheus_client.parser import text_string_to_metric_families
from running_server import BOUND_S, ask, client, eventually, scripted, server
from supervised_engine import alive, engine_pid

from sayso.server.config import ServerConfig
from sayso.server.security import Gate


async def test_sessions_are_listed_with_what_they_hold() -> None:
    async with server() as url, client(url) as c, client(url) as other:
        await c.choose()
        created = await other.expect("session.created")
        await c.audio(1.5)
        await c.send("session.update", model="auto")
        await c.expect("session.updated")
        data = (await ask(url, "GET", "/v1/sessions")).json()["data"]
        assert [session["state"] for session in data] == ["ready", "new"]
        assert [session["waiting_ms"] for session in data] == [1500, 0]
        assert data[1]["id"] == created["id"]
        assert data[0]["age_s"] >= data[0]["idle_s"] >= 0
        assert {"kv", "audio", "features"} <= data[0]["bytes"].keys()


async def test_a_session_is_ended_with_a_reason_after_its_turn() -> None:
    async with server() as url, client(url) as c, client(url) as other:
        await c.expect("session.created")
        await c.send("session.update", model="auto")
        name = (await c.expect("session.updated"))["id"]
        await other.choose()
        await c.start()
        await c.audio(0.75)
        assert (await c.expect("transcription.delta"))["delta"] == "w0"
        assert (await ask(url, "DELETE", f"/v1/sessions/{name}")).status_code == 202
        assert (await c.until("transcription.done"))[-1]["text"] == "w0 w1"
        assert (await c.expect("error"))["code"] == "session_closed"
        with pytest.raises(websockets.ConnectionClosedOK):
            await c.next()
        assert await other.transcribe(0.5) == "w0"
        answer = await ask(url, "DELETE", f"/v1/sessions/{name}")
        assert (answer.status_code, answer.json()["code"]) == (404, "session_not_found")


async def test_the_engine_is_ended_at_once_on_request_and_the_server_stays_healthy() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        pid = await engine_pid(url)
        answer = await ask(url, "POST", "/v1/engine/unload", json={"end": True})
        assert (answer.status_code, answer.json()) == (200, {"state": "idle", "done": True})
        await eventually(lambda: not alive(pid))
        health = await ask(url, "GET", "/health")
        assert (health.status_code, health.json()["status"]) == (200, "idle")
        assert await c.transcribe(1.0) == "w0 w1"


async def test_the_weights_are_unloaded_after_the_open_turn() -> None:
    async with server() as url, client(url) as c:
        await c.choose("engine")
        await c.expect("sayso.engine")
        await c.start()
        await c.audio(0.5)
        await c.expect("transcription.delta")
        answer = await ask(url, "POST", "/v1/engine/unload")
        assert (answer.status_code, answer.json()) == (202, {"state": "ready", "done": False})
        await c.end()
        assert (await c.expect("transcription.done"))["text"] == "w0"
        assert (await c.expect("sayso.engine"))["state"] == "idle"
        await c.audio(0.5)
        assert [(await c.expect("sayso.engine"))["state"] for _ in range(2)] == ["loading", "ready"]


async def test_limits_change_at_once_for_engine_and_open_sessions(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with server(scripted("--log", log)) as url, client(url) as c:
        await c.choose("engine", "idle")
        assert (await c.expect("sayso.engine"))["state"] == "ready"
        assert (await ask(url, "GET", "/v1/limits")).json()["idle_s"] == 0
        pid = await engine_pid(url)
        wanted = {"idle_s": 0.4, "park_after_s": 7, "most_host_mb": 2}
        answer = await ask(url, "PATCH", "/v1/limits", json=wanted)
        assert answer.status_code == 200
        assert answer.json() == (await ask(url, "GET", "/v1/limits")).json()
        assert wanted.items() <= answer.json().items()
        events = await c.until("error")
        assert events[-1]["code"] == "idle_timeout"
        await eventually(lambda: "Retain Retention(park_s=7.0" in log.read_text())
        await ask(url, "PATCH", "/v1/limits", json={"engine_end_after_s": 0.05})
        await eventually(lambda: not alive(pid))
        await ask(url, "POST", "/v1/engine/start")
        await eventually(lambda: "Load Retention(park_s=7.0" in log.read_text())


async def test_more_sessions_may_be_allowed_while_the_server_runs() -> None:
    config = ServerConfig(port=0, most_connections=1)
    async with server(config=config) as url, client(url) as c:
        await c.choose()
        async with client(url) as refused:
            assert (await refused.expect("error"))["code"] == "session_limit"
        await ask(url, "PUT", "/v1/limits", json={"most_connections": 2})
        async with client(url) as other:
            await other.choose()
            assert await other.transcribe(0.5) == "w0"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid_json"),
        (b"[]", "invalid_json"),
        (b'{"idle": 1}', "bad_limit"),
        (b'{"idle_s": -1}', "bad_limit"),
        (b'{"idle_s": "1"}', "bad_limit"),
        (b'{"session_s": 9, "most_connections": 0}', "bad_limit"),
        (b"x" * 5000, "too_large"),
    ],
)
async def test_limits_that_make_no_sense_change_nothing(body: bytes, code: str) -> None:
    async with server() as url:
        before = (await ask(url, "GET", "/v1/limits")).json()
        answer = await ask(url, "PATCH", "/v1/limits", content=body)
        assert (answer.status_code, answer.json()["code"]) == (400, code)
        assert (await ask(url, "GET", "/v1/limits")).json() == before


async def test_a_session_is_parked_on_request_and_shown_where_it_is() -> None:
    async with server() as url, client(url) as c:
        name = (await c.choose())["id"]
        answer = await ask(url, "POST", f"/v1/sessions/{name}/park")
        assert (answer.status_code, answer.json()["code"]) == (409, "nothing_held")
        assert await c.transcribe(0.5) == "w0"
        answer = await ask(url, "POST", f"/v1/sessions/{name}/park", json={"tier": "host"})
        assert (answer.status_code, answer.json()["tier"]) == (202, "host")
        async with asyncio.timeout(BOUND_S):
            while True:
                (shown,) = (await ask(url, "GET", "/v1/sessions")).json()["data"]
                if shown["tier"] == "host":
                    break
        assert (shown["engine_state"], shown["bytes"]["kv_host"], shown["connected"]) == ("parked", 1000, True)
        text = (await ask(url, "GET", "/metrics")).text
        assert 'sayso_parks_total{tier="host"} 1.0\n' in text
        assert 'sayso_park_seconds_total{tier="host"} 0.002\n' in text
        assert (await ask(url, "POST", "/v1/sessions/nobody/park")).status_code == 404
        assert (await ask(url, "POST", f"/v1/sessions/{name}/park", json={"tier": "moon"})).status_code == 400
        await ask(url, "POST", "/v1/engine/unload", json={"end": True})
        answer = await ask(url, "POST", f"/v1/sessions/{name}/park")
        assert (answer.status_code, answer.json()["code"]) == (409, "engine_not_ready")


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"all": true}', b'{"end": 1}'])
async def test_a_body_that_cannot_be_read_is_refused_and_nothing_is_unloaded(body: bytes) -> None:
    async with server() as url:
        assert (await ask(url, "POST", "/v1/engine/unload", content=body)).status_code == 400
        assert (await ask(url, "GET", "/health")).json()["status"] == "ready"


async def test_prometheus_reads_the_figures() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        answer = await ask(url, "GET", "/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        samples = {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }
        assert samples["sayso_connections",] == 1
        assert samples["sayso_sessions", "ready"] == 1
        assert samples["sayso_session_bytes", "kv"] == 0
        assert samples["sayso_engine_starts_total",] == 1
        await ask(url, "POST", "/v1/engine/unload", json={"end": True})
        text = (await ask(url, "GET", "/metrics")).text
        assert "sayso_engine_ends_total 1.0\n" in text
        assert "sayso_engine_ready 0.0\n" in text


KEY, ADMIN = b"Bearer client-key", b"Bearer admin-key"


def test_only_this_machine_or_the_admin_key_administers() -> None:
    gate = Gate("client-key", (), "admin-key")
    assert gate.admin_refusal({}, "127.0.0.1") is None
    assert gate.admin_refusal({}, "::1") is None
    assert gate.admin_refusal({}, "::ffff:127.0.0.1") is None
    assert gate.admin_refusal({b"authorization": ADMIN}, "192.0.2.1") is None
    for headers, peer in (
        ({b"authorization": KEY}, "192.0.2.1"),
        ({}, ""),
        ({}, "::ffff:192.0.2.1"),
        ({b"authorization": KEY, b"x-forwarded-for": b"192.0.2.1"}, "127.0.0.1"),
    ):
        refusal = gate.admin_refusal(headers, peer)
        assert refusal is not None
        assert refusal.code == "admin_only"


def test_without_an_admin_key_no_key_administers_from_elsewhere() -> None:
    for authorization in (KEY, b"Bearer ", b""):
        assert Gate("client-key", ()).admin_refusal({b"authorization": authorization}, "192.0.2.1") is not None


async def test_the_admin_key_opens_what_the_key_opens_and_figures_need_one_of_them() -> None:
    config = ServerConfig(port=0, key="client-key", admin_key="admin-key")
    async with server(config=config) as url:
        for authorization, status in ((KEY, 200), (ADMIN, 200), (b"Bearer wrong", 401)):
            headers = {"Authorization": authorization.decode()}
            assert (await ask(url, "GET", "/metrics", headers=headers)).status_code == status
            assert (await ask(url, "GET", "/v1/sessions", headers=headers)).status_code == status
        proxied = {"Authorization": KEY.decode(), "X-Forwarded-For": "192.0.2.1"}
        assert (await ask(url, "GET", "/v1/sessions", headers=proxied)).status_code == 403
        assert (await ask(url, "DELETE", "/v1/sessions/x", headers=proxied)).status_code == 403
        for path in ("/v1/engine/unload", "/v1/engine/start", "/v1/sessions/x/park"):
            assert (await ask(url, "POST", path, headers=proxied)).status_code == 403
        for method in ("GET", "PATCH", "PUT"):
            assert (await ask(url, method, "/v1/limits", headers=proxied)).status_code == 403
