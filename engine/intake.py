"""What a session was sent and has not examined yet: samples and flush markers, in the order they came. Pure."""

from __future__ import annotations

from collections import deque

import numpy as np

from sayso.engine.errors import SessionError
from sayso.engine.messages import PCM_BYTES
from sayso.engine.segmentation import FRAME_SAMPLES

SAMPLE_BYTES = 4
"""Of one sample as it is kept here."""
FULL_SCALE = 32_768


def samples_of(data: bytes) -> np.ndarray:
    """Float32 samples in -1 to 1 from the PCM of an ``Audio`` message; raises ``SessionError`` when it is cut."""
    if len(data) % PCM_BYTES:
        raise SessionError("bad_audio", f"Audio of {len(data)} bytes is not whole 16-bit samples of 2 bytes each.")
    samples = np.frombuffer(data, "<i2").astype(np.float32)
    samples *= 1 / FULL_SCALE
    return samples


class Intake:
    """Hands out whole frames; a flush marker ends a turn, and what follows it belongs to the next one."""

    def __init__(self, limit_samples: int) -> None:
        self._limit = limit_samples
        self._markers = 0
        self._items: deque[np.ndarray | int] = deque()
        self.waiting = 0
        """Samples that were not handed out yet."""

    @property
    def nbytes(self) -> int:
        return self.waiting * SAMPLE_BYTES

    @property
    def marker(self) -> int | None:
        """The flush marker that is next, once all audio before it was handed out."""
        return self._items[0] if self._items and isinstance(self._items[0], int) else None

    @property
    def ready(self) -> bool:
        """Whether ``frames`` has something to give: a whole frame, or the rest before a marker."""
        return self.waiting >= FRAME_SAMPLES or (self.waiting > 0 and self._markers > 0)

    def push(self, samples: np.ndarray) -> None:
        """Add samples; raises ``SessionError`` beyond the limit, since the sender then runs far ahead of the engine."""
        if self.waiting + len(samples) > self._limit:
            raise SessionError("audio_overrun", "More audio was sent ahead than the engine keeps; send it more slowly.")
        if len(samples):
            self._items.append(samples)
            self.waiting += len(samples)

    def mark(self, marker: int) -> None:
        """Add a flush marker."""
        self._markers += 1
        self._items.append(marker)

    def pop_marker(self) -> int:
        """Take the marker that is next."""
        marker = self._items.popleft()
        self._markers -= 1
        assert isinstance(marker, int)
        return marker

    def clear(self) -> None:
        """Forget everything."""
        self._items.clear()
        self.waiting = self._markers = 0

    def frames(self, most: int) -> np.ndarray:
        """Up to ``most`` * 512 samples: whole frames, and a shorter rest only right before a marker."""
        wanted = most * FRAME_SAMPLES
        parts: list[np.ndarray] = []
        taken = 0
        while self._items and taken < wanted and not isinstance(self._items[0], int):
            item = self._items.popleft()
            assert not isinstance(item, int)
            parts.append(item[: wanted - taken])
            taken += len(parts[-1])
            if len(parts[-1]) < len(item):
                self._items.appendleft(item[len(parts[-1]) :])
        samples = np.concatenate(parts) if parts else np.zeros(0, np.float32)
        whole = taken if self.marker is not None else taken - taken % FRAME_SAMPLES
        if whole < taken:
            self._items.appendleft(samples[whole:])
        self.waiting -= whole
        return samples[:whole]
