"""The translator of one connection: frames to intents, engine messages to events. Runs on the event loop, never waits.

It joins a dialect, a turn engine, a lane to the engine and an outbox to the client, and decides nothing itself.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable

import msgspec

from sayso.engine import messages
from sayso.server.engine_client import EngineClient
from sayso.server.outbox import Outbox
from sayso.server.protocol.dialects.base import Dialect
from sayso.server.protocol.errors import ProtocolError
from sayso.server.protocol.events import ServerEvent
from sayso.server.protocol.intents import Choose, DropTurn, EngineNews, Served, Trouble
from sayso.server.protocol.state import WireState
from sayso.server.turns import Limits, Output, TurnEngine

logger = logging.getLogger(__name__)

NORMAL = 1000
INTERNAL_ERROR = 1011
TRY_AGAIN_LATER = 1013

_encoder = msgspec.json.Encoder()


class Session:
    def __init__(self, name: str, dialect: Dialect, engine: EngineClient, outbox: Outbox, limits: Limits) -> None:
        self.name = name
        self._dialect = dialect
        self._engine = engine
        self._outbox = outbox
        self._turns = TurnEngine(name, engine.served, engine.news, limits)
        self._lane = engine.connect(self)

    @property
    def draining(self) -> bool:
        """Whether the last text of an ended turn is still awaited."""
        return self._turns.state is WireState.DRAINING

    @property
    def busy(self) -> bool:
        """Whether the engine holds something of this session that must not be lost."""
        return self._turns.busy

    @property
    def idle_s(self) -> float | None:
        """How long the client may say nothing, in seconds; None is for ever."""
        return self._turns.idle_s

    # From the client.

    def greet(self) -> None:
        self._send(self._dialect.created(int(time.time())))

    def text_frame(self, text: str) -> None:
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

    def idle_too_long(self) -> None:
        self._carry_out(self._turns.idle_too_long())
        self._outbox.close(NORMAL)

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
                for event in self._dialect.encode(output):
                    self._send(event)

    def _send(self, event: ServerEvent) -> None:
        if self._outbox.put(_encoder.encode(event).decode()) or self._outbox.close_code is not None:
            return
        logger.warning("session %s: the client does not read, closing", self.name)
        self._outbox.close(TRY_AGAIN_LATER)
        for message in self._turns.fail():
            self._engine.send(self._lane, message)
