"""What the server answers over HTTP."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
from pathlib import Path
from typing import Any

import httpx
from running_server import BOUND_S, client, scripted, server


async def get(url: str, path: str, **options: Any) -> httpx.Response:
    base = url.replace("ws://", "http://").removesuffix("/v1/realtime")
    async with httpx.AsyncClient(trust_env=False) as http:
        return await http.get(base + path, **options)


async def test_health_tells_the_engines_state() -> None:
    async with server() as url, client(url):
        answer = await get(url, "/health")
        assert answer.status_code == 200
        body = answer.json()
        assert (body["status"], body["sessions"]) == ("ready", 1)
        assert body["engine"]["model"] == "scripted"
        assert body["engine"]["restarts"] == 0
        engine = body["engine"]
        assert (engine["device"], engine["devices"]) == ("cpu", ["cuda", "cpu"])
        assert engine["startup_ms"] == engine["start_ms"] > engine["reload_ms"] == 0
        assert body["server"]["pid"] == os.getpid() != engine["pid"]
        assert min(body["server"]["resident_bytes"], engine["resident_bytes"]) > 1_000_000


async def test_the_version_is_told_as_vllm_tells_its_own() -> None:
    async with server() as url:
        answer = await get(url, "/version")
    assert answer.json() == {"version": importlib.metadata.version("sayso")}


async def test_a_loading_engine_is_healthy_because_no_audio_is_lost(tmp_path: Path) -> None:
    async with server(scripted("--ready-file", tmp_path / "never"), once_ready=False) as url:
        answer = await get(url, "/health")
        assert (answer.status_code, answer.json()["status"]) == (200, "loading")


async def test_an_engine_that_cannot_load_is_not_healthy() -> None:
    async with server(scripted("--fail-load", "bad_hash"), once_ready=False) as url:
        async with asyncio.timeout(BOUND_S):
            while True:
                answer = await get(url, "/health")
                if answer.status_code != 200:
                    break
                await asyncio.sleep(0.02)
        assert answer.status_code == 503
        assert "fetch them again" in answer.json()["engine"]["detail"]


async def test_the_models_are_listed() -> None:
    async with server(scripted(model="large")) as url:
        body = (await get(url, "/v1/models")).json()
        assert body["object"] == "list"
        assert {model["id"] for model in body["data"]} == {"auto", "large"}


async def test_plain_http_on_the_realtime_path_says_what_it_is() -> None:
    async with server() as url:
        answer = await get(url, "/v1/realtime")
        assert (answer.status_code, answer.json()["code"]) == (426, "upgrade_required")


async def test_what_does_not_exist_is_not_found() -> None:
    async with server() as url:
        assert (await get(url, "/v1/nothing")).status_code == 404
