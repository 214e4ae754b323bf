"""Questions that tell the causes of a failed connection apart, each over a connection of its own. Event loop.

What the answers mean is ``finding``'s. Nothing of the user's goes over these connections but the key, to the server's
own list of models.
"""

from __future__ import annotations

import asyncio
import ssl
from urllib.parse import SplitResult, urlsplit

from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus

from sayso.app.realtime.endpoint import Endpoint, explain
from sayso.app.realtime.errors import RealtimeError
from sayso.app.realtime.finding import SecondLook, diagnose
from sayso.app.realtime.questions import ask

_LOOK_S = 3.0
_LASTING = ("tls_needed", "tls_not_spoken")
"""Found out by a second look, and mended by people only."""


async def explained(error: Exception, endpoint: Endpoint | None) -> RealtimeError:
    """What a failed connection means and what to do, after a second look where the fault alone does not say it.

    A server that is away or does not answer is not asked again: that passes by itself.
    """
    fault = explain(error, endpoint.url if endpoint is not None else "")
    unclear = isinstance(error, InvalidStatus | InvalidMessage | ssl.SSLError | EOFError | ConnectionResetError)
    if endpoint is None or not unclear or isinstance(error, ssl.SSLCertVerificationError):
        return fault
    finding = diagnose(error, endpoint, await look_again(error, endpoint))
    if finding.code in _LASTING:
        return RealtimeError(finding.code, finding.advice, lasting=True)
    return RealtimeError(fault.code, finding.advice or str(fault), fault.lasting)


async def look_again(error: Exception, endpoint: Endpoint) -> SecondLook:
    """Ask what tells the causes of this fault apart."""
    parts, secure = urlsplit(endpoint.url), endpoint.url.startswith("wss:")
    match error:
        case InvalidStatus() if error.response.status_code == 400 and not secure:
            return SecondLook(speaks_tls=await _speaks_tls(parts))
        case InvalidStatus():
            return SecondLook(models_status=(await asyncio.to_thread(ask, endpoint, endpoint.models_url)).status)
        case ssl.SSLCertVerificationError():
            return SecondLook()
        case TimeoutError():
            return SecondLook(accepts=await _accepts(parts), speaks_http=secure and await _speaks_http(parts))
        case ssl.SSLError() | EOFError() | ConnectionResetError() if secure:
            return SecondLook(speaks_http=await _speaks_http(parts))
        case InvalidHandshake() | EOFError() | ConnectionResetError():
            return SecondLook(speaks_tls=await _speaks_tls(parts))
        case _:
            return SecondLook()


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "wss" else 80)


async def _accepts(parts: SplitResult) -> bool:
    """Whether a program takes connections there."""
    try:
        async with asyncio.timeout(_LOOK_S):
            _, writer = await asyncio.open_connection(parts.hostname, _port(parts))
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def _speaks_tls(parts: SplitResult) -> bool:
    """Whether a TLS handshake succeeds there, whatever the certificate; nothing is sent over it."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout(_LOOK_S):
            _, writer = await asyncio.open_connection(parts.hostname, _port(parts), ssl=context)
    except (OSError, EOFError, TimeoutError):
        return False
    writer.close()
    return True


async def _speaks_http(parts: SplitResult) -> bool:
    """Whether what listens there answers HTTP without TLS; no key is sent."""
    try:
        async with asyncio.timeout(_LOOK_S):
            reader, writer = await asyncio.open_connection(parts.hostname, _port(parts))
            try:
                writer.write(f"HEAD / HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode())
                return (await reader.read(5)).startswith(b"HTTP")
            finally:
                writer.close()
    except (OSError, EOFError, TimeoutError):
        return False
