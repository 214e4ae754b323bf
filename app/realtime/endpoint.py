"""Where a server is: any spelling of its address, and what exactly is wrong when it cannot be reached. Pure."""

from __future__ import annotations

import errno
import ipaddress
import socket
import ssl
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
    ProxyError,
)

from sayso.app.realtime.certificates import certificate_fault
from sayso.app.realtime.errors import RealtimeError
from sayso.app.snapshot import ServerKind

PATH = "/v1/realtime"
_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server. ``url`` is a full WebSocket address as ``parse`` gives it; ``model`` empty takes the server's own."""

    kind: ServerKind
    url: str
    key: str = field(default="", repr=False)
    model: str = ""

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine."""
        host = urlsplit(self.url).hostname or ""
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    @property
    def headers(self) -> dict[str, str]:
        """What a request to the server carries."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    @property
    def models_url(self) -> str:
        """Where the server lists its models over HTTP."""
        path = urlsplit(self.url).path.removesuffix("/realtime")
        return f"{self._http}{path}/models"

    @property
    def version_url(self) -> str:
        """Where vLLM and Sayso tell their version over HTTP."""
        return f"{self._root}/version"

    @property
    def health_url(self) -> str:
        """Where a Sayso server tells how it is."""
        return f"{self._root}/health"

    @property
    def _root(self) -> str:
        return f"{self._http}{urlsplit(self.url).path.removesuffix(PATH)}"

    @property
    def _http(self) -> str:
        parts = urlsplit(self.url)
        return f"{'https' if parts.scheme == 'wss' else 'http'}://{parts.netloc}"


def remote(address: str, key: str = "", model: str = "") -> Endpoint:
    """The endpoint for an address as a user writes it; raises RealtimeError ``bad_url``."""
    return Endpoint(ServerKind.REMOTE, parse(address), key, model)


def parse(address: str) -> str:
    """The WebSocket address for ``host``, ``host:port``, ``http(s)://…`` or ``ws(s)://…``, with or without the path."""
    text = address.strip()
    parts = _split(text if "://" in text else f"ws://{text}")
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname or parts.username is not None or any(map(str.isspace, text)):
        raise _bad(address)
    path = parts.path.rstrip("/")
    if not path.endswith("/realtime"):
        path = f"{path}/realtime" if path.endswith("/v1") else f"{path}{PATH}"
    return f"{scheme}://{parts.netloc}{path}"


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise _bad(text) from error
    return parts


def _bad(address: str) -> RealtimeError:
    return RealtimeError(
        "bad_url",
        f"“{address.strip()}” is no server address. Write it like 192.168.1.20:8000 or https://example.org/v1.",
        lasting=True,
    )


def is_refusal(error: OSError) -> bool:
    """Whether the computer is there and nothing listens at the port; for one with several addresses, at any."""
    return isinstance(error, ConnectionRefusedError) or f"Errno {errno.ECONNREFUSED}]" in str(error)


def explain(error: Exception, url: str) -> RealtimeError:
    """What a failed connection means and what to do, as a coded error."""
    where = urlsplit(url).netloc
    match error:
        case RealtimeError():
            return error
        case InvalidStatus():
            return _status(error.response.status_code, url)
        case ssl.SSLCertVerificationError():
            return certificate_fault(error, where)
        case ssl.SSLError():
            return RealtimeError("tls", f"{where} does not speak TLS here. Use http:// or another port.", True)
        case socket.gaierror():
            return RealtimeError("name_not_found", f"There is no server named {where}. Check its address.")
        case TimeoutError():
            return RealtimeError("timed_out", f"{where} did not answer in time. Check that it runs and is reachable.")
        case InvalidURI() | ProxyError():
            return RealtimeError("bad_url", f"{url} cannot be connected to: {error}.", True)
        case ConnectionClosed():
            return RealtimeError("closed", f"{where} closed the connection.")
        case InvalidMessage() if isinstance(error.__cause__, EOFError):
            # A tunnel takes connections also while what it leads to is down; only that may pass by itself.
            text = f"{where} closed the connection before it answered. The server behind it may be down."
            return RealtimeError("closed", text)
        case InvalidHandshake() | EOFError():
            return _not_realtime(where)
        case OSError() if is_refusal(error):
            return RealtimeError("refused", f"No server is running at {where}. Start it, or check address and port.")
        case _:
            return RealtimeError("unreachable", f"{where} cannot be reached: {error or type(error).__name__}.")


def _not_realtime(where: str) -> RealtimeError:
    text = f"What runs at {where} is no realtime speech server. Check host, port and path of the address."
    return RealtimeError("not_realtime", text, True)


def _status(status: int, url: str) -> RealtimeError:
    parts = urlsplit(url)
    if status < 400:
        # An answer to another question than that for a WebSocket: a page, as any web site gives one.
        return _not_realtime(parts.netloc)
    if status == 403:
        # Also how a server refuses a WebSocket at a path that it does not have.
        return RealtimeError(
            "forbidden",
            f"{parts.netloc} refuses {parts.path}. Check the address, that its model can transcribe in real time, and"
            " the API key.",
            True,
        )
    if status == 401:
        return RealtimeError("unauthorised", f"{parts.netloc} does not accept the key. Check the API key.", True)
    if status == 404:
        return RealtimeError(
            "wrong_path",
            f"{parts.netloc} has no {parts.path}. Check the address, and that its model can transcribe in real time.",
            True,
        )
    return RealtimeError("rejected", f"{parts.netloc} refused the connection with HTTP status {status}.")
