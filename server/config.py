"""What the server is started with: one frozen value, checked before anything is started. No I/O but a key's file."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from sayso.server.errors import ServerError

KEY_VARIABLE = "SAYSO_API_KEY"
ADMIN_KEY_VARIABLE = "SAYSO_ADMIN_KEY"
DEFAULT_PORT = 8000
MAX_FRAME_BYTES = 24 * 1024 * 1024
"""Of one WebSocket message: 15 MiB of audio are 20 MiB of base64."""


class ServerConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``port`` 0 takes a free one. ``key`` empty asks clients for none, which only loopback allows.

    ``waiting_s`` bounds the audio of one client that waits for a commit or for the engine, ``unread_bytes`` what a
    client may leave unread before it is disconnected, ``idle_s`` how long it may say nothing,
    ``idle_warning_s`` how long before that it is warned, ``session_s`` how long a connection may last (0: for ever).

    ``engine_unload_after_s`` and ``engine_end_after_s``: how long nobody may speak before the weights are dropped or
    the engine process ends. ``engine_end_at_pressure``: percent of time stalled for memory at which an engine that
    nobody uses ends. ``park_after_s``, ``hibernate_after_s`` and ``drop_after_s``: when a session without work has its
    keys and values moved to host memory, to an encrypted file, or freed; ``most_device_mb`` and ``most_host_mb`` bound
    them. 0 is never, or no bound. ``admin_key`` lets other machines see and end sessions and unload the engine.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    key: str = ""
    model: str = "auto"
    device: str = "auto"
    threads: int = 0
    allow_origins: tuple[str, ...] = ()
    precision: str = "auto"
    waiting_s: float = 600.0
    most_connections: int = 64
    unread_bytes: int = 8 * 1024 * 1024
    idle_s: float = 0.0
    idle_warning_s: float = 10.0
    session_s: float = 0.0
    engine_unload_after_s: float = 0.0
    engine_end_after_s: float = 0.0
    engine_end_at_pressure: float = 0.0
    park_after_s: float = 0.0
    drop_after_s: float = 0.0
    hibernate_after_s: float = 0.0
    most_device_mb: int = 0
    most_host_mb: int = 0
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
        self._check_limits()
        if not self.key and not is_loopback(self.host):
            raise ServerError(
                "key_required",
                f"{self.host} can be reached from other machines: set a key with {KEY_VARIABLE} or --api-key-file, "
                "or listen on 127.0.0.1.",
            )

    def _check_limits(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, float) and not 0 <= value < float("inf"):
                raise ServerError("bad_limit", f"{name} must be 0 or more: {value:g} is not.")
        if min(self.most_device_mb, self.most_host_mb) < 0:
            raise ServerError("bad_limit", "most_device_mb and most_host_mb must be 0 (no bound) or more.")
        if self.most_connections < 1 or self.unread_bytes < 1:
            raise ServerError("bad_limit", "most_connections and unread_bytes must be 1 or more.")


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


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
