"""Which audio goes to the server next, which must still be kept, and what comes back for it. Pure: no socket, no clock.

The user's *turns* are numbered here and wait in line; the server knows one at a time. Audio is kept until the server
confirms it: a Sayso server by markers, any server by ``transcription.done``. When the connection or the engine is lost,
the unconfirmed audio of the turn is sent again, as a new turn of the server, and its text goes on behind what is shown.
Every sample is at any time confirmed, kept, on its way, or counted as lost.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from sayso.app.realtime.errors import ROTATED
from sayso.app.realtime.events import TurnDone, TurnEvent, TurnLost, TurnTentative
from sayso.app.realtime.sent import Sent, SentLog
from sayso.app.realtime.turn import BYTES_PER_SAMPLE, SAMPLES_PER_MS, Sending, Turn, forget, lose, release, settle, told
from sayso.app.realtime.wire import Finished, Received, append
from sayso.server.protocol.events import (
    SAMPLE_RATE,
    Alternatives,
    ClientEvent,
    Commit,
    Delta,
    EngineState,
    Error,
    Marker,
    Partial,
    Words,
)
from sayso.server.protocol.joint import Shown

_LARGEST_APPEND = SAMPLE_RATE // 2
_LEAST_DROP = SAMPLE_RATE
_TRIES = 4
_HARMLESS = ("already_committed", "engine_loading", "engine_failed", "audio_lost")
"""Errors of a Sayso server that leave the open turn as it is."""


@dataclass(frozen=True, slots=True)
class Reconnect:
    """The connection is of no use any more: close it and open another after ``delay_s``."""

    delay_s: float
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Send nothing before ``resume``, which is due after ``delay_s``; a server that says it is ready ends it too."""

    delay_s: float


UplinkEvent = TurnEvent | Reconnect | Hold


