"""Addresses as people write them, and faults as people understand them."""

from __future__ import annotations

import socket
import ssl

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response

from sayso.app.realtime.endpoint import explain, parse, remote
from sayso.app.realtime.errors import RealtimeError


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("example.org", "ws://example.org/v1/realtime"),
        ("example.org:8000", "ws://example.org:8000/v1/realtime"),
        (" 192.168.1.20:8000 ", "ws://192.168.1.20:8000/v1/realtime"),
        ("[::1]:8000", "ws://[::1]:8000/v1/realtime"),
        ("http://example.org", "ws://example.org/v1/realtime"),
        ("https://example.org/v1", "wss://example.org/v1/realtime"),
        ("https://example.org/v1/", "wss://example.org/v1/realtime"),
        ("wss://example.org/v1/realtime", "wss://example.org/v1/realtime"),
        ("ws://example.org/speech", "ws://example.org/speech/v1/realtime"),
        ("https://example.org/proxy/v1/realtime/", "wss://example.org/proxy/v1/realtime"),
        ("WSS://Example.org", "wss://Example.org/v1/realtime"),
    ],
)
def test_any_spelling_of_an_address_is_understood(address: str, url: str) -> None:
    assert parse(address) == url


@pytest.mark.parametrize(
    "address", ["", "ftp://example.org", "http://", "host:port", "host:99999", "two words", "ws://user:secret@host"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(RealtimeError) as caught:
        parse(address)
    assert caught.value.code == "bad_url"


@pytest.mark.parametrize(
    ("address", "is_loopback"),
    [("localhost:1", True), ("127.0.0.1:1", True), ("[::1]:1", True), ("example.org", False), ("10.0.0.1", False)],
)
def test_proxies_are_passed_by_for_this_machine_only(address: str, is_loopback: bool) -> None:
    assert remote(address).is_loopback is is_loopback


def test_models_are_listed_beside_the_realtime_path() -> None:
    assert remote("https://example.org/v1").models_url == "https://example.org/v1/models"
    assert remote("example.org:8000").models_url == "http://example.org:8000/v1/models"


def test_the_key_is_not_in_what_is_logged() -> None:
    assert "secret" not in repr(remote("example.org", "secret"))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (socket.gaierror(-2, "Name or service not known"), "name_not_found"),
        (ConnectionRefusedError(111, "Connection refused"), "refused"),
        (OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 1), …"), "refused"),
        (OSError(113, "No route to host"), "unreachable"),
        (TimeoutError(), "timed_out"),
        (ssl.SSLError(1, "wrong version number"), "tls"),
        (EOFError(), "not_realtime"),
        (InvalidStatus(Response(200, "OK", Headers())), "not_realtime"),
        (InvalidStatus(Response(500, "Internal Server Error", Headers())), "rejected"),
    ],
)
def test_each_fault_has_a_code_and_words(error: Exception, code: str) -> None:
    fault = explain(error, "ws://example.org:8000/v1/realtime")
    assert fault.code == code
    assert "example.org:8000" in str(fault)
