"""What the keeper of a server may ask over HTTP: who is connected, end a session, give memory back, figures.

``/v1/sessions`` and ``/v1/engine/unload`` are for the machine itself or an admin key; ``/metrics`` is for whoever may
use the server, since scrapers come from elsewhere and it tells nothing of what is said.
"""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sayso.server.engine_client import EngineClient
from sayso.server.ledger import bytes_by_tier, of_connection
from sayso.server.metrics import CONTENT_TYPE, families, render
from sayso.server.security import Gate
from sayso.server.transport import Connections

MOST_BODY_BYTES = 4096


class UnloadRequest(msgspec.Struct, forbid_unknown_fields=True):
    """``end``: end the process, which gives everything back, instead of unloading the weights."""

    end: bool = False


class AdminEndpoints:
    def __init__(self, engine: EngineClient, connections: Connections, gate: Gate) -> None:
        self._engine = engine
        self._connections = connections
        self._gate = gate

    async def sessions(self, request: Request) -> Response:
        """Every connection: id, state, age and idle time in seconds, audio waiting in ms, bytes by tier."""
        if (refused := self._refused(request)) is not None:
            return refused
        memory = self._engine.status.memory
        data = [
            {**msgspec.to_builtins(facts), "bytes": bytes_by_tier(of_connection(memory, facts.id))}
            for facts in self._connections.facts
        ]
        return JSONResponse({"object": "list", "data": data})

    async def end_session(self, request: Request) -> Response:
        """202: the open turn is finished, then the connection is closed with the code ``session_closed``."""
        if (refused := self._refused(request)) is not None:
            return refused
        name = request.path_params["name"]
        if not self._connections.end(name):
            return _error(404, "session_not_found", "There is no such session: GET /v1/sessions lists them.")
        return JSONResponse({"id": name, "object": "session", "deleted": True}, status_code=202)

    async def unload(self, request: Request) -> Response:
        """200 once the engine rests, 202 when it will as soon as nobody speaks."""
        if (refused := self._refused(request)) is not None:
            return refused
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BODY_BYTES:
                return _error(413, "too_large", 'The body is too large: send {"end": true} or nothing.')
        try:
            wanted = msgspec.json.decode(body or b"{}", type=UnloadRequest)
        except msgspec.DecodeError as error:
            return _error(400, "invalid_json", f'The body cannot be read ({error}): send {{"end": true}} or nothing.')
        done = self._engine.give_back(end=wanted.end)
        return JSONResponse({"state": self._engine.news.state, "done": done}, status_code=200 if done else 202)

    async def metrics(self, request: Request) -> Response:
        status = self._engine.status
        held = bytes_by_tier(status.memory.sessions if status.memory else ())
        shown = families(status, [facts.state for facts in self._connections.facts], held)
        return Response(render(shown), headers={"content-type": CONTENT_TYPE})

    def _refused(self, request: Request) -> Response | None:
        peer = request.client.host if request.client else ""
        refusal = self._gate.admin_refusal(dict(request.scope["headers"]), peer)
        return None if refusal is None else _error(refusal.status, refusal.code, refusal.message)


def _error(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse({"error": message, "code": code}, status_code=status)
