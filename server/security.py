"""Who may speak to the server: the key, the Origin of web pages, and where no key is asked for, the name it is called.

A refusal is an answer in HTTP before any upgrade, as JSON with a text and a code.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

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
        self._hosts = frozenset(_host_of(origin.partition("://")[2]) for origin in self._allowed)

    def refusal(self, headers: Mapping[bytes, bytes]) -> Refusal | None:
        """``headers``: lower-case names, as ASGI gives them."""
        origin = headers.get(b"origin")
        if origin is not None and not self._origin_allowed(origin.decode("latin-1")):
            return Refusal(
                403, "origin_refused", "Web pages may not use this server: start it with --allow-origin to allow one."
            )
        if not self._key and not self._host_allowed(headers.get(b"host", b"").decode("latin-1")):
            return Refusal(
                421,
                "host_refused",
                "A server without a key is used by the address of its machine: connect to 127.0.0.1, give it a key, or "
                "start it with --allow-origin for the pages of this name.",
            )
        given = headers.get(b"authorization", b"")
        if self._key and not _fits(given, self._key) and not self._is_admin(given):
            return Refusal(401, "unauthorized", "Unauthorized: send the server's key as `Authorization: Bearer KEY`.")
        return None

    def _origin_allowed(self, origin: str) -> bool:
        return "*" in self._allowed or origin.rstrip("/").lower() in self._allowed

    def _host_allowed(self, host: str) -> bool:
        """Whether a name is this machine's for certain.

        A page may have its own name resolved to 127.0.0.1; what it then asks for comes without an Origin.
        """
        name = _host_of(host)
        own = not name or name == "localhost" or name.endswith(".localhost") or _is_address(name)
        return own or "*" in self._allowed or name in self._hosts

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


def _host_of(address: str) -> str:
    """The host of ``host[:port]`` in lower case, as it stands where it cannot be read."""
    try:
        return urlsplit(f"//{address}").hostname or ""
    except ValueError:
        return address.lower()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


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
