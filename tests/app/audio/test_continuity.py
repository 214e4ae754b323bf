"""Lost sound is told from late sound by the clock alone."""

from __future__ import annotations

import random

import pytest

from sayso.app.audio.continuity import Continuity

RATE = 48_000
BLOCK = 1920


class Device:
    """A stream with a clock of its own: what it records, when that is read, and what it could not keep."""

    def __init__(self, slower: float = 0.0) -> None:
        self.continuity = Continuity(RATE)
        self.now_s = 100.0
        self.lost_s: list[float] = []
        self._each_s = BLOCK / RATE * (1 + slower)

    def reads(self, frames: int) -> None:
        if lost_s := self.continuity.feed(frames, self.now_s):
            self.lost_s.append(lost_s)

    def runs(self, seconds: float, jitter: random.Random | None = None) -> None:
        for _ in range(round(seconds / self._each_s)):
            self.now_s += self._each_s
            if jitter is None:
                self.reads(BLOCK)
            else:
                late_s = jitter.random() * 0.15
                self.now_s += late_s
                self.reads(BLOCK)
                self.now_s -= late_s

    def stalls(self, seconds: float, *, keeps_s: float, speed: float = 0.0) -> None:
        """Nothing is read for a while; what was kept comes then, at once or at so many times its own speed."""
        self.now_s += seconds
        kept = round(min(seconds, keeps_s) / self._each_s)
        if not speed:
            self.reads(kept * BLOCK)
            return
        for _ in range(round(kept * speed / (speed - 1))):
            self.now_s += self._each_s / speed
            self.reads(BLOCK)


def test_a_stream_that_goes_on_loses_nothing() -> None:
    device = Device()
    device.runs(600)
    assert device.lost_s == []


@pytest.mark.parametrize("slower", [0.001, -0.001])
def test_a_clock_that_is_not_ours_is_no_loss(slower: float) -> None:
    device = Device(slower)
    device.runs(3600)
    assert device.lost_s == []


def test_samples_that_come_unevenly_are_no_loss() -> None:
    device = Device()
    device.runs(600, random.Random(1))
    assert device.lost_s == []


@pytest.mark.parametrize("speed", [0.0, 1.5, 4.0, 30.0])
def test_what_comes_late_but_whole_is_no_loss(speed: float) -> None:
    device = Device()
    device.runs(20)
    device.stalls(9.0, keeps_s=60.0, speed=speed)
    device.runs(20)
    assert device.lost_s == []


@pytest.mark.parametrize("keeps_s", [0.0, 2.0, 10.0])
@pytest.mark.parametrize("speed", [0.0, 8.0])
def test_what_never_comes_is_told_once_with_its_length(keeps_s: float, speed: float) -> None:
    device = Device()
    device.runs(20)
    device.stalls(30.0, keeps_s=keeps_s, speed=speed)
    device.runs(60)
    assert device.lost_s == [pytest.approx(30.0 - keeps_s, abs=0.3)]


def test_each_of_several_losses_is_told() -> None:
    device = Device()
    for lost_s in (1.0, 5.0, 0.1, 2.0):
        device.runs(20)
        device.stalls(lost_s, keeps_s=0.0)
    device.runs(20)
    assert device.lost_s == [pytest.approx(each, abs=0.2) for each in (1.0, 5.0, 2.0)]


def test_a_loss_at_the_very_start_is_told_too() -> None:
    device = Device()
    device.runs(1.5)
    device.stalls(4.0, keeps_s=0.0)
    device.runs(5)
    assert device.lost_s == [pytest.approx(4.0, abs=0.2)]
