"""vLLM's dialect of ``/v1/realtime`` with Sayso's opt-in events: JSON text to intents, happenings to events. Pure.

Source: vLLM's realtime endpoint (event names, fields and error codes). Stricter than upstream where it was silent:
base64 must be valid, an error always has a text, and a model must be named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from sayso.server.protocol import events, intents
from sayso.server.protocol.audio import decode_base64
from sayso.server.protocol.errors import ProtocolError

MAX_APPEND_BYTES = 15 * 1024 * 1024
"""Decoded audio of one append: nearly eight minutes, and its base64 fits into a frame of 24 MiB."""

_TYPES = (
    "session.update",
    "input_audio_buffer.append",
    "input_audio_buffer.commit",
    "input_audio_buffer.clear",
    "sayso.heard",
)
_KNOWN_EVENTS = frozenset(get_args(events.SaysoEvent))

_decoder = msgspec.json.Decoder(events.AnyClientEvent)


class VllmDialect:
    def __init__(self, session: str) -> None:
        self._session = session
        self._asked: frozenset[str] = frozenset()
        self._count = 0

    def created(self, created_s: int) -> events.ServerEvent:
        """The superset that satisfies vLLM's and OpenAI's clients alike."""
        return events.SessionCreated(
            id=self._session,
            created=created_s,
            event_id=self._event_id(),
            session=events.SessionObject(id=self._session),
        )

    def decode(self, text: str) -> intents.Intent:
        match _client_event(text):
            case events.SessionUpdate(model=None):
                raise ProtocolError("invalid_event", "Missing required field: model.")
            case events.SessionUpdate() as update:
                return intents.Choose(str(update.model), update.language, update.prompt, update.sayso)
            case events.Append() as append:
                return intents.AddAudio(decode_base64(append.audio, MAX_APPEND_BYTES))
            case events.Commit(final=final):
                return intents.EndTurn() if final else intents.StartTurn()
            case events.Clear():
                return intents.DropTurn()
            case events.HeardFrames(frames=frames):
                return intents.HaveHeard(frames)

    def encode(self, happening: intents.Happening) -> Sequence[events.ServerEvent]:
        match happening:
            case intents.Chosen():
                self._asked = frozenset(happening.sayso.events if happening.sayso else ())
                sayso = replace(happening.sayso, resume="", heard=0, expected=()) if happening.sayso else None
                return [events.SessionUpdated(self._session, happening.model, self._event_id(), sayso)]
            case intents.Dropped():
                return [events.Cleared(self._event_id())]
            case intents.StableText():
                return [events.Delta(happening.piece), *self._if_asked("words", _words(happening.words))]
            case intents.TurnDone():
                others = self._if_asked("alternatives", _alternatives(happening)) if happening.others else []
                return [*others, events.Done(happening.text, _usage(happening))]
            case intents.Trouble():
                return [events.Error(happening.message, happening.code, happening.turn_lost, happening.lost_ms)]
            case _:
                return self._own(happening)

    def _own(self, happening: intents.Happening) -> Sequence[events.ServerEvent]:
        """Sayso's own events, for clients that asked for them."""
        match happening:
            case intents.TentativeText(text=text, start_ms=start_ms, end_ms=end_ms):
                return self._if_asked("partial", events.Partial(text, start_ms, end_ms))
            case intents.SpeechHeard(kind=kind, at_ms=at_ms):
                return self._if_asked("speech", events.SpeechEvent(kind, at_ms))
            case intents.AudioConfirmed(audio_ms=audio_ms):
                return self._if_asked("marker", events.Marker(audio_ms))
            case intents.IdleSoon(closes_in_s=closes_in_s):
                return self._if_asked("idle", events.IdleWarning(closes_in_s))
            case intents.EngineNews(state=state, detail=detail, model=model):
                return self._if_asked("engine", events.EngineState(state, detail, model))
            case intents.MayResume(token=token, grace_s=grace_s):
                return [events.Resumable(token, grace_s)]
            case intents.GoesOn():
                told = happening.received, happening.state, happening.audio_bytes, happening.confirmed_ms
                return [events.Resumed(self._session, *told)]
            case _:
                return []

    def _if_asked(self, name: str, event: events.ServerEvent) -> list[events.ServerEvent]:
        return [event] if name in self._asked else []

    def _event_id(self) -> str:
        self._count += 1
        return f"event_{self._session.removeprefix('sess-')}_{self._count}"


def _client_event(text: str) -> events.AnyClientEvent:
    try:
        return _decoder.decode(text)
    except msgspec.ValidationError as error:
        return _lenient(text, str(error))
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProtocolError("invalid_json", f"Invalid JSON: {error}.") from error


def _lenient(text: str, reason: str) -> events.AnyClientEvent:
    """JSON that is no event as it stands: take what upstream takes too, and say what is wrong with the rest."""
    try:
        raw: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProtocolError("invalid_json", f"Invalid JSON: {error}.") from error
    if not isinstance(raw, dict):
        raise ProtocolError("processing_error", "An event must be a JSON object.")
    kind = raw.get("type")
    if kind not in _TYPES:
        raise ProtocolError("unknown_event", f"Unknown event type: {kind!s:.100}. Known: {', '.join(_TYPES)}.")
    try:
        if kind == "session.update":
            return msgspec.convert(_known_part(raw), events.SessionUpdate)
        return msgspec.convert(raw, events.AnyClientEvent, strict=False)
    except msgspec.ValidationError:
        code = "invalid_event" if kind == "session.update" else "processing_error"
        raise ProtocolError(code, f"{kind} cannot be read: {reason}.") from None


def _known_part(update: dict[str, Any]) -> dict[str, Any]:
    """Leave out names of events that a newer client may ask for: ``session.updated`` says what is in force."""
    sayso = update.get("sayso")
    if not isinstance(sayso, dict) or not isinstance(sayso.get("events"), list):
        return update
    known = [name for name in sayso["events"] if isinstance(name, str) and name in _KNOWN_EVENTS]
    return {**update, "sayso": {**sayso, "events": known}}


def _words(words: Sequence[intents.HeardWord]) -> events.Words:
    return events.Words(tuple(events.WireWord(w.text, w.start_ms, w.end_ms, w.probability) for w in words))


def _alternatives(done: intents.TurnDone) -> events.Alternatives:
    texts = (events.WireAlternative(other.text, other.behind, other.by_language) for other in done.others)
    return events.Alternatives(tuple(texts))


def _usage(done: intents.TurnDone) -> events.Usage:
    total = done.prompt_tokens + done.completion_tokens
    return events.Usage(done.prompt_tokens, done.completion_tokens, total)
