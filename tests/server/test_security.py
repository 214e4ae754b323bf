"""Who is let in, and what logs show."""

from __future__ import annotations

import logging

import httpx
import pytest
import websockets
from running_server import client, server

from sayso.server.config import ServerConfig
from sayso.server.logs import set_up_logging
from sayso.server.security import Gate

KEY = "sesame-1234"
GUARDED = ServerConfig(port=0, key=KEY)


async def refused(url: str, **headers: str) -> tuple[int, dict[str, str]]:
    with pytest.raises(websockets.InvalidStatus) as caught:
        await websockets.connect(url, proxy=None, additional_headers=headers)
    response = caught.value.response
    assert response.headers["content-type"] == "application/json"
    return response.status_code, httpx.Response(200, content=bytes(response.body or b"")).json()


async def test_a_wrong_key_gets_401_before_the_upgrade() -> None:
    async with server(config=GUARDED) as url:
        for authorization in (None, "Bearer wrong", f"Basic {KEY}", KEY, f"Bearer {KEY}x", "Bearer "):
            headers = {"Authorization": authorization} if authorization else {}
            status, body = await refused(url, **headers)
            assert (authorization, status, body["code"]) == (authorization, 401, "unauthorized")
            assert KEY not in body["error"]


async def test_the_right_key_gets_in_and_a_key_in_the_query_does_not() -> None:
    async with server(config=GUARDED) as url:
        async with client(url, additional_headers={"Authorization": f"Bearer {KEY}"}) as c:
            await c.choose()
            assert await c.transcribe(0.5) == "w0"
        status, _ = await refused(f"{url}?api_key={KEY}")
        assert status == 401


async def test_http_under_v1_needs_the_key_and_health_does_not() -> None:
    async with server(config=GUARDED) as url:
        base = url.replace("ws://", "http://").removesuffix("/v1/realtime")
        async with httpx.AsyncClient(trust_env=False) as http:
            assert (await http.get(f"{base}/v1/models")).status_code == 401
            assert (await http.get(f"{base}/v1/models", headers={"Authorization": f"Bearer {KEY}"})).status_code == 200
            assert (await http.get(f"{base}/health")).status_code == 200


async def test_a_web_page_is_refused() -> None:
    async with server() as url:
        for origin in ("https://evil.example", "http://127.0.0.1", "null", ""):
            status, body = await refused(url, Origin=origin)
            assert (origin, status, body["code"]) == (origin, 403, "origin_refused")


async def test_a_page_whose_own_name_leads_here_is_answered_before_anything_is_told() -> None:
    async with server() as url:
        address = f"{url.replace('ws://', 'http://').removesuffix('/realtime')}/sessions"
        async with httpx.AsyncClient(trust_env=False) as http:
            answer = await http.get(address, headers={"Host": "evil.example:8000"})
            assert (answer.status_code, answer.json()["code"]) == (421, "host_refused")
            assert (await http.get(address)).status_code == 200


async def test_an_allowed_page_gets_in() -> None:
    config = ServerConfig(port=0, allow_origins=("https://app.example/",))
    async with server(config=config) as url:
        async with client(url, additional_headers={"Origin": "https://app.example"}) as c:
            await c.expect("session.created")
        assert (await refused(url, Origin="https://app.example.evil"))[0] == 403


def test_a_star_allows_every_page_but_no_one_without_the_key() -> None:
    gate = Gate(KEY, ["*"])
    assert gate.refusal({b"origin": b"https://a", b"authorization": f"bearer {KEY}".encode()}) is None
    refusal = gate.refusal({b"origin": b"https://a"})
    assert refusal is not None
    assert refusal.status == 401


@pytest.mark.parametrize(
    ("host", "code"),
    [
        (b"127.0.0.1:8000", None),
        (b"localhost", None),
        (b"[::1]:8000", None),
        (b"app.example:8000", None),
        (b"evil.example:8000", "host_refused"),
        (b"127.0.0.1.evil.example", "host_refused"),
        (b"[evil", "host_refused"),
    ],
)
def test_a_page_whose_own_name_leads_here_is_refused_where_no_key_is_asked_for(host: bytes, code: str | None) -> None:
    refusal = Gate("", ["https://app.example"]).refusal({b"host": host})
    assert (refusal and refusal.code) == code
    assert refusal is None or refusal.status == 421
    guarded = Gate(KEY, []).refusal({b"host": host, b"authorization": f"Bearer {KEY}".encode()})
    assert guarded is None


async def test_query_strings_do_not_reach_the_log(caplog: pytest.LogCaptureFixture) -> None:
    set_up_logging(logging.DEBUG)
    caplog.set_level(logging.DEBUG)
    async with server() as url, client(f"{url}?api_key={KEY}") as c:
        await c.choose()
        await c.transcribe(0.5)
    assert "/v1/realtime" in caplog.text
    assert KEY not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("uvicorn"))
    assert KEY not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("sayso"))


async def test_speech_does_not_reach_the_log(caplog: pytest.LogCaptureFixture) -> None:
    set_up_logging(logging.DEBUG)
    caplog.set_level(logging.DEBUG)
    async with server() as url, client(url) as c:
        await c.choose("partial", "words")
        assert await c.transcribe(1.25) == "w0 w1 w2"
    own = [record.getMessage() for record in caplog.records if record.name.startswith(("sayso", "uvicorn"))]
    assert own
    assert not [line for line in own if "w1" in line]
