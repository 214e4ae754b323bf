"""What a Sayso server says of its memory and sessions over HTTP, and what it can be asked to do about them.

Each question is one short request on a worker thread, bounded in time and size; the rest runs on the event loop.
"""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from sayso.app.errors import AppError
from sayso.app.realtime.endpoint import Endpoint

_TIMEOUT_S = 4.0
_LARGEST = 4 * 1024 * 1024

T = TypeVar("T")


class ReportError(AppError):
    """Codes: unreachable, unreadable, and those of the server, such as admin_only."""


class ServerHealth(msgspec.Struct, frozen=True):
    resident_bytes: int = 0


class EngineHealth(msgspec.Struct, frozen=True):
    """Of the engine; bytes are 0 without a process, times in ms and 0 before they were measured.

    ``memory_pressure``: percent of the last seconds in which programs waited for memory; None where the server's system
    does not tell, 0 where the server is too old to.
    """

    resident_bytes: int = 0
    device_bytes: int = 0
    start_ms: int = 0
    reload_ms: int = 0
    state: str = ""
    detail: str = ""
    model: str = ""
    device: str = ""
    threads: int = 0
    devices: tuple[str, ...] = ()
    pid: int = 0
    memory_pressure: float | None = 0.0


class Health(msgspec.Struct, frozen=True):
    status: str = ""
    server: ServerHealth | None = None
    engine: EngineHealth = EngineHealth()


class HeldBytes(msgspec.Struct, frozen=True):
    kv: int = 0
    kv_host: int = 0
    kv_disk: int = 0
    audio: int = 0
    features: int = 0
    server: int = 0


class SessionReport(msgspec.Struct, frozen=True):
    id: str
    state: str = ""
    age_s: float = 0.0
    idle_s: float = 0.0
    connected: bool = True
    tier: str = "none"
    engine_state: str = "none"
    held: HeldBytes = msgspec.field(default=HeldBytes(), name="bytes")


class _Sessions(msgspec.Struct):
    data: tuple[SessionReport, ...] = ()


class _Unloaded(msgspec.Struct):
    done: bool = False


class _Fault(msgspec.Struct):
    error: str = ""
    code: str = ""


class _Anything(msgspec.Struct):
    """An answer of which nothing is needed."""


class ServerReports:
    """Asks one server; every method raises ReportError."""

    def __init__(self, endpoint: Endpoint) -> None:
        parts = urlsplit(endpoint.url)
        path = parts.path.removesuffix("/v1/realtime")
        self._base = f"{'https' if parts.scheme == 'wss' else 'http'}://{parts.netloc}{path}"
        self._headers = endpoint.headers
        # A proxy of the system has no way to a server on this machine.
        self._handlers = [urllib.request.ProxyHandler({})] if endpoint.is_loopback else []

    async def health(self) -> Health:
        return await self._ask("GET", "/health", Health, also=503)

    async def sessions(self) -> tuple[SessionReport, ...]:
        return (await self._ask("GET", "/v1/sessions", _Sessions)).data

    async def limits(self) -> dict[str, float]:
        """Those that are figures; what a newer server adds of another kind is left out."""
        told = await self._ask("GET", "/v1/limits", dict[str, Any])
        return {name: float(value) for name, value in told.items() if isinstance(value, int | float)}

    async def change_limits(self, limits: Mapping[str, float]) -> None:
        await self._ask("PATCH", "/v1/limits", _Anything, limits)

    async def close_session(self, session: str) -> None:
        """Its turn is finished first."""
        await self._ask("DELETE", f"/v1/sessions/{quote(session, safe='')}", _Anything)

    async def park_session(self, session: str, tier: str) -> None:
        """What the engine holds of it goes to ``host``, ``disk`` or ``dropped``, unless it has work."""
        await self._ask("POST", f"/v1/sessions/{quote(session, safe='')}/park", _Anything, {"tier": tier})

    async def end_engine(self) -> bool:
        """Whether it rests already; else it will as soon as nobody speaks."""
        return (await self._ask("POST", "/v1/engine/unload", _Unloaded, {"end": True})).done

    async def start_engine(self) -> None:
        """Wake an engine that rests."""
        await self._ask("POST", "/v1/engine/start", _Anything, {})

    async def _ask(self, method: str, path: str, reply: type[T], body: Any = None, also: int = 200) -> T:
        answer = await asyncio.to_thread(self._request, method, path, body, also)
        try:
            return msgspec.json.decode(answer or b"{}", type=reply)
        except msgspec.DecodeError as error:
            raise ReportError("unreadable", f"The server's answer cannot be read ({error}).") from error

    def _request(self, method: str, path: str, body: Any, also: int) -> bytes:
        data = None if body is None else msgspec.json.encode(body)
        headers = self._headers | ({"Content-Type": "application/json"} if data is not None else {})
        request = urllib.request.Request(self._base + path, data, headers, method=method)
        try:
            with urllib.request.build_opener(*self._handlers).open(request, timeout=_TIMEOUT_S) as response:
                return bytes(response.read(_LARGEST))
        except urllib.error.HTTPError as error:
            content = error.read(_LARGEST)
            if error.code == also:
                return content
            raise _refused(error.code, content) from error
        except (OSError, HTTPException) as error:
            raise ReportError("unreachable", "The server does not answer.") from error


def _refused(status: int, content: bytes) -> ReportError:
    try:
        fault = msgspec.json.decode(content, type=_Fault)
    except msgspec.DecodeError:
        fault = _Fault()
    code = fault.code or f"http_{status}"
    return ReportError(code, fault.error or f"The server refuses this (HTTP status {status}).")
