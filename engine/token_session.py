"""One session of a token model: chunks in, tokens out, and the rule of what stays in its context. Pure; loop thread.

The rule: when a chunk's generation ends, exactly the outputs whose keys and values exist stay in the context. That is
all but the last one, which was never fed to the model. A stop token of a model with ``feeds_stop_token`` stays too: it
is computed before the next chunk. The next chunk follows what stayed, and nothing but its own tokens (and such a stop
token) is computed for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from sayso.engine.detokenizer import Detokenizer
from sayso.engine.sampling import Choice, Chosen, Dice, Logprobs, SamplingParams

FinishReason = Literal["stop", "length", "context_length", "abort", "idle"]
"""``stop``: a stop token came; ``length``: the chunk's ``max_tokens``. The others end the session: ``context_length``:
no position is left in the model; ``abort``: somebody aborted it; ``idle``: nothing came for too long."""


class State(Enum):
    """``ACTIVE`` has a chunk to compute or to answer, ``WAITING`` waits for one."""

    WAITING = "waiting"
    ACTIVE = "active"
    CLOSED = "closed"


TRANSITIONS: dict[State, frozenset[State]] = {
    State.WAITING: frozenset({State.ACTIVE, State.CLOSED}),
    State.ACTIVE: frozenset({State.WAITING, State.CLOSED}),
    State.CLOSED: frozenset(),
}


@dataclass(frozen=True)
class Chunk:
    """Tokens that join the session, and how they are answered."""

    tokens: tuple[int, ...]
    params: SamplingParams


@dataclass(frozen=True)
class Usage:
    """What one chunk took."""

    prompt_tokens: int
    completion_tokens: int
    computed_tokens: int
    """Positions computed before the first token of the answer: the chunk's own, a stop token that the model must see
    before it, and those before them only when the session had been preempted."""


@dataclass(frozen=True)
class Output:
    """One generated token, or a marker without one that says how the session ended."""

    request_id: str
    chunk: int
    """Number of the chunk it answers, from 0; -1 when no chunk ever came."""
    token: int | None
    text: str
    """Characters that this token completed; a stop token has none."""
    in_context: bool
    """Whether the session's later chunks follow this token, or it was only said."""
    finish_reason: FinishReason | None = None
    """Set on the last output of a chunk."""
    finished: bool = False
    """The session is over: nothing follows."""
    logprobs: Logprobs | None = None
    usage: Usage | None = None
    """With ``finish_reason``, unless the session ended between two chunks."""


@dataclass(frozen=True)
class Joined:
    """A chunk left the session's queue: there is room for one more."""

    chunk: int


@dataclass(frozen=True)
class Model:
    """What a session must know of its model."""

    max_length: int
    eos_ids: frozenset[int]
    feeds_stop_token: bool
    piece: Callable[[int], bytes] = lambda token: b""


