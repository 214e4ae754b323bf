"""The ring between two threads: nothing is lost, doubled or reordered, and what does not fit is counted."""

from __future__ import annotations

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sayso.app.audio.ring import Ring


def block(first: int, count: int, channels: int = 1) -> np.ndarray:
    return np.repeat(np.arange(first, first + count, dtype=np.float32)[:, None], channels, axis=1)


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=60))
def test_what_fits_comes_out_once_and_in_order_and_the_rest_is_counted(steps: list[tuple[int, bool]]) -> None:
    ring = Ring(capacity=16, channels=2)
    written, expected, got, refused = 0, [], [], 0
    for count, read in steps:
        if ring.write(block(written, count, 2)):
            expected += range(written, written + count)
        else:
            refused += count
        written += count
        if read:
            got += ring.read()[:, 1].tolist()
    got += ring.read()[:, 0].tolist()
    assert got == expected
    assert ring.overrun == refused
    assert len(ring) == 0


def test_a_full_ring_keeps_what_it_has() -> None:
    ring = Ring(capacity=4, channels=1)
    assert ring.write(block(0, 4))
    assert not ring.write(block(4, 1))
    assert ring.overrun == 1
    assert ring.read()[:, 0].tolist() == [0, 1, 2, 3]


def test_a_writing_and_a_reading_thread_do_not_disturb_each_other() -> None:
    ring = Ring(capacity=1000, channels=1)
    total = 50_000

    def write() -> None:
        position = 0
        while position < total:
            if ring.write(block(position, 100)):
                position += 100

    writer = threading.Thread(target=write)
    writer.start()
    position = 0
    while position < total:
        samples = ring.read()[:, 0]
        assert np.array_equal(samples, np.arange(position, position + len(samples), dtype=np.float32))
        position += len(samples)
    writer.join(10)
    assert not writer.is_alive()
