"""What the keeper of a server may ask over HTTP: sessions, limits, memory, figures.

``/v1/sessions``, ``/v1/limits`` and ``/v1/engine`` are for the machine itself or an admin key; ``/metrics`` is for
whoever may use the server, since scrapers come from elsewhere and it tells nothing of what is said.
"""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sayso.engine import messages
from sayso.server.engine_client import EngineClient
from sayso.server.errors import ServerError
from sayso.server.ledger import bytes_by_tier, of_connection, standing
from sayso.server.link import Deeper
from sayso.server.metrics import CONTENT_TYPE, families, render
from sayso.server.rules import Rules
from sayso.server.security import Gate
from sayso.server.session import SessionFacts
from sayso.server.transport import Connections

MOST_BODY_BYTES = 4096
UNKNOWN_SESSION = "There is no such session: GET /v1/sessions lists them."
CANNOT_PARK = {
    "engine_not_ready": "The engine rests or loads: it holds nothing of this session.",
    "nothing_held": "The engine holds nothing of this session.",
}


class UnloadRequest(msgspec.Struct, forbid_unknown_fields=True):
    """``end``: end the process, which gives everything back, instead of unloading the weights."""

    end: bool = False


class ParkRequest(msgspec.Struct, forbid_unknown_fields=True):
    tier: Deeper = "host"


class AdminEndpoints:
    def __init__(self, engine: EngineClient, connections: Connections, rules: Rules, gate: Gate) -> None:
        self._engine = engine
        self._connections = connections
        self._rules = rules
        self._gate = gate

    async def sessions(self, request: Request) -> Response:
        """Every session: id, state, ages in seconds, audio waiting in ms, where it is in the engine, bytes by tier."""
        if (refused := self._refused(request)) is not None:
            return refused
        memory = self._engine.status.memory
        data = [_shown(facts, of_connection(memory, facts.id)) for facts in self._connections.facts]
        return JSONResponse({"object": "list", "data": data})

    async def end_session(self, request: Request) -> Response:
        """202: the open turn is finished, then the connection is closed with the code ``session_closed``."""
        if (refused := self._refused(request)) is not None:
            return refused
        name = request.path_params["name"]
        if not self._connections.end(name):
            return _error(404, "session_not_found", UNKNOWN_SESSION)
        return JSONResponse({"id": name, "object": "session", "deleted": True}, status_code=202)

    async def park_session(self, request: Request) -> Response:
        """202: the engine puts the session's keys and values into a deeper tier, unless it has work."""
        if (refused := self._refused(request)) is not None:
            return refused
        try:
            wanted = msgspec.json.decode(await _body(request) or b"{}", type=ParkRequest)
        except (msgspec.DecodeError, ServerError) as error:
            return _error(400, "invalid_json", f'Send {{"tier": "host"}}, disk or dropped ({error}).')
        name = request.path_params["name"]
        session = self._connections.find(name)
        if session is None:
            return _error(404, "session_not_found", UNKNOWN_SESSION)
        if code := session.park(wanted.tier):
            return _error(409, code, CANNOT_PARK[code])
        return JSONResponse({"id": name, "object": "session", "tier": wanted.tier}, status_code=202)

    async def limits(self, request: Request) -> Response:
        """The limits in force."""
        if (refused := self._refused(request)) is not None:
            return refused
        return JSONResponse(msgspec.to_builtins(self._rules.limits))

    async def change_limits(self, request: Request) -> Response:
        """Put the limits that the body names in force, at once, and answer with all of them; 400 changes nothing."""
        if (refused := self._refused(request)) is not None:
            return refused
        try:
            limits = self._rules.change(await _body(request))
        except ServerError as error:
            return _error(400, error.code, error.message)
        return JSONResponse(msgspec.to_builtins(limits))

    async def start(self, request: Request) -> Response:
        """202: an engine at rest is started, or loads its weights again."""
        if (refused := self._refused(request)) is not None:
            return refused
        self._engine.wake()
        return JSONResponse({"state": self._engine.news.state}, status_code=202)

    async def unload(self, request: Request) -> Response:
        """200 once the engine rests, 202 when it will as soon as nobody speaks."""
        if (refused := self._refused(request)) is not None:
            return refused
        try:
            wanted = msgspec.json.decode(await _body(request) or b"{}", type=UnloadRequest)
        except (msgspec.DecodeError, ServerError) as error:
            return _error(400, "invalid_json", f'The body cannot be read ({error}): send {{"end": true}} or nothing.')
        done = self._engine.give_back(end=wanted.end)
        return JSONResponse({"state": self._engine.news.state, "done": done}, status_code=200 if done else 202)

    async def metrics(self, request: Request) -> Response:
        status = self._engine.status
        ledgers = status.memory.sessions if status.memory else ()
        shown = families(status, self._engine.tally, self._connections.facts, ledgers)
        return Response(render(shown), headers={"content-type": CONTENT_TYPE})

    def _refused(self, request: Request) -> Response | None:
        peer = request.client.host if request.client else ""
        refusal = self._gate.admin_refusal(dict(request.scope["headers"]), peer)
        return None if refusal is None else _error(refusal.status, refusal.code, refusal.message)


def _shown(facts: SessionFacts, held: list[messages.Ledger]) -> dict[str, Any]:
    state, tier = standing(held)
    shown: dict[str, Any] = msgspec.to_builtins(facts)
    kept = shown.pop("kept_bytes")
    return {**shown, "engine_state": state, "tier": tier, "bytes": {**bytes_by_tier(held), "server": kept}}


async def _body(request: Request) -> bytes:
    """The request's body; raises ``ServerError`` when it is longer than anything that is asked for here."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY_BYTES:
            raise ServerError("too_large", "The body is too large.")
    return body


def _error(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse({"error": message, "code": code}, status_code=status)
