from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.ui.server_address import Address, AddressProblem, parse


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("localhost:8000", "ws://localhost:8000/v1/realtime"),
        ("127.0.0.1:8000/", "ws://127.0.0.1:8000/v1/realtime"),
        ("ws://127.0.0.1:8000/v1/realtime", "ws://127.0.0.1:8000/v1/realtime"),
        ("https://speech.example.org", "wss://speech.example.org/v1/realtime"),
        ("http://localhost:9/other/path", "ws://localhost:9/other/path/v1/realtime"),
        ("https://speech.example.org/v1", "wss://speech.example.org/v1/realtime"),
        ("  wss://host  ", "wss://host/v1/realtime"),
        ("[::1]:8000", "ws://[::1]:8000/v1/realtime"),
        ("WSS://HOST:1", "wss://host:1/v1/realtime"),
    ],
)
def test_what_people_type_becomes_an_address(typed: str, url: str) -> None:
    result = parse(typed)
    assert isinstance(result, Address)
    assert result.url == url


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Type the address"),
        ("   ", "Type the address"),
        ("my server:8000", "no spaces"),
        ("ftp://host", "ws:// or wss://"),
        ("ws://", "no host"),
        ("host:99999", "port"),
        ("host:port", "port"),
        ("host:0", "Port 0"),
        ("ws://[::1", "cannot be read"),
        ("ws://user:secret@host", "key field"),
        ("ws://host/v1/realtime?key=secret", "key field"),
    ],
)
def test_what_cannot_be_an_address_is_explained(typed: str, said: str) -> None:
    result = parse(typed)
    assert isinstance(result, AddressProblem)
    assert said in result.text


def test_plain_text_over_a_network_is_warned_about_and_loopback_is_not() -> None:
    away = parse("ws://192.168.1.20:8000", with_key=True)
    assert isinstance(away, Address)
    assert "key travel unencrypted" in away.warning
    for safe in ("ws://127.0.0.1:1", "ws://localhost:1", "ws://[::1]:1", "wss://192.168.1.20"):
        result = parse(safe, with_key=True)
        assert isinstance(result, Address)
        assert result.warning == ""


@given(st.text(max_size=60))
def test_anything_typed_gives_an_address_or_a_sentence(typed: str) -> None:
    result = parse(typed)
    assert result.url.startswith(("ws://", "wss://")) if isinstance(result, Address) else result.text.endswith(".")


@given(st.text(max_size=60))
def test_an_address_that_was_made_is_read_back_as_itself(typed: str) -> None:
    result = parse(typed)
    if isinstance(result, Address):
        again = parse(result.url)
        assert isinstance(again, Address)
        assert again.url == result.url
