"""The text sessions of the engine process: messages of the pipe to a token worker, and what it says back. Loop thread.

A name may be opened again when its session is over; the worker knows each session by a name that is never used twice.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from sayso.engine import messages as m
from sayso.engine.blocks import Budget
from sayso.engine.errors import EngineError, SessionError
from sayso.engine.options import TokenLimits
from sayso.engine.parcel import Vault
from sayso.engine.runner.token_base import TokenRunner
from sayso.engine.sampling import ParameterError, SamplingParams
from sayso.engine.token_session import Chunk, Joined, Output, tokens_fault

if TYPE_CHECKING:
    from sayso.engine.token_worker import TokenWorker

logger = logging.getLogger(__name__)

REASONS = {"abort": "closed", "idle": "idle_timeout", "context_length": "context_length"}
"""Why a session was closed, by the reason of its last marker; any other end is its own."""


class TextSessions:
    """Without a model (``serve``) every session is refused; ``worker`` is for the scheduler."""

    def __init__(self, vault: Vault, taken: Callable[[str], bool], limits: TokenLimits | None = None) -> None:
        """``taken`` says whether a session that is no text session has this name."""
        self.worker: TokenWorker | None = None
        self._taken = taken
        self._vault = vault
        self._limits = limits or TokenLimits()
        self._names: dict[str, str] = {}
        """The pipe's name of a session → the worker's."""
        self._numbers = itertools.count(1)
        self._out: list[m.Message] = []

    # In.

    def serve(self, runner: TokenRunner | None, rules: m.Retention, budget: Budget | None = None) -> None:
        """Serve this model from now on, or none; sessions of the one before are over (``close_all``)."""
        self.worker = None
        if runner is not None:
            # It needs torch, which only a model brings.
            from sayso.engine.token_worker import TokenWorker

            self.worker = TokenWorker(runner, self._with(rules), budget, self._vault)

    def retain(self, rules: m.Retention) -> None:
        """Other rules of retention, in force at once."""
        if self.worker is not None:
            self.worker.limits = self._with(rules)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def handle(self, message: m.TextDown | m.Park | m.Close, now: float) -> None:
        """A message for a text session. One that is over was closed a moment ago: its sender knows."""
        if isinstance(message, m.OpenText):
            self._open(message.session, now)
            return
        name = self._names.get(message.session)
        if name is None or self.worker is None:
            return
        match message:
            case m.Prompt():
                self._prompt(message, name, now)
            case m.EndPrompts():
                self.worker.end_input(name, now)
            case m.Taken(count=count):
                self.worker.read(name, count, now)
            case m.Park(session=session, tier=tier):
                self._park(session, tier)
            case m.Close():
                self.worker.end(name)
                # Its name is free for the next message.
                self._collect()

    def close_all(self, reason: str) -> None:
        """End every session for this reason; what they said before goes out first."""
        self._collect()
        for name in self._names:
            self._out.append(m.Closed(name, reason))
        if self.worker is not None:
            for session in self._names.values():
                self.worker.end(session)
            self.worker.take()
        self._names.clear()

    def _park(self, name: str, tier: m.Tier) -> None:
        """Put away what a session holds now, unless it has work."""
        assert self.worker is not None
        if self.worker.put_away(self._names[name], tier):
            self._out.append(m.Parked(name, tier))
        else:
            text = "The session has work; it keeps what it holds until that is done."
            self._out.append(m.Parked(name, "device", "session_busy", text))

    # Time and work.

    def expire(self, now: float) -> None:
        """Do what time alone asks for."""
        if self.worker is not None:
            self.worker.expire(now)

    def wait_s(self, now: float) -> float | None:
        """How long nothing has to be done here unless a message comes; 0 when there is work."""
        if self.worker is None:
            return None
        if self.worker.offers(now):
            return 0.0
        at = self.worker.expires()
        return max(0.0, at - now) if at is not None else None

    # Out.

    def results(self) -> list[m.Message]:
        """Messages to send, in order."""
        self._collect()
        out, self._out = self._out, []
        return out

    def ledger(self, now: float) -> tuple[m.Ledger, ...]:
        """What each session holds, by the pipe's names."""
        if self.worker is None:
            return ()
        names = {session: name for name, session in self._names.items()}
        rows = self.worker.ledger(now)
        return tuple(msgspec.structs.replace(row, session=names[row.session]) for row in rows if row.session in names)

    # Inside.

    def _with(self, rules: m.Retention) -> TokenLimits:
        return replace(self._limits, retention=rules if rules != m.Retention() else None)

    def _open(self, name: str, now: float) -> None:
        try:
            if name in self._names or self._taken(name):
                raise SessionError("session_exists", f"The session {name} is open already.")
            if self.worker is None:
                raise SessionError("no_text_model", "No text model is loaded; name one in Load.text_model.")
            session = f"{name}#{next(self._numbers)}"
            self.worker.open(session, name, now)
        except SessionError as error:
            self._out.append(m.Refused(name, error.code, error.message))
            return
        self._names[name] = session
        self._out.append(m.Opened(name))

    def _prompt(self, message: m.Prompt, name: str, now: float) -> None:
        assert self.worker is not None
        session = self.worker.session(name)
        try:
            chunk = self._chunk(message, first=session is None or not (session.length or session.queued))
        except EngineError as error:
            self._collect()
            if message.session in self._names:
                # Its last marker is not sent: the error is its end.
                self.worker.end(name)
                self.worker.take()
                self._over(message.session, error)
            return
        self.worker.push(name, chunk, now)

    def _chunk(self, message: m.Prompt, *, first: bool) -> Chunk:
        """Raises ``EngineError`` for what cannot be a chunk, with what is wrong."""
        assert self.worker is not None
        runner = self.worker.runner
        try:
            params = SamplingParams.of(message.params)
        except ParameterError as error:
            raise SessionError(error.code, error.message) from error
        params.check_vocabulary(runner.vocabulary)
        if message.text and message.tokens:
            raise SessionError("bad_chunk", "A prompt is text or token ids, not both.")
        tokens: tuple[int, ...] = message.tokens
        if message.text:
            if runner.tokenizer is None:
                text = f"The model {runner.name} came without a tokenizer: send token ids."
                raise SessionError("no_tokenizer", text)
            tokens = tuple(runner.tokenizer.encode(message.text, first=first))
        fault = tokens_fault(tokens, runner.vocabulary, self.worker.max_length)
        if fault is not None:
            raise SessionError(*fault)
        return Chunk(tokens, params)

    def _collect(self) -> None:
        """Take what the sessions said."""
        if self.worker is None:
            return
        names = {session: name for name, session in self._names.items()}
        for session, event in self.worker.take():
            name = names.get(session)
            if name is None:
                continue
            if isinstance(event, Joined):
                self._out.append(m.Joined(name, event.chunk))
            elif isinstance(event, EngineError):
                self._over(name, event)
            else:
                self._say(name, event)

    def _say(self, name: str, output: Output) -> None:
        token = _token(output)
        last = self._out[-1] if self._out else None
        if isinstance(last, m.Tokens) and last.session == name:
            self._out[-1] = m.Tokens(name, (*last.tokens, token))
        else:
            self._out.append(m.Tokens(name, (token,)))
        if output.finished:
            del self._names[name]
            self._out.append(m.Closed(name, REASONS.get(output.finish_reason or "", "finished")))

    def _over(self, name: str, error: EngineError) -> None:
        logger.warning("text session %s failed: %s", name, error.code)
        del self._names[name]
        self._out += [m.Failed(name, error.code, error.message), m.Closed(name, "failed")]


def _token(output: Output) -> m.Token:
    logprobs, usage = output.logprobs, output.usage
    return m.Token(
        output.chunk,
        output.token,
        output.text,
        output.in_context,
        output.finish_reason,
        output.finished,
        m.Logprob(logprobs.chosen, logprobs.rank, logprobs.top) if logprobs is not None else None,
        (usage.prompt_tokens, usage.completion_tokens, usage.computed_tokens) if usage is not None else None,
    )
