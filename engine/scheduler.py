"""Which work runs next. Pure: it sees costs, tokens, deadlines and keys, never a tensor or a clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

SHARE_OF_THE_URGENT = 4
"""A divisible work with the nearest deadline gets at least one token in so many of a step."""


@dataclass(frozen=True)
class Work:
    """One session's next piece of work.

    Speech is bounded by ``cost_ms``, work of token models by ``tokens``; each leaves the other at 0.
    """

    session: str
    cost_ms: float
    deadline: float
    """Seconds on the loop's clock."""
    batch_key: tuple[object, ...] = ()
    tokens: int = 0
    """Positions to compute."""
    divisible: bool = False
    """A step may take a part of the tokens: a prompt, whose rest is offered again."""


@dataclass(frozen=True)
class Scheduler:
    """Takes the nearest deadline, then what can run in the same batch, within a number, a cost and a count of tokens.

    As every piece of work gets an older deadline the longer it waits, nothing waits for ever, and a session whose
    pieces are dear takes its turn like the others. Prompts share what is left of a step's tokens when those who only
    need the next token of an answer have theirs, so that a long prompt stalls no answer.
    """

    batch: int
    batch_cost_ms: float
    step_tokens: int = 1024

    def pick(self, offered: Iterable[Work]) -> list[Work]:
        """The works of the next step, all of equal key; empty only when nothing was offered.

        A divisible work may come back with fewer tokens than it offered, never with none.
        """
        queue = sorted(offered, key=lambda work: work.deadline)
        if not queue:
            return []
        alike = [work for work in queue if work.batch_key == queue[0].batch_key]
        if any(work.tokens for work in alike):
            return self._within_tokens(alike)
        picked, cost_ms = [alike[0]], alike[0].cost_ms
        for work in alike[1:]:
            if len(picked) == self.batch:
                break
            if cost_ms + work.cost_ms <= self.batch_cost_ms:
                picked.append(work)
                cost_ms += work.cost_ms
        return picked

    def _within_tokens(self, queue: Sequence[Work]) -> list[Work]:
        """Nearest deadline first; whole works reserve their tokens before the rest is shared among prompts."""
        seated = queue[: self.batch]
        first = seated[0]
        left = self.step_tokens
        granted: dict[str, int] = {}
        if first.divisible:
            granted[first.session] = min(first.tokens, max(1, self.step_tokens // SHARE_OF_THE_URGENT))
            left -= granted[first.session]
        for work in seated:
            # The nearest deadline always runs, even when it is larger than a step should be.
            if not work.divisible and (work.tokens <= left or work is first):
                granted[work.session] = work.tokens
                left -= work.tokens
        for work in seated:
            more = min(work.tokens - granted.get(work.session, 0), left) if work.divisible else 0
            if more > 0:
                granted[work.session] = granted.get(work.session, 0) + more
                left -= more
        return [replace(work, tokens=granted[work.session]) for work in seated if work.session in granted]
