"""Audio that waits for its turn: what came before a commit, or after the end of a turn that is still drained. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from sayso.server.protocol.audio import BYTES_PER_SAMPLE


@dataclass
class WaitingTurn:
    """PCM in the order it came, and which of its two commits have come already."""

    chunks: list[bytes] = field(default_factory=list)
    started: bool = False
    ended: bool = False


class Inbox:
    """Turns that wait, oldest first; only the last of them still takes audio and commits."""

    def __init__(self) -> None:
        self._turns: deque[WaitingTurn] = deque()
        self.samples = 0

    def __len__(self) -> int:
        return len(self._turns)

    @property
    def open_turn(self) -> WaitingTurn | None:
        """The waiting turn that is not ended, if there is one."""
        return self._turns[-1] if self._turns and not self._turns[-1].ended else None

    def add(self, pcm: bytes) -> None:
        self._last().chunks.append(pcm)
        self.samples += len(pcm) // BYTES_PER_SAMPLE

    def start(self) -> None:
        self._last().started = True

    def end(self) -> None:
        self._last().ended = True

    def take(self) -> WaitingTurn | None:
        """The oldest turn, when a commit lets it run."""
        if not self._turns or not (self._turns[0].started or self._turns[0].ended):
            return None
        turn = self._turns.popleft()
        self.samples -= sum(len(pcm) for pcm in turn.chunks) // BYTES_PER_SAMPLE
        return turn

    def clear(self) -> None:
        self._turns.clear()
        self.samples = 0

    def _last(self) -> WaitingTurn:
        turn = self.open_turn
        if turn is None:
            turn = WaitingTurn()
            self._turns.append(turn)
        return turn
