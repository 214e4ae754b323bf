"""Who may speak to the server: the key, and the Origin of web pages.

A refusal is an answer in HTTP before any upgrade, as JSON with a text and a code.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from sayso.server.config import is_loopback

GUARDED_PREFIXES = ("/v1", "/metrics")
FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-real-ip")
"""Headers of a proxy: the peer is not who asks then."""


@dataclass(frozen=True)
class Refusal:
    status: int
    code: str
    message: str


class Gate:
    """Decides on one request from its headers. Pure."""

    def __init__(self, key: str, allowed_origins: Collection[str], admin_key: str = "") -> None:
        """An empty ``key`` asks for none. ``allowed_origins``: ``scheme://host[:port]`` of pages, or ``*`` for all.

        ``admin_key`` opens everything; without one only this machine may administer the server.
        """
        self._key = key.encode()
        self._admin_key = admin_key.encode()
        self._allowed = frozenset(origin.rstrip("/").lower() for origin in allowed_origins)

    def refusal(self, headers: Mapping[bytes, bytes]) -> Refusal | None:
        """``headers``: lower-case names, as ASGI gives them."""
        origin = headers.get(b"origin")
        if origin is not None and not self._origin_allowed(origin.decode("latin-1")):
            return Refusal(
                403, "origin_refused", "Web pages may not use this server: start it with --allow-origin to allow one."
            )
        given = headers.get(b"authorization", b"")
        if self._key and not _fits(given, self._key) and not self._is_admin(given):
            return Refusal(401, "unauthorized", "Unauthorized: send the server's key as `Authorization: Bearer KEY`.")
        return None

    def _origin_allowed(self, origin: str) -> bool:
        return "*" in self._allowed or origin.rstrip("/").lower() in self._allowed

    def admin_refusal(self, headers: Mapping[bytes, bytes], peer: str) -> Refusal | None:
        """Of a request that passed ``refusal``; ``peer``: the address it comes from."""
        local = is_loopback(peer) and not any(name in headers for name in FORWARDED)
        if local or self._is_admin(headers.get(b"authorization", b"")):
            return None
        return Refusal(
            403, "admin_only", "Only this machine, or whoever has the admin key, may do this: send it as Bearer."
        )

    def _is_admin(self, authorization: bytes) -> bool:
        return bool(self._admin_key) and _fits(authorization, self._admin_key)


def _fits(authorization: bytes, key: bytes) -> bool:
    scheme, _, given = authorization.partition(b" ")
    # The comparison takes as long for a wrong key as for the right one.
    return hmac.compare_digest(given.strip(), key) and scheme.lower() == b"bearer"


class Guard:
    """ASGI middleware: asks the gate about every request that is guarded, HTTP or WebSocket."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
            return
        body = json.dumps({"error": refusal.message, "code": refusal.code}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if refusal.status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        prefix = "websocket.http" if scope["type"] == "websocket" else "http"
        await send({"type": f"{prefix}.response.start", "status": refusal.status, "headers": headers})
        await send({"type": f"{prefix}.response.body", "body": body})

    def _refusal(self, scope: Scope) -> Refusal | None:
        guarded = scope["type"] in ("http", "websocket") and any(
            _under(scope["path"], prefix) for prefix in GUARDED_PREFIXES
        )
        return self._gate.refusal(dict(scope["headers"])) if guarded else None


def _under(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(f"{prefix}/")
