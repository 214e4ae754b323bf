"""What a person types as the address of a server, made into a WebSocket address or into a sentence that says why not.

Pure text. ``host``, ``host:port``, ``http(s)://`` and ``ws(s)://`` are understood; what a path lacks is added, as
``sayso.app.realtime.endpoint`` does. Keys are refused inside an address, since addresses are logged and shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from sayso.app.realtime import endpoint

_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    warning: str = ""


@dataclass(frozen=True, slots=True)
class AddressProblem:
    text: str


def parse(text: str, *, with_key: bool = False) -> Address | AddressProblem:
    """Reads an address; ``with_key`` says whether a key will be sent to it."""
    text = text.strip()
    if not text:
        return AddressProblem("Type the address of a server, for example ws://192.168.1.20:8000.")
    if any(character.isspace() for character in text):
        return AddressProblem("An address has no spaces.")
    if "://" not in text:
        text = f"ws://{text}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return AddressProblem("The address cannot be read: check the host and the port (1 to 65535).")
    return _problem(parts, port) or _address(parts, port, with_key)


def _problem(parts: SplitResult, port: int | None) -> AddressProblem | None:
    if parts.scheme.lower() not in _SCHEMES:
        return AddressProblem(f"“{parts.scheme}://” is not spoken here: use ws:// or wss://.")
    if not parts.hostname:
        return AddressProblem("The address has no host.")
    if port == 0:
        return AddressProblem("Port 0 does not exist: give the port that the server listens on.")
    if parts.username or parts.password or parts.query or parts.fragment:
        return AddressProblem("Put the key into the key field, not into the address.")
    return None


def _address(parts: SplitResult, port: int | None, with_key: bool) -> Address:
    scheme = _SCHEMES[parts.scheme.lower()]
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    url = endpoint.parse(f"{scheme}://{shown}{f':{port}' if port else ''}{parts.path}")
    if scheme == "ws" and not _is_loopback(host):
        what = "Speech and key travel" if with_key else "Speech travels"
        return Address(url, f"{what} unencrypted to {host}: use wss:// outside a network you trust.")
    return Address(url)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
