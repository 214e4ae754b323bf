"""A real engine process for tests and benches: spawn it, speak the protocol, wait with a bound for messages."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from speech import pcm16

from sayso.engine import messages as m
from sayso.engine.framing import Decoder, encode

WAIT_S = 60.0


class EngineProcess:
    """``python -m sayso.engine`` with its pipe; every message it ever sent stays in ``received`` with its time."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sayso.engine"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.received: list[tuple[float, m.Message]] = []
        self._changed = threading.Condition()
        self.ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(self, *exception: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(WAIT_S)
        finally:
            self.process.kill()
            self.process.wait()
            self._reader.join(WAIT_S)
            assert self.process.stdout is not None
            self.process.stdout.close()

    def send(self, *messages: m.Message) -> None:
        assert self.process.stdin is not None
        for message in messages:
            data = memoryview(encode(message))
            while data:
                data = data[self.process.stdin.write(data) :]

    def load(self, model: str = "tiny.en", threads: int = 0) -> m.Ready:
        self.send(m.Load(model, "cpu", threads))
        ready = self.wait_for(lambda message: isinstance(message, m.Ready))
        assert isinstance(ready, m.Ready)
        return ready

    def open(self, session: str, **options: Any) -> None:
        self.send(m.Open(session, 0, m.SessionOptions(**options)))
        self.wait_for(lambda message: message == m.Opened(session))

    def audio(self, session: str, samples: np.ndarray, epoch: int = 0, chunk: int = 1600) -> None:
        """Send all samples at once, cut in messages of ``chunk`` samples."""
        for at in range(0, len(samples), chunk):
            self.send(m.Audio(session, epoch, pcm16(samples[at : at + chunk])))

    def flush(self, session: str, marker: int, epoch: int = 0) -> None:
        """Flush, and wait until it is through."""
        self.send(m.Flush(session, epoch, marker))
        self.wait_for(lambda message: isinstance(message, m.Flushed) and message.marker == marker, session)

    def wait_for(
        self, matches: Callable[[m.Message], bool], session: str | None = None, timeout: float = WAIT_S
    ) -> m.Message:
        """The first message that matches, of this session if one is named; fails after ``timeout`` seconds."""

        def found() -> m.Message | None:
            for _, message in self.received:
                if (session is None or getattr(message, "session", None) == session) and matches(message):
                    return message
            return None

        with self._changed:
            self._changed.wait_for(lambda: found() is not None or self.ended, timeout)
            message = found()
            assert message is not None, f"not received; last messages: {[e for _, e in self.received[-5:]]}"
            return message

    def of(self, session: str, kind: type[m.Message]) -> list[m.Message]:
        """Messages of one kind for one session, in order."""
        with self._changed:
            return [e for _, e in self.received if isinstance(e, kind) and getattr(e, "session", None) == session]

    def transcript(self, session: str) -> str:
        """The stable pieces joined."""
        return "".join(text.piece for text in self.of(session, m.Text) if text.stable)

    def wait_for_end(self, timeout: float = WAIT_S) -> int:
        """The exit status; fails when the process does not end in time."""
        return self.process.wait(timeout)

    def _read(self) -> None:
        decoder: Decoder[m.Message] = Decoder(m.Up)
        assert self.process.stdout is not None
        while data := os.read(self.process.stdout.fileno(), 65536):
            now = time.monotonic()
            with self._changed:
                self.received += [(now, message) for message in decoder.feed(data)]
                self._changed.notify_all()
        with self._changed:
            self.ended = True
            self._changed.notify_all()
