"""The HTTP side: ``/health`` for whoever watches the server, ``/v1/models`` for clients that look there first."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from sayso.server.engine_client import EngineClient, EngineStatus


class HttpEndpoints:
    def __init__(self, engine: EngineClient, connections: Callable[[], int]) -> None:
        """``connections`` tells how many clients are connected now."""
        self._engine = engine
        self._connections = connections
        self._started_s = int(time.time())

    async def health(self, request: Request) -> JSONResponse:
        """200 with the engine's state; 503 only when it cannot serve: audio sent while it loads is not lost."""
        status = self._engine.status
        serves = status.news.state != "failed"
        body = {"status": status.news.state, "sessions": self._connections(), "engine": _engine_facts(status)}
        return JSONResponse(body, status_code=200 if serves else 503)

    async def models(self, request: Request) -> JSONResponse:
        names = sorted(self._engine.served.names)
        data = [{"id": name, "object": "model", "created": self._started_s, "owned_by": "sayso"} for name in names]
        return JSONResponse({"object": "list", "data": data})

    async def not_a_websocket(self, request: Request) -> JSONResponse:
        body = {"error": "This is a WebSocket: connect with ws:// or wss://.", "code": "upgrade_required"}
        return JSONResponse(body, status_code=426, headers={"Upgrade": "websocket"})


def _engine_facts(status: EngineStatus) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "state": status.news.state,
        "detail": status.news.detail,
        "restarts": status.restarts,
        "startup_ms": status.startup_ms,
    }
    if status.ready is not None:
        facts |= {
            "model": status.ready.model,
            "device": status.ready.device,
            "threads": status.ready.threads,
            "languages": list(status.ready.languages),
            "load_ms": status.ready.load_ms,
        }
    if status.memory is not None:
        facts["resident_bytes"] = status.memory.resident
        facts["weight_bytes"] = status.memory.weights
    if status.metrics is not None:
        facts["lag_ms"] = status.metrics.lag_ms
    return facts
