"""What a trial of a server found, in words for people: what is wrong there, and what to do. Pure.

``trial`` does the asking; here is what each answer means. A fault seldom says its cause by itself: a refused upgrade
may be the key's or the path's, and silence the network's or the program's. So the trial takes a ``SecondLook``.
"""

from __future__ import annotations

import errno
import socket
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from sayso.app.realtime.certificates import certificate_fault
from sayso.app.realtime.endpoint import Endpoint, explain, is_refusal
from sayso.app.realtime.errors import RealtimeError
from sayso.app.remote_server_view import Finding

_GATEWAY = (502, 503, 504)
_NO_UPGRADE = (200, 204, 400, 405, 426, 501)
"""What web servers answer that take no WebSocket at this path."""


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What was found out after a fault; None where it was not asked."""

    accepts: bool | None = None
    """Whether a program takes connections there."""
    speaks_tls: bool | None = None
    speaks_http: bool | None = None
    """Whether it answers plain HTTP, without TLS."""
    models_status: int | None = None
    """The HTTP status of its list of models, with the same key; 0 when there was no answer."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a server said of itself in a session that was opened."""

    is_sayso: bool
    version: str = ""
    model: str = ""
    models: tuple[str, ...] = ()
    engine: str = ""
    """The state of a Sayso server's engine."""
    engine_detail: str = ""
    round_trip_ms: float = 0.0


_ENGINE_WORDS = {
    "ready": "ready",
    "starting": "starting",
    "loading": "loading its model",
    "restarting": "restarting after a fault",
    "idle": "resting to free memory; it starts when you speak",
    "failed": "cannot start",
}


def works(greeting: Greeting) -> Finding:
    """The finding for a server that opened a session."""
    name = "Sayso" if greeting.is_sayso else "vLLM" if greeting.version else "Speaks vLLM's realtime protocol"
    facts = [("Server", f"{name} {greeting.version}".strip())]
    if greeting.engine:
        facts.append(("Engine", _ENGINE_WORDS.get(greeting.engine, greeting.engine)))
    if greeting.model:
        facts.append(("Model", greeting.model))
    facts.append(("Round trip", _milliseconds(greeting.round_trip_ms)))
    if greeting.engine == "failed":
        advice = f"The server answers, but its speech engine cannot start. {greeting.engine_detail}".strip()
        return Finding(False, "engine_failed", "Its engine cannot start", advice, tuple(facts), greeting.models)
    advice = ""
    if not greeting.is_sayso:
        advice = "Words appear only once they are final: this is no Sayso server and tells no tentative ones."
    return Finding(True, "works", "It works", advice, tuple(facts), greeting.models)


def unknown_model(endpoint: Endpoint, models: tuple[str, ...]) -> Finding:
    """The server is there and does not have the model."""
    offers = f"It offers {_listed(models)}. " if models else ""
    return Finding(
        False,
        "model_not_found",
        f"It has no model “{endpoint.model}”",
        f"{offers}Choose one that it has, or leave the model empty to take the server's own.",
        models=models,
    )


def diagnose(error: Exception, endpoint: Endpoint, look: SecondLook) -> Finding:
    """The finding for a server that could not be talked to."""
    where = urlsplit(endpoint.url).netloc
    match error:
        case InvalidStatus():
            return _status(error.response.status_code, endpoint, look)
        case ssl.SSLCertVerificationError():
            return _fault("Its certificate is not trusted", certificate_fault(error, where))
        case ssl.SSLError():
            return _no_tls(where) if look.speaks_http else _tls_failed(where, error)
        case socket.gaierror():
            return _name(error, endpoint)
        case TimeoutError():
            return _silence(where, endpoint, look)
        case InvalidHandshake() | EOFError() | ConnectionClosed() | ConnectionResetError() if look.speaks_tls:
            return _wants_tls(where)
        case EOFError() | ConnectionResetError() if look.speaks_http and endpoint.url.startswith("wss:"):
            return _no_tls(where)
        case OSError() if is_refusal(error):
            return _refused(where)
        case OSError() if error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
            advice = f"No way leads to {where} from here. Check the network, a VPN, and the address."
            return Finding(False, "unreachable", "It cannot be reached", advice)
    return _told(explain(error, endpoint.url))


_HEADLINES = {
    "unreachable": "It cannot be reached",
    "not_realtime": "This is no realtime speech server",
    "closed": "It closed the connection at once",
    "bad_url": "This is no address of a server",
    "session_limit": "It has as many clients as it takes",
    "model_not_found": "It does not have this model",
}


def _told(fault: RealtimeError) -> Finding:
    return _fault(_HEADLINES.get(fault.code, "It does not work"), fault)


