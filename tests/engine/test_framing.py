"""Frames on the pipe: any cutting gives the same messages, garbage is an error with a code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.engine import messages as m
from sayso.engine.errors import FramingError
from sayso.engine.framing import HEADER_BYTES, MAX_FRAME_BYTES, Decoder, encode

DOWN = [
    m.Load("tiny.en"),
    m.Open("a", 3, m.SessionOptions(language="en", bias=("Firefox",), partials=True)),
    m.Audio("a", 3, bytes(range(256)) * 40),
    m.Flush("a", 3, 7),
    m.Cancel("a", 4),
    m.Close("a"),
    m.Stop(),
]


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=60))
def test_messages_survive_any_cutting_of_the_stream(sizes: list[int]) -> None:
    stream = b"".join(encode(message) for message in DOWN)
    decoder: Decoder[m.Message] = Decoder(m.Down)
    received: list[m.Message] = []
    position = 0
    for size in [*sizes, len(stream)]:
        received += decoder.feed(stream[position : position + size])
        position += size
    assert received == DOWN
    assert decoder.pending_bytes == 0


def test_a_cut_message_stays_pending() -> None:
    decoder: Decoder[m.Message] = Decoder(m.Down)
    assert decoder.feed(encode(m.Stop())[:-1]) == []
    assert decoder.pending_bytes > 0


@pytest.mark.parametrize(
    ("garbage", "code"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "frame_too_long"),
        ((MAX_FRAME_BYTES + 1).to_bytes(HEADER_BYTES, "little"), "frame_too_long"),
        (b"\x03\x00\x00\x00abc", "bad_message"),
        (encode(m.Opened("a")), "bad_message"),
    ],
)
def test_garbage_is_an_error_with_a_code(garbage: bytes, code: str) -> None:
    decoder: Decoder[m.Message] = Decoder(m.Down)
    with pytest.raises(FramingError) as error:
        decoder.feed(garbage)
    assert error.value.code == code


def test_messages_before_garbage_are_given_out_and_the_decoder_stays_broken_after_it() -> None:
    decoder: Decoder[m.Message] = Decoder(m.Down)
    assert decoder.feed(encode(m.Stop()) + b"\xff\xff\xff\xff") == [m.Stop()]
    for data in (b"", encode(m.Stop())):
        with pytest.raises(FramingError):
            decoder.feed(data)


def test_a_message_over_the_limit_is_not_encoded() -> None:
    with pytest.raises(FramingError) as error:
        encode(m.Audio("a", 0, bytes(MAX_FRAME_BYTES)))
    assert error.value.code == "frame_too_long"
