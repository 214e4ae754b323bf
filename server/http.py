"""The HTTP side: ``/health`` for whoever watches the server, ``/v1/models`` for clients that look there first."""

from __future__ import annotations

import importlib.metadata
import os
import time
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from sayso.server.engine_client import EngineClient
from sayso.server.engine_settings import EngineStatus
from sayso.server.footprint import resident_bytes


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
        pid = os.getpid()
        body = {
            "status": status.news.state,
            "sessions": self._connections(),
            "server": {"pid": pid, "resident_bytes": resident_bytes(pid)},
            "engine": _engine_facts(status),
        }
        return JSONResponse(body, status_code=200 if serves else 503)

    async def version(self, request: Request) -> JSONResponse:
        """As vLLM tells its own; a client that tries a server shows it."""
        return JSONResponse({"version": importlib.metadata.version("sayso")})

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
        "starts": status.starts,
        "restarts": status.restarts,
        "unloads": status.unloads,
        "ends": status.ends,
        "startup_ms": status.startup_ms,
        "start_ms": status.start_ms,
        "reload_ms": status.reload_ms,
        "pid": status.pid,
        "resident_bytes": resident_bytes(status.pid) if status.pid else 0,
        "weight_bytes": status.memory.weights if status.memory else 0,
        "device_bytes": status.memory.device if status.memory else 0,
        "unused_s": round(status.unused_s, 3),
        "on_battery": status.on_battery,
        "memory_pressure": status.memory_pressure,
    }
    if status.ready is not None:
        facts |= {
            "model": status.ready.model,
            "device": status.ready.device,
            "threads": status.ready.threads,
            "devices": list(status.ready.devices),
            "languages": list(status.ready.languages),
            "load_ms": status.ready.load_ms,
        }
    if status.metrics is not None:
        facts["lag_ms"] = status.metrics.lag_ms
    return facts