def _fault(headline: str, fault: RealtimeError) -> Finding:
    return Finding(False, fault.code, headline, str(fault))


def _refused(where: str) -> Finding:
    advice = f"The computer is there, but no program takes connections at {where}. Start the server, or check the port."
    return Finding(False, "refused", "Nothing listens there", advice)


def _name(error: socket.gaierror, endpoint: Endpoint) -> Finding:
    host = urlsplit(endpoint.url).hostname
    if error.errno == socket.EAI_AGAIN:
        advice = f"“{host}” could not be looked up now. Check this computer's network and the spelling of the name."
        return Finding(False, "name_lookup_failed", "Its name cannot be looked up", advice)
    advice = f"The network knows no “{host}”. Check the spelling, or write the IP address."
    return Finding(False, "name_not_found", "There is no server of this name", advice)


def _silence(where: str, endpoint: Endpoint, look: SecondLook) -> Finding:
    if endpoint.url.startswith("wss:") and look.speaks_http:
        return _no_tls(where)
    if look.accepts:
        advice = (
            f"A program at {where} takes the connection and then says nothing. Restart the server; if a proxy stands"
            " before it, see that the proxy passes WebSockets on."
        )
        return Finding(False, "hung", "It does not answer", advice)
    advice = f"Nothing came back from {where}. The computer may be off, or a firewall keeps the connection away."
    return Finding(False, "timed_out", "No answer", advice)


def _no_tls(where: str) -> Finding:
    advice = f"{where} speaks plain HTTP. Write http:// or ws:// for this port, or the port at which it speaks TLS."
    return Finding(False, "tls_not_spoken", "It does not speak TLS", advice)


def _tls_failed(where: str, error: ssl.SSLError) -> Finding:
    reason = (error.reason or "").replace("_", " ").lower()
    advice = f"{where} and this computer find no way to speak TLS{f' ({reason})' if reason else ''}. Check the port."
    return Finding(False, "tls", "TLS does not come about", advice)


def _wants_tls(where: str) -> Finding:
    advice = f"{where} speaks TLS. Write https:// or wss:// before the address."
    return Finding(False, "tls_needed", "It wants TLS", advice)


def _status(status: int, endpoint: Endpoint, look: SecondLook) -> Finding:
    where, path = urlsplit(endpoint.url).netloc, urlsplit(endpoint.url).path
    if look.speaks_tls and status == 400:
        return _wants_tls(where)
    if status == 401 or (status == 403 and look.models_status in (401, 403)):
        return _key(where, endpoint)
    if status in (403, 404):
        return _path(where, path, status, look)
    if status in _NO_UPGRADE:
        advice = f"A web server answers at {where}, but takes no WebSocket at {path}. Check address, port and path."
        return Finding(False, "not_realtime", "This is no realtime speech server", advice)
    if status in _GATEWAY:
        advice = f"{where} answers with HTTP status {status}: what stands there is up, but the speech server is not."
        return Finding(False, "unavailable", "The server is not available", f"{advice} Start it, or try again later.")
    if status == 429:
        return Finding(False, "too_many", "It has too much to do", f"{where} asks to wait. Try again later.")
    advice = f"{where} answered with HTTP status {status}. Its log says more."
    return Finding(False, "rejected", "It refused the connection", advice)


def _key(where: str, endpoint: Endpoint) -> Finding:
    if endpoint.key:
        advice = f"{where} does not accept this key. Type it again, or ask whoever runs the server for one."
        return Finding(False, "key_wrong", "The key is wrong", advice)
    advice = f"{where} asks for a key. Type the one that the server was started with."
    return Finding(False, "key_missing", "It wants a key", advice)


def _path(where: str, path: str, status: int, look: SecondLook) -> Finding:
    if look.models_status == 200:
        advice = (
            f"{where} is a speech or language server and your key is in order, but it has no {path}. The path may be"
            " another, or its model cannot transcribe in real time."
        )
    elif status == 403 and look.models_status not in (404, 405):
        advice = f"{where} refuses {path}. Check the path; a proxy there may let nobody in."
    else:
        advice = f"{where} answers, but has no {path}. Check the address: is this the server, and is this the port?"
    return Finding(False, "wrong_path", "The path is wrong", advice)


def _listed(models: tuple[str, ...], most: int = 5) -> str:
    shown = ", ".join(models[:most])
    return f"{shown} and {len(models) - most} more" if len(models) > most else shown


def _milliseconds(value: float) -> str:
    return f"{value:.1f} ms" if value < 10 else f"{value:.0f} ms"