class Uplink:
    """The line of turns before one server after another."""

    def __init__(self, keep_s: float = 300.0, retry_s: float = 1.0) -> None:
        """``keep_s`` bounds the audio kept; ``retry_s`` is the pause after a first failure, doubled each time."""
        self._retry_s = retry_s
        self._keep = int(keep_s * SAMPLE_RATE)
        self._turns: deque[Turn] = deque()
        self._next = 1
        self._sending: Sending | None = None
        self._connected = False
        self._sayso = False
        self._held = False
        self._engine_ready = True
        self._sent = SentLog()

    # What the user says.

    def begin(self) -> int:
        """A new turn; its number."""
        turn = Turn(self._next)
        self._next += 1
        self._turns.append(turn)
        return turn.id

    def append(self, turn_id: int, pcm: bytes) -> list[UplinkEvent]:
        """More audio of the turn: 16-bit little-endian mono PCM at 16 kHz. Unknown and ended turns are ignored."""
        turn = self._find(turn_id)
        if turn is None or turn.ended:
            return []
        turn.kept += pcm
        turn.length += len(pcm) // BYTES_PER_SAMPLE
        return self._drop_oldest()

    def end(self, turn_id: int) -> list[UplinkEvent]:
        """The turn's audio is complete."""
        turn = self._find(turn_id)
        if turn is None:
            return []
        turn.ended = True
        return self._settle()

    def cancel(self, turn_id: int) -> list[UplinkEvent]:
        """Forget the turn: nothing more is told of it."""
        turn = self._find(turn_id)
        if turn is None:
            return []
        turn.ended = turn.cancelled = True
        if self._sending is None or self._sending.turn is not turn:
            self._turns.remove(turn)
        else:
            # The server's turn must still end, so that what comes late is not taken for the next turn's text.
            self._sending.sent = turn.length
            turn.kept.clear()
            turn.kept_from = turn.length
        return []

    # The connection.

    def connected(self, sayso: bool) -> None:
        """A session is open; ``sayso`` tells whether the server is one of ours."""
        self._connected, self._sayso = True, sayso
        self._held, self._engine_ready = False, True
        self._sent = SentLog()

    def disconnected(self) -> list[UplinkEvent]:
        """The connection is gone; what it had not confirmed will be sent again."""
        self._connected = False
        return self._take_back() + self._settle()

    def suspended(self) -> None:
        """The connection is gone, and the server keeps the session: ``taken_up`` or ``disconnected`` follows."""
        self._connected = self._held = False

    def taken_up(self, received: int) -> list[UplinkEvent] | None:
        """The session goes on over a new connection, and the server got so many events of it; what that means.

        None when the server cannot mean this session: then it is lost.
        """
        missed = self._sent.take_back(received)
        if missed is None:
            return None
        self._connected = True
        events: list[UplinkEvent] = []
        for sent in missed:
            events += self._unsend(sent)
        return events

    def resume(self) -> None:
        """End a hold."""
        self._held = False

    def next_message(self) -> ClientEvent | None:
        """What to send now; None when there is nothing, or nothing may be sent."""
        if not self._connected or self._held or not self._engine_ready:
            return None
        sending = self._sending
        if sending is None:
            return self._start()
        turn = sending.turn
        if sending.sent < turn.length:
            return append(self._take(sending))
        if turn.ended and not sending.final:
            sending.final = True
            self._sent.add(Sent(sending, sending.sent, final=True))
            return Commit(final=True)
        return None

    @property
    def awaits_done(self) -> bool:
        """Whether the server has all audio of a turn and owes its end."""
        return self._sending is not None and self._sending.final and self._engine_ready

    @property
    def backlog_ms(self) -> int:
        """Audio that was said and not yet handed to the connection."""
        waiting = 0
        for turn in self._turns:
            sent = self._sending.sent if self._sending is not None and self._sending.turn is turn else turn.confirmed
            waiting += turn.length - max(sent, turn.kept_from)
        return waiting // SAMPLES_PER_MS

    @property
    def is_idle(self) -> bool:
        """Whether no turn is open or waits for its text."""
        return not self._turns

    # What the server says.

    def received(self, event: Received) -> list[UplinkEvent]:
        """Take an event of the current connection; what it means."""
        if isinstance(event, Words):
            return self._timed(event)
        return [*self._untimed(), *self._took(event)]

    def _took(self, event: Received) -> list[UplinkEvent]:
        match event:
            case Delta(delta):
                return self._heard(delta)
            case Partial(text):
                return self._guessed(text)
            case Marker(audio_ms):
                return self._confirm(audio_ms)
            case Alternatives(texts) if self._sending is not None:
                self._sending.weigh(texts)
            case Finished(text):
                return self._finished(text)
            case Error():
                return self._failed(event)
            case EngineState(state):
                # An engine at rest starts only when it is sent something; the server keeps what comes until then.
                self._engine_ready = state in ("ready", "idle")
                self._held = self._held and state != "ready"
        return []

    def _heard(self, delta: str) -> list[UplinkEvent]:
        sending = self._sending
        if sending is None or not delta:
            return []
        sending.heard, sending.spoke = sending.heard + delta, True
        if sending.turn.cancelled:
            return []
        if self._sayso and sending.turn.joint.wants_times:
            sending.untimed = delta
            return []
        return [*told(sending.turn, sending.turn.joint.hear(delta))]

    def _untimed(self) -> list[UplinkEvent]:
        """The times of the last delta's words did not come."""
        sending = self._sending
        if sending is None or not sending.untimed:
            return []
        delta, sending.untimed = sending.untimed, ""
        return [*told(sending.turn, sending.turn.joint.hear(delta))]

    def _timed(self, event: Words) -> list[UplinkEvent]:
        sending = self._sending
        if sending is None or sending.turn.cancelled:
            return []
        joint = sending.turn.joint
        words = [sending.placed(word) for word in event.words]
        delta, sending.untimed = sending.untimed, ""
        return [*told(sending.turn, joint.hear(delta, words) if delta else Shown("", joint.time(words)))]

    def _guessed(self, text: str) -> list[UplinkEvent]:
        sending = self._sending
        if sending is None or sending.turn.cancelled:
            return []
        return [TurnTentative(sending.turn.id, sending.turn.joint.preview(text))]

    def _confirm(self, audio_ms: int) -> list[UplinkEvent]:
        sending = self._sending
        if sending is None or sending.turn.cancelled:
            return []
        turn, joint = sending.turn, sending.turn.joint
        position = min(sending.position(audio_ms * SAMPLES_PER_MS), sending.sent)
        # A marker that no delta came before tells of a pause.
        events: list[UplinkEvent] = [] if sending.spoke else [*told(turn, joint.quiet(position))]
        sending.spoke = False
        # Text that waits for the joint is not shown yet: its audio is needed until it is.
        if joint.is_decided and position > joint.told:
            settle(turn, position)
            self._sent.settle(position)
        return events

    def _finished(self, text: str) -> list[UplinkEvent]:
        sending = self._sending
        if sending is None:
            return []
        turn, joint = sending.turn, sending.turn.joint
        rest = text[len(sending.heard) :] if text.startswith(sending.heard) else ""
        events: list[UplinkEvent] = []
        if not turn.cancelled:
            events = [*told(turn, joint.hear(rest)), *told(turn, joint.finish())]
        joint.close()
        release(turn, sending.sent)
        self._sending = None
        self._sent.clear()
        return events + self._settle()

    def _failed(self, error: Error) -> list[UplinkEvent]:
        code = error.code or "failed"
        turn = self._sending.turn if self._sending is not None else None
        if self._sayso and not error.turn_lost and code in _HARMLESS:
            return [TurnLost(turn.id, error.lost_ms, code, error.error)] if turn is not None and error.lost_ms else []
        events = self._take_back()
        if code == ROTATED:
            return [*events, *self._settle(), Reconnect(0.0, code, error.error)]
        delay = self._retry_s
        if turn is not None:
            turn.failures += 1
            delay *= min(2.0 ** (turn.failures - 1), 8.0)
            if turn.failures >= _TRIES:
                events += self._give_up(turn, code, error.error)
        events += self._settle()
        if self._sayso and error.turn_lost:
            self._held = True
            return [*events, Hold(delay)]
        # What the server still holds of the turn would leak into the next one: only a new session is clean.
        return [*events, Reconnect(delay, code, error.error)]

    # The line.

    def _find(self, turn_id: int) -> Turn | None:
        return next((turn for turn in self._turns if turn.id == turn_id and not turn.cancelled), None)

    def _start(self) -> ClientEvent | None:
        turn = next(iter(self._turns), None)
        if turn is None or turn.confirmed >= turn.length:
            return None
        turn.joint.hear_again()
        self._sending = Sending(turn, turn.confirmed, turn.confirmed)
        self._sent.add(Sent(self._sending, None))
        return Commit()

    def _take(self, sending: Sending) -> bytes:
        turn = sending.turn
        start = sending.sent - turn.kept_from
        count = min(_LARGEST_APPEND, turn.length - sending.sent)
        self._sent.add(Sent(sending, sending.sent, gaps=len(sending.gaps)))
        sending.sent += count
        return bytes(turn.kept[start * BYTES_PER_SAMPLE : (start + count) * BYTES_PER_SAMPLE])

    def _unsend(self, sent: Sent) -> list[UplinkEvent]:
        """One event did not come: it is to be sent again."""
        sending, turn = sent.sending, sent.sending.turn
        if sent.final:
            sending.final = False
        elif sent.before is None:
            self._sending = None
        elif turn.cancelled:
            sending.sent = turn.length
        else:
            sending.sent = sent.before
            del sending.gaps[sent.gaps :]
            return self._lose_unsent(sending, turn.kept_from) if turn.kept_from > sent.before else []
        return []

    def _take_back(self) -> list[UplinkEvent]:
        """The server's turn is gone: its audio is unsent again, except for what is not kept any more."""
        sending, self._sending = self._sending, None
        if sending is None:
            return []
        turn = sending.turn
        if turn.cancelled:
            return []
        events: list[UplinkEvent] = [TurnTentative(turn.id, "")]
        if turn.kept_from > turn.confirmed:
            events.append(lose(turn, turn.kept_from, "audio_dropped", _DROPPED))
        return events

    def _give_up(self, turn: Turn, code: str, message: str) -> list[UplinkEvent]:
        turn.failures = 0
        turn.joint.close()
        if turn.cancelled or turn.confirmed >= turn.length:
            return []
        return [lose(turn, turn.length, code, message)]

    def _drop_oldest(self) -> list[UplinkEvent]:
        """Hold the bound of what is kept, oldest first."""
        events: list[UplinkEvent] = []
        excess = sum(len(turn.kept) for turn in self._turns) // BYTES_PER_SAMPLE - self._keep
        for turn in self._turns:
            if excess <= 0:
                break
            count = min(len(turn.kept) // BYTES_PER_SAMPLE, max(excess, _LEAST_DROP))
            excess -= count
            position = turn.kept_from + count
            sending = self._sending if self._sending is not None and self._sending.turn is turn else None
            if sending is None:
                events.append(lose(turn, position, "audio_dropped", _DROPPED))
            elif sending.sent >= position:
                # It is on its way and may still be confirmed; it is lost only if the connection is.
                forget(turn, position)
            else:
                events += self._lose_unsent(sending, position)
        return events + self._settle()

    def _lose_unsent(self, sending: Sending, position: int) -> list[UplinkEvent]:
        skipped = position - sending.sent
        sending.gaps.append((sending.server_length, skipped))
        sending.sent = position
        forget(sending.turn, position)
        return [TurnLost(sending.turn.id, skipped // SAMPLES_PER_MS, "audio_dropped", _DROPPED)]

    def _settle(self) -> list[UplinkEvent]:
        """End the turns at the head of the line of which nothing is open any more."""
        events: list[UplinkEvent] = []
        while self._turns and self._sending is None:
            turn = self._turns[0]
            if turn.cancelled:
                self._turns.popleft()
            elif turn.ended and turn.confirmed >= turn.length:
                self._turns.popleft()
                events.append(TurnDone(turn.id, turn.joint.text, turn.others))
            else:
                break
        return events


_DROPPED = "The server could not be reached for so long that the oldest speech had to be given up."
