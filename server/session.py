"""The translator of one connection: frames to intents, engine messages to events. Runs on the event loop, never waits.

It joins a dialect, a turn engine, a lane to the engine and an outbox to the client, and decides nothing itself.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from sayso.engine import messages
from sayso.server.deadlines import Bounds, Standing, due
from sayso.server.engine_client import EngineClient
from sayso.server.link import Deeper
from sayso.server.outbox import Outbox
from sayso.server.protocol.dialects.base import Dialect
from sayso.server.protocol.errors import ProtocolError
from sayso.server.protocol.events import ServerEvent
from sayso.server.protocol.intents import Choose, DropTurn, EngineNews, IdleSoon, Replayed, Served, Trouble
from sayso.server.protocol.state import WireState
from sayso.server.turns import Limits, Output, TurnEngine

logger = logging.getLogger(__name__)

NORMAL = 1000
INTERNAL_ERROR = 1011
TRY_AGAIN_LATER = 1013

_encoder = msgspec.json.Encoder()


@dataclass(frozen=True)
class SessionFacts:
    """What a connection is at this moment, for whoever keeps the server."""

    id: str
    state: str
    age_s: float
    idle_s: float
    waiting_ms: int
    """Audio that has not gone to the engine yet."""
    connected: bool = True
    """Whether there is a connection; without one the session waits for its client to come back."""
    kept_bytes: int = 0
    """Audio that the server holds."""


class Session:
    def __init__(
        self,
        name: str,
        dialect: Dialect,
        engine: EngineClient,
        outbox: Outbox,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._dialect = dialect
        self._engine = engine
        self._outbox = outbox
        self._turns = TurnEngine(name, engine.served, engine.news, limits)
        self._limits = limits
        self._clock = clock
        self._began_s = self._heard_s = clock()
        self._warned = self._finishing = False
        self._leaving_s: float | None = None
        self._lane = engine.connect(self)
        self.limits_changed: Callable[[], None] | None = None
        """Ends the wait until ``keep_limits`` is asked again, while there is one."""

    @property
    def draining(self) -> bool:
        """Whether the last text of an ended turn is still awaited."""
        return self._turns.state is WireState.DRAINING

    @property
    def busy(self) -> bool:
        """Whether the engine holds something of this session that must not be lost."""
        return self._turns.busy

    @property
    def facts(self) -> SessionFacts:
        now_s = self._clock()
        waiting = self._turns.waiting_samples + self._lane.queued_samples
        waiting_ms = waiting * 1000 // messages.SAMPLE_RATE
        ages = now_s - self._began_s, now_s - self._heard_s
        return SessionFacts(self.name, self._turns.state.value, *ages, waiting_ms, kept_bytes=self._turns.kept_bytes)

    # From the client.

    def greet(self) -> None:
        self._send(self._dialect.created(int(time.time())))

    def text_frame(self, text: str) -> None:
        self._heard_s, self._warned = self._clock(), False
        try:
            intent = self._dialect.decode(text)
        except ProtocolError as error:
            self._refuse(error)
            return
        self._carry_out(self._turns.intent(intent, self._lane.queued_samples))
        if not isinstance(intent, Choose | DropTurn) and self._turns.wants_engine:
            self._engine.wake()

    def binary_frame(self) -> None:
        self._refuse(ProtocolError("invalid_frame", "Binary frames are not taken: send JSON text frames."))

    def leave(self) -> None:
        """The client is gone."""
        self._carry_out(self._turns.leave())
        self._engine.disconnect(self._lane)

    def shut_down(self, code: int) -> None:
        """The server ends: the open turn gets its last word, then the connection is closed with ``code``."""
        self._carry_out(self._turns.shut_down())
        self._outbox.close(code)

    def end(self, code: str, message: str) -> None:
        """Close in order, now: the open turn's audio ends here, and its text still comes."""
        self._expire(code, message, finish=True)

    def regulate(self, limits: Limits) -> None:
        """Other limits, at once."""
        self._limits = self._turns.limits = limits
        self._look_again()

    def park(self, tier: Deeper) -> str:
        """Put what the engine holds of this session away; a code when there is nothing to be told to the engine."""
        if self._engine.news.state != "ready":
            return "engine_not_ready"
        down = self._turns.park(tier)
        self._carry_out(down)
        return "" if down else "nothing_held"

    def _look_again(self) -> None:
        if self.limits_changed is not None:
            self.limits_changed()

    def keep_limits(self) -> float | None:
        """Do what time asks for; returns after how many seconds to ask again at the latest, None is never."""
        while True:
            now_s = self._clock()
            if self.draining and self._leaving_s is None:
                self._heard_s = now_s
            bounds = Bounds(self._turns.idle_s, self._limits.idle_warning_s, self._limits.session_s)
            step, wait_s = due(self._standing(now_s), bounds)
            match step:
                case "wait":
                    return wait_s
                case "warn":
                    self._warned = True
                    self._carry_out([IdleSoon(round((bounds.idle_s or 0) - (now_s - self._heard_s), 3))])
                case "idle":
                    text = f"Nothing came for {bounds.idle_s:g} seconds: connect again when there is something to say."
                    self._expire("idle_timeout", text, finish=True)
                case "rotate":
                    text = f"A connection may last {bounds.length_s:g} seconds: connect again."
                    self._expire("session_expired", text, finish=False)
                case "finish":
                    self._finish()
                case "give_up":
                    self._leaving_s = now_s
                    self._carry_out(self._turns.give_up())

    def _standing(self, now_s: float) -> Standing:
        leaving_s = None if self._leaving_s is None else now_s - self._leaving_s
        quiet_s, age_s = now_s - self._heard_s, now_s - self._began_s
        return Standing(quiet_s, age_s, self.draining, self._warned, leaving_s, self._finishing)

    def _expire(self, code: str, message: str, *, finish: bool) -> None:
        logger.info("session %s: is to end (%s)", self.name, code)
        self._leaving_s = self._clock()
        self._carry_out(self._turns.expire(code, message))
        if finish:
            self._finish()
        self._look_again()

    def _finish(self) -> None:
        self._finishing, self._leaving_s = True, self._clock()
        self._carry_out(self._turns.finish_turn())

    def break_off(self) -> None:
        """A fault of ours: say so, and close."""
        trouble = Trouble("processing_error", "The server made a mistake in this session: connect again.", True)
        self._carry_out([*self._turns.fail(), trouble])
        self._outbox.close(INTERNAL_ERROR)

    # From the engine.

    def engine_message(self, message: messages.Up) -> None:
        self._guarded(lambda: self._turns.engine_message(message))

    def engine_news(self, news: EngineNews, served: Served) -> None:
        self._guarded(lambda: self._turns.engine_news(news, served))

    def _guarded(self, step: Callable[[], list[Output]]) -> None:
        """The border of one connection: its fault must touch neither the engine nor the others."""
        try:
            self._carry_out(step())
        except Exception:
            logger.exception("session %s: fault in the server", self.name)
            self.break_off()

    # To both.

    def _refuse(self, error: ProtocolError) -> None:
        logger.info("session %s: refused a message (%s)", self.name, error.code)
        self._carry_out([Trouble(error.code, error.message)])

    def _carry_out(self, outputs: Iterable[Output]) -> None:
        for output in outputs:
            if isinstance(output, messages.Message):
                self._engine.send(self._lane, output)
            else:
                self._engine.tally.replays += isinstance(output, Replayed)
                for event in self._dialect.encode(output):
                    self._send(event)
        if self._turns.finished:
            self._outbox.close(NORMAL)

    def _send(self, event: ServerEvent) -> None:
        if self._outbox.put(_encoder.encode(event).decode()) or self._outbox.close_code is not None:
            return
        logger.warning("session %s: the client does not read, closing", self.name)
        self._outbox.close(TRY_AGAIN_LATER)
        for message in self._turns.fail():
            self._engine.send(self._lane, message)
