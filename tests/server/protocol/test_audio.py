"""Audio of the wire: strict base64, whole samples."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.server.protocol.audio import decode_base64
from sayso.server.protocol.errors import ProtocolError

LIMIT = 1000


@given(st.binary(min_size=1, max_size=400).filter(lambda data: len(data) % 2 == 0))
def test_whole_samples_come_back_as_they_were(pcm: bytes) -> None:
    assert decode_base64(base64.b64encode(pcm).decode(), LIMIT) == pcm


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("!!!!", "base64"),
        ("@@AAAA@@", "base64"),
        ("AAA", "base64"),
        ("AA==AAAA", "base64"),
        ("AA\nAA", "base64"),
        ("ÄÖÜ=", "base64"),
        ("AA==", "16-bit"),
        ("AAAA", "16-bit"),
        ("A" * 4000, "at most 1000 bytes"),
    ],
)
def test_what_is_no_audio_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason) as caught:
        decode_base64(text, LIMIT)
    assert caught.value.code == "invalid_audio"


def test_an_append_of_exactly_the_limit_is_taken() -> None:
    assert len(decode_base64(base64.b64encode(bytes(LIMIT)).decode(), LIMIT)) == LIMIT