class TokenSession:
    """See the module. The worker computes ``pending`` tokens in one or more steps, then passes what was chosen."""

    def __init__(self, request_id: str, model: Model) -> None:
        self.request_id = request_id
        self.state = State.WAITING
        self.computed = 0
        """Positions whose keys and values exist."""
        self.joined = -1
        """Number of the newest chunk that joined."""
        self._model = model
        self._tokens: list[int] = []
        self._queue: deque[Chunk] = deque()
        self._chunk = Chunk((), SamplingParams())
        self._generated = 0
        self._computed_for_chunk = 0
        self._input_ended = False
        self._dice = Dice()
        self._draw: float | None = None
        self._detokenizer = Detokenizer(model.piece)
        self._outputs: list[Output] = []

    # In.

    def become(self, state: State) -> None:
        """The only way to change ``state``; raises ``ValueError`` for a change that the table does not have."""
        if state is self.state:
            return
        if state not in TRANSITIONS[self.state]:
            raise ValueError(f"A token session cannot go from {self.state.value} to {state.value}.")
        self.state = state

    def push(self, chunk: Chunk) -> None:
        """A chunk: it joins at once, or after the chunks before it were answered."""
        if self.state is State.CLOSED:
            return
        self._queue.append(chunk)
        self._go_on()

    def end_input(self) -> None:
        """No chunk will follow those that came."""
        self._input_ended = True
        self._go_on()

    def end(self, reason: FinishReason) -> None:
        """End the session now, with a marker that says why. Of one that is over nothing more is said."""
        if self.state is not State.CLOSED:
            self._mark(reason)

    # Work.

    @property
    def pending(self) -> int:
        """Tokens to compute before the next one can be chosen."""
        return len(self._tokens) - self.computed if self.state is State.ACTIVE else 0

    @property
    def answering(self) -> bool:
        """Whether the chunk's own tokens are through, so that each step gives one more of its answer."""
        return self._generated > 0

    @property
    def length(self) -> int:
        """Positions of the context, the newest tokens included."""
        return len(self._tokens)

    @property
    def context(self) -> tuple[int, ...]:
        return tuple(self._tokens)

    @property
    def queued(self) -> int:
        return len(self._queue)

    def next_tokens(self, most: int) -> tuple[int, ...]:
        """The next tokens to compute."""
        return tuple(self._tokens[self.computed : self.computed + most])

    def advance(self, count: int) -> None:
        """The next ``count`` tokens were computed."""
        self.computed += count
        if not self._generated:
            self._computed_for_chunk += count

    def preempt(self) -> None:
        """The keys and values are gone: all that is in the context is computed again when there is work."""
        self.computed = 0

    def choice(self) -> Choice:
        """How the next token is to be chosen. Asked again before ``chosen``, as when a step failed, it is the same."""
        params = self._chunk.params
        early = self._generated < params.min_tokens
        # An end that is ignored may still come before ``min_tokens``.
        banned = {*params.stop_token_ids, *(() if params.ignore_eos else self._model.eos_ids)} if early else ()
        if self._draw is None and not params.greedy:
            self._draw = self._dice.draw()
        return Choice(params, self._draw or 0.0, tuple(sorted(banned)))

    def chosen(self, chosen: Chosen) -> None:
        """The token that follows all tokens so far."""
        assert chosen.token is not None
        token = chosen.token
        self._tokens.append(token)
        self._draw = None
        self._generated += 1
        stopped = self._stops(token)
        reason = self._reason(stopped)
        stays = reason is None or (stopped and self._model.feeds_stop_token)
        if not stays:
            self._tokens.pop()
        text = "" if stopped else self._detokenizer.push(token)
        finished = reason == "context_length" or (reason is not None and self._input_ended and not self._queue)
        if finished:
            text += self._detokenizer.finish()
        usage = self._usage() if reason is not None else None
        self._outputs.append(
            Output(self.request_id, self.joined, token, text, stays, reason, finished, chosen.logprobs, usage)
        )
        if finished:
            self.become(State.CLOSED)
        elif reason is not None:
            self.become(State.WAITING)
            self._go_on()

    # Out.

    def take(self) -> list[Output]:
        """Outputs since the last call."""
        outputs, self._outputs = self._outputs, []
        return outputs

    def _stops(self, token: int) -> bool:
        params = self._chunk.params
        return token in params.stop_token_ids or (token in self._model.eos_ids and not params.ignore_eos)

    def _reason(self, stopped: bool) -> FinishReason | None:
        if stopped:
            return "stop"
        if self._generated == self._chunk.params.max_tokens:
            return "length"
        if len(self._tokens) >= self._model.max_length:
            return "context_length"
        return None

    def _usage(self) -> Usage:
        return Usage(len(self._chunk.tokens), self._generated, self._computed_for_chunk)

    def _go_on(self) -> None:
        """Between two chunks: take the next one, or end when none will come."""
        if self.state is not State.WAITING:
            return
        if not self._queue:
            if self._input_ended:
                self._mark(None)
            return
        self._chunk = self._queue.popleft()
        self.joined += 1
        self._generated = self._computed_for_chunk = 0
        if len(self._tokens) + len(self._chunk.tokens) >= self._model.max_length:
            self._mark("context_length")
            return
        self._tokens.extend(self._chunk.tokens)
        self._dice.reseed(self._chunk.params.seed)
        self.become(State.ACTIVE)

    def _mark(self, reason: FinishReason | None) -> None:
        usage = self._usage() if self.state is State.ACTIVE else None
        text = self._detokenizer.finish()
        self._outputs.append(Output(self.request_id, self.joined, None, text, False, reason, True, None, usage))
        self._queue.clear()
        self.become(State.CLOSED)


def tokens_fault(tokens: Sequence[int], vocabulary: int, max_length: int) -> tuple[str, str] | None:
    """Why these tokens cannot be a chunk, as code and text, or None."""
    if len(tokens) == 0:
        return "empty_prompt", "A chunk must have a token at least."
    if len(tokens) >= max_length:
        return "prompt_too_long", f"A chunk of {len(tokens)} tokens leaves no place: the model takes {max_length}."
    for token in tokens:
        if not isinstance(token, int) or isinstance(token, bool) or not 0 <= token < vocabulary:
            return "bad_token", f"Token ids are whole numbers from 0 to {vocabulary - 1}; {token!r} is not one."
    return None
