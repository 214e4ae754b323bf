"""The turn engine of one connection: client intents and engine messages in, engine messages and happenings out.

Pure: no clock, no socket, no task. Every input is one call that returns what to do, in order. A turn begins with the
commit that starts it and ends with exactly one of: its text, a ``Trouble`` with ``turn_lost``, or ``Dropped``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sayso.engine import messages
from sayso.server import refusals
from sayso.server.farewell import Farewell
from sayso.server.inbox import Inbox
from sayso.server.link import Deeper, EngineLink, session_options
from sayso.server.protocol import intents
from sayso.server.protocol.audio import BYTES_PER_SAMPLE
from sayso.server.protocol.events import SaysoIdle
from sayso.server.protocol.intents import EngineNews, Happening, Served, Trouble
from sayso.server.protocol.state import WireMachine, WireState
from sayso.server.turn import Heard, Turn
from sayso.server.turn_limits import Limits

Output = messages.Down | Happening

POISON = ("bad_audio", "audio_overrun")
"""Codes of a turn that would fail again however often it were replayed."""


class TurnEngine:
    def __init__(self, connection: str, served: Served, news: EngineNews, limits: Limits | None = None) -> None:
        self._machine = WireMachine(connection)
        self.limits = limits or Limits()
        self._served = served
        self._news = news
        self._link = EngineLink(connection)
        self._link.ready = news.state == "ready"
        self._inbox = Inbox()
        self._turn: Turn | None = None
        self._model = ""
        self.wishes = SaysoIdle()
        """What the client asked for its idle times."""
        self._discarding = False
        self._farewell: Farewell | None = None
        self.finished = False
        """Whether the last word has been said and the connection is to be closed."""

    @property
    def waiting_samples(self) -> int:
        """Audio that has not gone to the engine yet."""
        return self._inbox.samples + (self._turn.waiting if self._turn else 0)

    @property
    def kept_bytes(self) -> int:
        """Audio that is held here."""
        held = self._turn.kept_bytes if self._turn else 0
        return held + self._inbox.samples * BYTES_PER_SAMPLE

    @property
    def idle_s(self) -> float | None:
        """How long the client may say nothing now, in seconds; None is for ever."""
        bounds = [bound for bound in (self.limits.idle_s, self.wishes.close_after_s) if bound > 0]
        return min(bounds, default=None)

    @property
    def busy(self) -> bool:
        """Whether the engine holds, or is to get, audio of the open turn."""
        return self._turn is not None and self._turn.samples > 0

    @property
    def wants_engine(self) -> bool:
        """Whether there is a turn or audio for which an engine at rest should wake."""
        return self._turn is not None or self._inbox.samples > 0

    @property
    def state(self) -> WireState:
        return self._machine.state

    @property
    def ended(self) -> bool:
        return self._machine.ended

    @property
    def turn_bytes(self) -> int:
        """Audio of the open turn that came."""
        return self._turn.samples * BYTES_PER_SAMPLE if self._turn else 0

    @property
    def confirmed_ms(self) -> int:
        """Up to where the open turn's audio has come out as text."""
        return self._turn.confirmed_ms if self._turn else 0

    # What the client wants.

    def intent(self, intent: intents.Intent, queued_samples: int = 0) -> list[Output]:
        """``queued_samples``: audio of this connection that still waits outside, on its way to the engine."""
        if self._machine.ended or (self._farewell is not None and self._farewell.refuses(intent, self.state)):
            return []
        return [*self._obey(intent, queued_samples), *self._say_farewell()]

    def _obey(self, intent: intents.Intent, queued_samples: int) -> Iterator[Output]:
        match intent:
            case intents.Choose():
                return self._choose(intent)
            case intents.AddAudio():
                return self._add_audio(intent.pcm, queued_samples)
            case intents.StartTurn():
                return self._start()
            case intents.EndTurn():
                return self._end()
            case intents.DropTurn():
                return self._drop()
            case intents.HaveHeard():
                return iter(())

    def _choose(self, choice: intents.Choose) -> Iterator[Output]:
        if self._served.certain and choice.model not in self._served.names:
            yield refusals.unknown_model(choice.model, self._served)
            return
        self._model = choice.model
        self.wishes = choice.sayso.idle if choice.sayso else SaysoIdle()
        yield from self._link.configure(session_options(choice))
        if self.state is WireState.NEW:
            self._machine.to(WireState.READY)
        yield intents.Chosen(choice.model, choice.sayso)
        yield self._news

    def _add_audio(self, pcm: bytes, queued_samples: int) -> Iterator[Output]:
        if self._discarding:
            return
        samples = len(pcm) // BYTES_PER_SAMPLE
        turn = self._turn if self.state is WireState.STREAMING else None
        waiting = self._inbox.samples + queued_samples + (self._turn.waiting if self._turn else 0)
        if waiting + samples > self.limits.waiting_s * messages.SAMPLE_RATE:
            why = "" if self._link.ready else self._news.state
            yield refusals.inbox_full(self.limits.waiting_s, why)
        elif turn is None:
            if self._inbox.open_turn is None and len(self._inbox) >= self.limits.waiting_turns:
                yield refusals.too_many_turns(len(self._inbox))
            else:
                self._inbox.add(pcm)
        elif turn.samples + samples > self.limits.turn_s * messages.SAMPLE_RATE:
            yield refusals.turn_too_long(self.limits.turn_s)
        else:
            turn.add(pcm)
            yield from self._push()

    def _start(self) -> Iterator[Output]:
        waiting = self._inbox.open_turn
        if self.state is WireState.NEW:
            yield refusals.NOT_VALIDATED
        elif self.state is WireState.STREAMING or (waiting is not None and waiting.started):
            yield refusals.ALREADY_RUNNING
        elif waiting is None and len(self._inbox) >= self.limits.waiting_turns:
            yield refusals.too_many_turns(len(self._inbox))
        else:
            self._discarding = False
            self._inbox.start()
            yield from self._begin()

    def _end(self) -> Iterator[Output]:
        if self.state is WireState.NEW:
            yield refusals.NOT_VALIDATED
        elif self._discarding:
            # The lost turn had its last word already: the error that said so.
            self._discarding = False
        elif self._turn is not None and self.state is WireState.STREAMING:
            self._turn.ended = True
            self._machine.to(WireState.DRAINING)
            yield from self._push()
            yield from self._begin()
        elif self.state is WireState.DRAINING and self._inbox.open_turn is None:
            yield refusals.ALREADY_ENDED
        else:
            self._inbox.end()
            yield from self._begin()

    def _drop(self) -> Iterator[Output]:
        self._inbox.clear()
        self._discarding = False
        if self._turn is not None:
            if self._turn.sent:
                yield from self._link.cancel()
            self._turn = None
            self._machine.to(WireState.READY)
        yield intents.Dropped()

    # What the engine says.

    def engine_message(self, message: messages.Up) -> list[Output]:
        if self._machine.ended or not self._link.hears(message):
            return []
        return [*self._hear(message), *self._say_farewell()]

    def _hear(self, message: messages.Up) -> list[Output]:
        match message:
            case messages.Text():
                return list(self._text(message))
            case messages.Speech() if self._turn is not None and self._turn.tells_speech(message.at_ms):
                return [intents.SpeechHeard(message.kind, self._turn.time_ms(message.at_ms))]
            case messages.Flushed():
                return list(self._flushed(message))
            case messages.Refused():
                self._link.forget()
                return list(self._lose(message.code, message.message))
            case messages.Failed():
                down = self._link.close()
                again = self._lose if message.code in POISON else self._replay
                return [*down, *again(message.code, message.message), *self._push()]
            case messages.Closed():
                self._link.forget()
                text = f"The engine closed the session ({message.reason}): speak again."
                return [*self._replay("engine_failed", text), *self._push()]
            case _:
                return []

    def engine_news(self, news: EngineNews, served: Served) -> list[Output]:
        """The engine's state changed; anything but ``ready`` means that its sessions are gone."""
        self._news = news
        self._served = served
        if self._machine.ended:
            return []
        out: list[Output] = [news]
        self._link.ready = news.state == "ready"
        if self._link.ready:
            return [*out, *self._check_model(), *self._push(), *self._begin(), *self._say_farewell()]
        self._link.forget()
        if self._turn is not None:
            step = self._lose if news.state == "failed" else self._replay
            out += step("engine_failed", news.detail or "The engine stopped: speak again.")
        return [*out, *self._say_farewell()]

    def park(self, tier: Deeper) -> list[Output]:
        """Put what the engine holds of this connection away; nothing when it holds nothing."""
        return list(self._link.park(tier))

    # The ends.

    def leave(self) -> list[messages.Down]:
        """The client is gone: nothing of it stays in the engine."""
        return self._finish_connection(WireState.CLOSED)

    def fail(self) -> list[messages.Down]:
        """The connection cannot go on."""
        return self._finish_connection(WireState.FAILED)

    def shut_down(self) -> list[Output]:
        """The server ends: an open turn gets its terminal, then the connection is closed."""
        out: list[Output] = [refusals.SHUTTING_DOWN] if self._turn is not None else []
        return out + list(self.leave())

    def expire(self, code: str, message: str) -> list[Output]:
        """The connection is to end with this word: after the open turn, or at once when none is open."""
        self._farewell = self._farewell or Farewell(code, message)
        return list(self._say_farewell())

    def finish_turn(self) -> list[Output]:
        """The connection is to end and its open turn takes no more audio: its text still comes."""
        if self._farewell is not None:
            self._farewell.finishing = True
        ended = self._end() if self.state is WireState.STREAMING else ()
        return [*ended, *self._say_farewell()]

    def give_up(self) -> list[Output]:
        """The open turn's text does not come: the last word without it."""
        return [] if self._farewell is None else list(self._part(self._farewell, lost=True))

    def _say_farewell(self) -> Iterator[Output]:
        if self._farewell is not None and self._turn is None and not self._machine.ended:
            yield from self._part(self._farewell, lost=self._inbox.samples > 0)

    def _part(self, farewell: Farewell, *, lost: bool) -> Iterator[Output]:
        self.finished = True
        yield farewell.last_word(lost=lost)
        yield from self.leave()

    def _finish_connection(self, state: WireState) -> list[messages.Down]:
        if self._machine.ended:
            return []
        self._machine.to(state)
        self._turn = None
        self._inbox.clear()
        return self._link.close()

    # Steps.

    def _begin(self) -> Iterator[Output]:
        """Open the turns that may run; one without audio is over at once, so it may be more than one."""
        while self.state is WireState.READY and (waiting := self._inbox.take()) is not None:
            self._turn = Turn(waiting.chunks, ended=waiting.ended, keep_s=self.limits.replay_s)
            self._machine.to(WireState.STREAMING)
            if waiting.ended:
                self._machine.to(WireState.DRAINING)
            if self._news.state == "failed":
                yield from self._lose("engine_failed", self._news.detail)
            else:
                yield from self._push()

    def _push(self) -> Iterator[Output]:
        """Send what the open turn has to send, when the engine takes it."""
        turn = self._turn
        if turn is None:
            return
        if turn.ended and not turn.samples:
            yield from self._done("", 0, 0)
            return
        if not self._link.ready:
            return
        for pcm in turn.take():
            yield from self._link.audio(pcm)
        if turn.ended and not turn.flushed:
            turn.flushed = True
            if turn.sent:
                yield self._link.flush()
            else:
                # A replay with nothing to send: all of it had come out before.
                yield from self._done(turn.text, 0, turn.tokens)
                yield from self._begin()

    def _text(self, message: messages.Text) -> Iterator[Output]:
        turn = self._turn
        if turn is None:
            return
        if not message.stable:
            start_ms, end_ms = turn.time_ms(message.start_ms), turn.time_ms(message.end_ms)
            yield intents.TentativeText(turn.guess(message.piece), start_ms, end_ms)
            return
        yield from self._stable(turn.hear(message) if message.piece else turn.quiet(message))
        if turn.confirm(message):
            yield intents.AudioConfirmed(turn.confirmed_ms)

    def _flushed(self, message: messages.Flushed) -> Iterator[Output]:
        turn = self._turn
        if turn is None or not turn.flushed or not self._link.awaits(message.marker):
            return
        yield from self._stable(turn.rest())
        yield from self._done(turn.text, message.prompt_tokens, turn.tokens, turn.others)
        yield from self._begin()

    @staticmethod
    def _stable(heard: Heard) -> Iterator[Output]:
        if heard.piece:
            yield intents.StableText(heard.piece, heard.words)

    def _replay(self, code: str, message: str) -> Iterator[Output]:
        """The engine has lost the open turn: another one gets the audio that has not come out as text."""
        turn = self._turn
        if turn is None or not turn.sent:
            return
        gone_ms = turn.rewind()
        if gone_ms is None:
            yield from self._lose(code, message)
            return
        yield intents.Replayed()
        if gone_ms:
            yield refusals.audio_lost(gone_ms)

    def _done(
        self, text: str, prompt_tokens: int, completion_tokens: int, others: Sequence[intents.OtherText] = ()
    ) -> Iterator[Output]:
        self._turn = None
        self._machine.to(WireState.READY)
        yield intents.TurnDone(text, prompt_tokens, completion_tokens, others)

    def _lose(self, code: str, message: str) -> Iterator[Output]:
        """End the open turn without its text. What the client still sends for it is dropped until its next commit."""
        if self._turn is None:
            return
        self._discarding = self.state is WireState.STREAMING
        self._turn = None
        self._machine.to(WireState.READY)
        yield Trouble(code, message or "The engine could not finish this turn: speak again.", turn_lost=True)
        yield from self._begin()

    def _check_model(self) -> Iterator[Output]:
        """A name that was taken on trust while the engine loaded must be one that it serves."""
        if not self._model or not self._served.certain or self._model in self._served.names:
            return
        trouble = refusals.unknown_model(self._model, self._served, turn_lost=self._turn is not None)
        self._model = ""
        self._turn = None
        self._inbox.clear()
        if self.state is not WireState.READY:
            self._machine.to(WireState.READY)
        self._machine.to(WireState.NEW)
        yield trouble
