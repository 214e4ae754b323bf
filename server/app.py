"""Composition: the ASGI application over one engine."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from sayso.server.admin import AdminEndpoints
from sayso.server.config import ServerConfig
from sayso.server.engine_client import EngineClient
from sayso.server.http import HttpEndpoints
from sayso.server.limits import limits_in
from sayso.server.rules import Rules, turn_limits
from sayso.server.security import Gate, Guard
from sayso.server.transport import Connections

REALTIME_PATH = "/v1/realtime"


def create_app(config: ServerConfig, engine: EngineClient) -> tuple[ASGIApp, Connections]:
    """The application, and its connections for the shutdown."""
    limits = limits_in(config)
    connections = Connections(engine, turn_limits(limits), limits)
    gate = Gate(config.key, config.allow_origins, config.admin_key)
    admin = AdminEndpoints(engine, connections, Rules(limits, engine, connections), gate)
    http = HttpEndpoints(engine, lambda: len(connections))
    routes = [
        Route("/health", http.health),
        Route("/version", http.version),
        Route("/v1/models", http.models),
        Route("/v1/sessions", admin.sessions),
        Route("/v1/sessions/{name}", admin.end_session, methods=["DELETE"]),
        Route("/v1/sessions/{name}/park", admin.park_session, methods=["POST"]),
        Route("/v1/limits", admin.limits),
        Route("/v1/limits", admin.change_limits, methods=["PATCH", "PUT"]),
        Route("/v1/engine/start", admin.start, methods=["POST"]),
        Route("/v1/engine/unload", admin.unload, methods=["POST"]),
        Route("/metrics", admin.metrics),
        Route(REALTIME_PATH, http.not_a_websocket),
        WebSocketRoute(REALTIME_PATH, connections.serve),
    ]
    return Guard(Starlette(routes=routes), gate), connections
