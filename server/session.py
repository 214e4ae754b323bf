"""The translator of one connection: frames to intents, engine messages to events. Runs on the event loop, never waits.

It joins a dialect, a turn engine, a lane to the engine and an outbox to the client, and decides nothing itself.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from sayso.engine import messages
from sayso.server.deadlines import Away, Bounds, Standing, due, put_away
from sayso.server.engine_client import EngineClient
from sayso.server.link import Deeper
from sayso.server.outbox import Outbox
from sayso.server.protocol.dialects.base import Dialect
from sayso.server.protocol.errors import ProtocolError
from sayso.server.protocol.events import ServerEvent
from sayso.server.protocol.intents import (
    AddAudio,
    Choose,
    DropTurn,
    EngineNews,
    GoesOn,
    HaveHeard,
    IdleSoon,
    Intent,
    MayResume,
    Replayed,
    Served,
    TentativeText,
    Trouble,
)
from sayso.server.protocol.resumption import Claim, SentFrames
from sayso.server.protocol.state import WireState
from sayso.server.turn_limits import Limits
from sayso.server.turns import Output, TurnEngine

logger = logging.getLogger(__name__)

NORMAL = 1000
INTERNAL_ERROR = 1011
TRY_AGAIN_LATER = 1013

KEPT_CHARACTERS = 1024 * 1024
"""Of frames that a client may not have got."""
REPLACED = (TentativeText, EngineNews, IdleSoon)
"""Happenings of which only the newest counts."""
CANNOT_RESUME = ProtocolError(
    "resume_failed", "There is no such session any more, or it is another client's: this one is new, send again."
)

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
        rejoin: Callable[[Choose], bool],
        owner: bytes = b"",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``rejoin`` lets another session, which the client names, go on in place of this one; whether it does.

        ``owner``: what the client showed as its key.
        """
        self.name = name
        self._dialect = dialect
        self._engine = engine
        self._outbox: Outbox | None = outbox
        self._rejoin = rejoin
        self._owner = owner
        self._claim: Claim | None = None
        self._frames = SentFrames(KEPT_CHARACTERS)
        self._received = 0
        self._away: Away = ""
        self._stirred_s = clock()
        self._turns = TurnEngine(name, engine.served, engine.news, limits)
        self._limits = limits
        self._clock = clock
        self._began_s = self._heard_s = clock()
        self._warned = self._finishing = False
        self._leaving_s: float | None = None
        self._lane = engine.connect(self)
        self.limits_changed: Callable[[], None] | None = None
        """Ends the wait until ``keep_limits`` is asked again, while there is one."""
        self.expiry: asyncio.TimerHandle | None = None
        """Ends the session when nobody comes back for it."""
        self.lost_s = 0.0
        """When its connection was lost, on the loop's clock."""

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
        kept_bytes = self._turns.kept_bytes
        return SessionFacts(self.name, self._turns.state.value, *ages, waiting_ms, self.connected, kept_bytes)

    # From the client.

    def greet(self) -> None:
        self._send(self._dialect.created(int(time.time())))

    def text_frame(self, text: str) -> None:
        try:
            intent = self._dialect.decode(text)
        except ProtocolError as error:
            # No sign of life: a client that sends what nobody can read is let go like one that sends nothing.
            self._received += 1
            self._refuse(error)
            return
        match intent:
            case HaveHeard(frames=frames):
                # Our own client's bookkeeping: nobody said anything.
                self._frames.heard(frames)
            case Choose():
                if intent.sayso is not None and intent.sayso.resume:
                    if self._rejoin(intent):
                        return
                    self._refuse(CANNOT_RESUME)
                self.choose(intent)
            case _:
                self._received += 1
                alive = self._obey(intent)
                if alive and not isinstance(intent, DropTurn) and self._turns.wants_engine:
                    self._engine.wake()

    def _obey(self, intent: Intent) -> bool:
        """Whether it is a sign of life: a client that says only what is refused is let go like one that says nothing.

        Audio always is one: where it finds no room, somebody speaks all the same.
        """
        outputs = self._turns.intent(intent, self._lane.queued_samples)
        refused = bool(outputs) and all(isinstance(out, Trouble) and not out.turn_lost for out in outputs)
        alive = isinstance(intent, AddAudio) or not refused
        if alive:
            self._heard_s = self._stirred_s = self._clock()
            self._warned, self._away = False, ""
        self._carry_out(outputs)
        return alive

    def choose(self, choice: Choose) -> None:
        self._obey(choice)
        asked = choice.sayso is not None and choice.sayso.resumable
        if asked and self._claim is None and self._limits.resume_s and self._turns.state is not WireState.NEW:
            claim = Claim(self.name, self._owner)
            self._carry_out([MayResume(claim.token, self._limits.resume_s)])
            self._claim = claim

    def binary_frame(self) -> None:
        self._refuse(ProtocolError("invalid_frame", "Binary frames are not taken: send JSON text frames."))

    @property
    def connected(self) -> bool:
        return self._outbox is not None

    @property
    def ended(self) -> bool:
        """Whether nothing goes on here any more."""
        return self._turns.ended

    def detach(self) -> bool:
        """The connection is lost: whether the session waits for its client."""
        if self._claim is None or self.ended or self._turns.finished or not self._limits.resume_s:
            return False
        self._outbox = None
        return True

    def attach(self, outbox: Outbox, choice: Choose, owner: bytes) -> bool:
        """Go on over another connection, if it may have this session and all that it missed is still here."""
        assert choice.sayso is not None
        missed = self._frames.after(choice.sayso.heard)
        if self._claim is None or self.ended or missed is None or not self._claim.fits(choice.sayso.resume, owner):
            return False
        self._outbox = outbox
        self._heard_s = self._stirred_s = self._clock()
        turns = self._turns
        told = GoesOn(self._received, turns.state.value, turns.turn_bytes, turns.confirmed_ms)
        for event in self._dialect.encode(told):
            self._put(_encoder.encode(event).decode())
        for frame in missed:
            self._put(frame)
        self.choose(choice)
        return True

    def leave(self) -> None:
        """The client is gone."""
        self._carry_out(self._turns.leave())
        self._engine.disconnect(self._lane)

    def shut_down(self, code: int) -> None:
        """The server ends: the open turn gets its last word, then the connection is closed with ``code``."""
        self._carry_out(self._turns.shut_down())
        self._close(code)

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
            wishes = self._turns.wishes
            warning_s = wishes.warn_before_s if wishes.warn_before_s > 0 else self._limits.idle_warning_s
            bounds = Bounds(self._turns.idle_s, warning_s, self._limits.session_s)
            step, wait_s = due(self._standing(now_s), bounds)
            match step:
                case "wait":
                    return _sooner(wait_s, self._put_away(now_s))
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

    def _put_away(self, now_s: float) -> float | None:
        """Give memory in the engine back as the client wishes; after how many seconds to look again."""
        wishes = self._turns.wishes
        away, wait_s = put_away(now_s - self._stirred_s, wishes.park_after_s, wishes.drop_after_s, self._away)
        if away and away != self._away:
            self.park(away)
        self._away = away
        return wait_s

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
        self._close(INTERNAL_ERROR)

    # From the engine.

    def engine_message(self, message: messages.Up) -> None:
        if isinstance(message, messages.Parked) and message.code == "session_busy":
            # It is to be put away so long after its work is done.
            self._stirred_s, self._away = self._clock(), ""
            self._look_again()
        self._guarded(lambda: self._turns.engine_message(message))

    def engine_news(self, news: EngineNews, served: Served) -> None:
        self._guarded(lambda: self._turns.engine_news(news, served))

    def _guarded(self, step: Callable[[], list[Output]]) -> None:
        """The border of one connection: its fault must touch neither the engine nor the others."""
        try:
            self._carry_out(step())
        except Exception as error:  # noqa: BLE001
            # Its own text may repeat what was said.
            trace = "".join(traceback.format_tb(error.__traceback__))
            logger.error("session %s: fault in the server: %s\n%s", self.name, type(error).__name__, trace)
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
                    self._send(event, lasting=not isinstance(output, REPLACED))
        if self._turns.finished:
            self._close(NORMAL)

    def _send(self, event: ServerEvent, *, lasting: bool = True) -> None:
        frame = _encoder.encode(event).decode()
        if self._claim is not None:
            self._frames.add(frame, lasting=lasting)
        self._put(frame)

    def _put(self, frame: str) -> None:
        outbox = self._outbox
        if outbox is None or outbox.put(frame) or outbox.close_code is not None:
            return
        logger.warning("session %s: the client does not read, closing", self.name)
        outbox.close(TRY_AGAIN_LATER)
        for message in self._turns.fail():
            self._engine.send(self._lane, message)

    def _close(self, code: int) -> None:
        if self._outbox is not None:
            self._outbox.close(code)


def _sooner(*waits_s: float | None) -> float | None:
    return min((wait_s for wait_s in waits_s if wait_s is not None), default=None)
