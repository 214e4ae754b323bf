"""Composition: the ASGI application over one engine."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from sayso.server.admin import AdminEndpoints
from sayso.server.config import ServerConfig
from sayso.server.engine_client import EngineClient
from sayso.server.http import HttpEndpoints
from sayso.server.security import Gate, Guard
from sayso.server.transport import Connections
from sayso.server.turns import Limits

REALTIME_PATH = "/v1/realtime"


def create_app(config: ServerConfig, engine: EngineClient) -> tuple[ASGIApp, Connections]:
    """The application, and its connections for the shutdown."""
    limits = Limits(
        waiting_s=config.waiting_s,
        idle_s=config.idle_s,
        idle_warning_s=config.idle_warning_s,
        session_s=config.session_s,
    )
    connections = Connections(engine, limits, config.most_connections, config.unread_bytes)
    gate = Gate(config.key, config.allow_origins, config.admin_key)
    admin = AdminEndpoints(engine, connections, gate)
    http = HttpEndpoints(engine, lambda: len(connections))
    routes = [
        Route("/health", http.health),
        Route("/v1/models", http.models),
        Route("/v1/sessions", admin.sessions),
        Route("/v1/sessions/{name}", admin.end_session, methods=["DELETE"]),
        Route("/v1/engine/unload", admin.unload, methods=["POST"]),
        Route("/metrics", admin.metrics),
        Route(REALTIME_PATH, http.not_a_websocket),
        WebSocketRoute(REALTIME_PATH, connections.serve),
    ]
    return Guard(Starlette(routes=routes), gate), connections
