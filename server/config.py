"""What the server is started with: one frozen value, checked before anything is started. No I/O but a key's file."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from sayso.server.errors import ServerError
from sayso.server.limits import RunningLimits

KEY_VARIABLE = "SAYSO_API_KEY"
ADMIN_KEY_VARIABLE = "SAYSO_ADMIN_KEY"
DEFAULT_PORT = 8000
MAX_FRAME_BYTES = 24 * 1024 * 1024
"""Of one WebSocket message: 15 MiB of audio are 20 MiB of base64."""


class ServerConfig(RunningLimits, frozen=True, forbid_unknown_fields=True):
    """``port`` 0 takes a free one. ``key`` empty asks clients for none, which only loopback allows.

    ``admin_key`` lets other machines see and end sessions, change limits and unload the engine. The rest is in
    ``RunningLimits``.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    key: str = ""
    model: str = "auto"
    device: str = "auto"
    threads: int = 0
    allow_origins: tuple[str, ...] = ()
    precision: str = "auto"
    admin_key: str = ""

    def check(self) -> None:
        """Raise ``ServerError`` when the server must not be started like this."""
        if not 0 <= self.port <= 65_535:
            raise ServerError("bad_port", f"{self.port} is no port: choose one from 0 to 65535.")
        if self.threads < 0:
            raise ServerError("bad_threads", "The number of threads must be 0 (automatic) or more.")
        for key in (self.key, self.admin_key):
            if not key.isprintable() or not key.isascii() or " " in key:
                raise ServerError("bad_key", "The key must be printable ASCII without spaces.")
        for origin in self.allow_origins:
            if origin != "*" and not _is_origin(origin):
                told = "write scheme://host, such as https://app.example, or * for every page."
                raise ServerError("bad_origin", f"“{origin}” is no origin of a web page: {told}")
        self.check_limits()
        if not self.key and not is_loopback(self.host):
            raise ServerError(
                "key_required",
                f"{self.host} can be reached from other machines: set a key with {KEY_VARIABLE} or --api-key-file, "
                "or listen on 127.0.0.1.",
            )


def config_from_line(line: bytes) -> ServerConfig:
    """The desktop's one JSON line; raises ``ServerError`` ``bad_config``."""
    try:
        return msgspec.json.decode(line, type=ServerConfig)
    except msgspec.DecodeError as error:
        raise ServerError("bad_config", f"The server's configuration cannot be read: {error}.") from error


def key_from(file: Path | None, environ: Mapping[str, str] = os.environ, variable: str = KEY_VARIABLE) -> str:
    """The key in ``file`` if one is named, else in the variable, else none; raises ``ServerError``."""
    if file is None:
        return environ.get(variable, "").strip()
    try:
        key = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ServerError("bad_key_file", f"The key file {file} cannot be read ({error}).") from error
    if not key:
        raise ServerError("bad_key_file", f"The key file {file} is empty: write the key into it.")
    return key


def _is_origin(text: str) -> bool:
    """Whether it is what browsers send as a page's origin; a slash at its end does no harm."""
    try:
        parts = urlsplit(text)
        return bool(parts.scheme and parts.hostname) and parts.path in ("", "/") and not (parts.query or parts.fragment)
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    # As a socket for both families shows a peer of the older one.
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
