"""Spoken addresses are read, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from sayso.app.commands.address import read_address


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("example dot com", "https://example.com"),
        ("Example.com.", "https://example.com"),
        ("duck duck go dot com", "https://duckduckgo.com"),
        ("www dot example dot org slash a slash b", "https://www.example.org/a/b"),
        ("my dash site dot co dot uk", "https://my-site.co.uk"),
        ("http://example.com/Path_1", "http://example.com/Path_1"),
        ("HTTPS://Example.com", "https://example.com"),
        ("http colon slash slash example dot com", "http://example.com"),
        ("example dot com colon 8080", "https://example.com:8080"),
        ("the door", None),
        ("firefox", None),
        ("dot com", None),
        ("ftp://example.com", None),
        ("javascript:alert(1).com", None),
        ("file:///etc/passwd", None),
        ("user:password@example.com", None),
        ("example.com/?q=<script>", None),
        ("3.5", None),
        ("1.2.3.4", None),
        ("", None),
    ],
)
def test_an_address_is_read(said: str, address: str | None) -> None:
    assert read_address(said) == address
