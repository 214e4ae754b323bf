"""What a server says over HTTP beside its WebSocket: its models and its version. Blocking: call it on a worker thread.

Each question is one request, bounded in time and size, through the same proxies as the WebSocket.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException

import msgspec

from sayso.app.realtime.endpoint import Endpoint

_TIMEOUT_S = 4.0
_LARGEST = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """``status`` 0 when there was no answer in HTTP at all."""

    status: int = 0
    content: bytes = b""


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    """The reply of ``GET /v1/models``, as far as it matters here."""

    data: list[_Model]


class _Version(msgspec.Struct):
    """The reply of ``GET /version``, vLLM's and ours."""

    version: str


class _Engine(msgspec.Struct):
    model: str = ""


class _Health(msgspec.Struct):
    """The reply of a Sayso server's ``GET /health``, as far as it matters here."""

    engine: _Engine = msgspec.field(default_factory=_Engine)


def ask(endpoint: Endpoint, url: str) -> Answer:
    """``GET url``, with the endpoint's key; a refusal is an answer too."""
    headers = endpoint.headers
    # A proxy of the system has no way to a server on this machine.
    handlers = [urllib.request.ProxyHandler({})] if endpoint.is_loopback else []
    try:
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.build_opener(*handlers).open(request, timeout=_TIMEOUT_S) as response:
            return Answer(response.status, response.read(_LARGEST))
    except urllib.error.HTTPError as error:
        return Answer(error.code)
    except (OSError, HTTPException, ValueError):
        return Answer()


def models_in(answer: Answer) -> tuple[str, ...]:
    """The models of an answer from ``models_url``; empty when it lists none."""
    try:
        return tuple(model.id for model in msgspec.json.decode(answer.content, type=_Models).data)
    except msgspec.DecodeError:
        return ()


def version_in(answer: Answer) -> str:
    """The version of an answer from ``version_url``; empty when it tells none."""
    try:
        return msgspec.json.decode(answer.content, type=_Version).version
    except msgspec.DecodeError:
        return ""


def engine_model_in(answer: Answer) -> str:
    """The model that a Sayso server's engine has loaded, of an answer from ``health_url``; empty before it has."""
    try:
        return msgspec.json.decode(answer.content, type=_Health).engine.model
    except msgspec.DecodeError:
        return ""


def first_model(endpoint: Endpoint) -> str:
    """The model a server lists first, or empty: then the server takes its own, or says what is wrong."""
    return next(iter(models_in(ask(endpoint, endpoint.models_url))), "")
