"""Sessions fed at real-time pace (or faster) through a real engine process, and what was shown when."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from running_engine import EngineProcess
from speech import pcm16

from sayso.engine import messages as m

CHUNK = 1280
"""Samples of one message: 80 ms."""


@dataclass(frozen=True)
class Shown:
    """What one session showed; times are seconds since its first sample was due."""

    everything: list[tuple[float, str]]
    """The transcript, tentative text included, after every change."""
    stable: list[tuple[float, str]]
    done_at: float


@dataclass
class Feed:
    """One session's audio and when it starts, in seconds after the others."""

    session: str
    samples: np.ndarray
    offset_s: float = 0.0
    sent: int = 0
    flushed: bool = False

    def due_at(self, pace: float) -> float:
        """When the next chunk has been spoken."""
        return self.offset_s + min(self.sent + CHUNK, len(self.samples)) / m.SAMPLE_RATE / pace


def play(engine: EngineProcess, feeds: list[Feed], pace: float = 1.0) -> dict[str, Shown]:
    """Send every feed at ``pace`` times real time, flush each at its end, and wait until all are through."""
    for feed in feeds:
        engine.open(feed.session, partials=True, words=True)
    began = time.monotonic()
    waiting = list(feeds)
    while waiting:
        feed = min(waiting, key=lambda feed: feed.due_at(pace))
        time.sleep(max(0.0, began + feed.due_at(pace) - time.monotonic()))
        chunk = feed.samples[feed.sent : feed.sent + CHUNK]
        feed.sent += len(chunk)
        engine.send(m.Audio(feed.session, 0, pcm16(chunk)))
        if feed.sent >= len(feed.samples):
            engine.send(m.Flush(feed.session, 0, 1))
            waiting.remove(feed)
    for feed in feeds:
        engine.wait_for(lambda e: isinstance(e, m.Flushed), feed.session, timeout=300.0)
    shown = {feed.session: what_was_shown(engine, feed.session, began + feed.offset_s) for feed in feeds}
    engine.send(*(m.Close(feed.session) for feed in feeds))
    return shown


def what_was_shown(engine: EngineProcess, session: str, began: float) -> Shown:
    """The transcript over time; messages that arrived together count as one change."""
    everything: list[tuple[float, str]] = []
    stable_log: list[tuple[float, str]] = []
    stable, done_at = "", 0.0
    for at, message in list(engine.received):
        if getattr(message, "session", None) != session:
            continue
        if isinstance(message, m.Flushed):
            done_at = at - began
        if isinstance(message, m.Text):
            stable += message.piece if message.stable else ""
            put(everything, at - began, stable + ("" if message.stable else message.piece))
            put(stable_log, at - began, stable)
    return Shown(everything, stable_log, done_at)


def put(log: list[tuple[float, str]], at: float, text: str) -> None:
    if log and log[-1][0] == at:
        log[-1] = (at, text)
    elif not log or log[-1][1] != text:
        log.append((at, text))
