"""The volume of the default output, through PulseAudio or PipeWire's PulseAudio server. One worker thread at a time.

A call into a sound server that hangs never returns, so calls are made on a thread of their own, which the worker waits
for only so long, and which does not keep the process alive.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import pulsectl

from sayso.app.actions.base import Done, Family, Job, Receipt, Revert
from sayso.app.actions.desktop.base import check
from sayso.app.actions.errors import ActionError
from sayso.app.commands.matching import Match

_STEP_PERCENT = 10
_ANSWER_S = 5.0

_SILENT = "The sound server does not answer. Is PipeWire or PulseAudio running?"


class Volume(Family):
    """Changes the volume, reads it back, and can set what was before. ``server`` is None for the session's own."""

    family = "volume"

    def __init__(self, server: str | None = None) -> None:
        self._server = server

    def describe(self, match: Match) -> str:
        if match.command.verb == "change":
            by = f" by {match.slots['level']} percent" if "level" in match.slots else ""
            return match.title + by
        return match.title

    def perform(self, job: Job) -> Done:
        match = job.match
        return _answered(lambda given_up: self._change(match, given_up), job.halt)

    def _change(self, match: Match, given_up: threading.Event) -> Done:
        with self._pulse(given_up) as pulse:
            sink = _default_sink(pulse)
            level, muted, before = _percent(sink), bool(sink.mute), tuple(sink.volume.values)
            new_level, new_muted = _wanted(match, level, muted)
            pulse.volume_set_all_chans(sink, new_level / 100)
            pulse.mute(sink, new_muted)
            now = pulse.sink_info(sink.index)
            arrived = _percent(now) == new_level and bool(now.mute) == new_muted
        detail = f"{_state(_percent(now), bool(now.mute))}, was {_state(level, muted)}"
        receipt = Receipt.VERIFIED if arrived else Receipt.SENT
        return Done(detail, receipt, self._restoring(sink.name, before, muted))

    def _restoring(self, name: str, channels: tuple[float, ...], muted: bool) -> Revert:
        def restore(given_up: threading.Event) -> Done:
            with self._pulse(given_up) as pulse:
                try:
                    sink = pulse.get_sink_by_name(name)
                except pulsectl.PulseIndexError as error:
                    raise ActionError("output_gone", "The sound output of then is not there any more.") from error
                pulse.volume_set(sink, pulsectl.PulseVolumeInfo(list(channels)))
                pulse.mute(sink, muted)
                now = pulse.sink_info(sink.index)
            return Done(f"{_state(_percent(now), bool(now.mute))} again")

        return lambda halt: _answered(restore, halt)

    @contextlib.contextmanager
    def _pulse(self, given_up: threading.Event) -> Iterator[pulsectl.Pulse]:
        pulse = pulsectl.Pulse("sayso", server=self._server, connect=False)
        try:
            # Its own time limit is left alone: with one, pulsectl waits for all of it before every connection.
            pulse.connect(autospawn=False)
            # A server that answers when nobody waits any more changes nothing.
            check(given_up)
            yield pulse
        except pulsectl.PulseError as error:
            raise ActionError("no_sound_server", _SILENT) from error
        finally:
            pulse.close()


def _answered(work: Callable[[threading.Event], Done], halt: threading.Event) -> Done:
    """What the work gives, which is told by its event when it is given up; ActionError where it takes too long."""
    given_up, answer = threading.Event(), Future[Done]()
    threading.Thread(target=_answer, args=(work, given_up, answer), name="volume", daemon=True).start()
    until = time.monotonic() + _ANSWER_S
    try:
        while not answer.done():
            check(halt)
            if time.monotonic() > until:
                raise ActionError("no_sound_server", _SILENT)
            with contextlib.suppress(TimeoutError):
                answer.exception(0.02)
    finally:
        given_up.set()
    return answer.result()


def _answer(work: Callable[[threading.Event], Done], given_up: threading.Event, answer: Future[Done]) -> None:
    try:
        answer.set_result(work(given_up))
    except Exception as error:  # noqa: BLE001 - it belongs to whoever waits.
        answer.set_exception(error)


def _default_sink(pulse: pulsectl.Pulse) -> pulsectl.PulseSinkInfo:
    try:
        return pulse.get_sink_by_name(pulse.server_info().default_sink_name)
    except pulsectl.PulseIndexError as error:
        raise ActionError("no_output", "There is no sound output whose volume could be changed.") from error


def _wanted(match: Match, level: int, muted: bool) -> tuple[int, bool]:
    """The percentage and whether the sound is off, as a command wants them. Asking for louder ends muting."""
    verb = match.command.verb
    if verb == "mute":
        return level, True
    if verb == "unmute":
        return level, False
    if verb == "set":
        return min(100, max(0, match.number("level", level))), False
    step = match.number("level", _STEP_PERCENT)
    if match.slots.get("direction") == "up":
        # A volume that is above 100 percent already is not lowered by “louder”.
        return max(level, min(100, level + step)), False
    return max(0, level - step), muted


def _percent(sink: pulsectl.PulseSinkInfo) -> int:
    return round(sink.volume.value_flat * 100)


def _state(level: int, muted: bool) -> str:
    return f"{level} percent" + (", muted" if muted else "")
