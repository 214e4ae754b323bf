"""The engine's one loop: messages in, voice detection, one batched step, results out.

Runs in the main thread and is the only one that touches sessions and models. It blocks on the channel when nothing
can be run; it never polls.
"""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable
from pathlib import Path

import platformdirs

from sayso.engine import messages as m
from sayso.engine.channel import Channel
from sayso.engine.errors import EngineError, SessionError
from sayso.engine.faults import reason
from sayso.engine.kernel_cache import forget_kernels
from sayso.engine.loading import Loaded, give_back_memory, load, present_devices
from sayso.engine.options import Limits
from sayso.engine.reports import Reports
from sayso.engine.resting import Resting
from sayso.engine.scheduler import Scheduler
from sayso.engine.session import Session
from sayso.engine.speech_worker import SpeechWorker
from sayso.engine.text_sessions import TextSessions
from sayso.engine.worker import step

logger = logging.getLogger(__name__)


class Engine:
    """The sessions of this process and the model they share."""

    def __init__(
        self,
        channel: Channel,
        limits: Limits | None = None,
        loader: Callable[[m.Load], Loaded] = load,
        clock: Callable[[], float] = time.monotonic,
        folder: Path | None = None,
    ) -> None:
        """``folder`` is where hibernated sessions go, the user's cache directory if none is named."""
        self._channel = channel
        self._limits = limits or Limits()
        self._loader = loader
        self._clock = clock
        self._scheduler = Scheduler(self._limits.batch, self._limits.batch_cost_ms)
        self._sessions: dict[str, Session] = {}
        self._loaded: Loaded | None = None
        self._reports = Reports(clock)
        place = folder or platformdirs.user_cache_path("sayso")
        self._resting = Resting(self._sessions, self._reports, clock, self._close, self._fail, place)
        self._speech = SpeechWorker(self._sessions, self._fail, self._resting.make_place)
        self._texts = TextSessions(self._resting.vault, self._sessions.__contains__)
        self._stopping = False

    def run(self) -> None:
        """Until ``Stop`` or the end of the pipe."""
        try:
            self._rounds()
        finally:
            self._resting.close()

    def forget_files(self) -> None:
        """What is done last by whoever ends the process while a step still runs, from any thread."""
        self._resting.close()

    def _rounds(self) -> None:
        while not self._stopping:
            incoming = self._channel.take(0.0 if self._runnable() else self._wait_s())
            if incoming is None:
                break
            for message in incoming:
                self._handle(message)
            self._texts.expire(self._clock())
            self._resting.bring_back()
            self._detect()
            self._send_results()
            self._step()
            self._send_results()
            self._resting.put_away()
            self._report()

    def _wait_s(self) -> float | None:
        """How long nothing has to be done unless a message comes."""
        waits = (self._reports.wait_s(), self._resting.wait_s(), self._texts.wait_s(self._clock()))
        return min((wait for wait in waits if wait is not None), default=None)

    # Messages in.

    def _handle(self, message: m.Message) -> None:
        """One message; a fault of a session ends that session only."""
        # To be parked is no sign of life.
        self._reports.touch(getattr(message, "session", None) if not isinstance(message, m.Park) else None)
        match message:
            # By far the most messages are audio.
            case m.Audio() | m.Flush() | m.Configure() | m.Cancel():
                self._pass_on(message)
            case m.OpenText() | m.Prompt() | m.EndPrompts() | m.Taken():
                self._texts.handle(message, self._clock())
            case m.Park() | m.Close() if message.session in self._texts:
                self._texts.handle(message, self._clock())
            case _:
                self._manage(message)

    def _manage(self, message: m.Message) -> None:
        """What a session or the engine shall be, as apart from what a session is to hear or read."""
        match message:
            case m.Load():
                self._load(message)
            case m.Unload():
                self._unload()
            case m.Ping(number=number):
                self._send(m.Pong(number))
            case m.Stop():
                self._close_all("stopped")
                self._stopping = True
            case m.Open():
                self._open(message)
            case m.Close(session=name):
                self._close(name, "closed")
            case m.Retain(retention=rules):
                self._resting.rules = rules
                self._texts.retain(rules)
            case m.Park(session=name, tier=tier):
                self._resting.park(name, tier)
            case m.Restore(session=name):
                self._resting.restore(name)

    def _pass_on(self, message: m.Configure | m.Audio | m.Flush | m.Cancel) -> None:
        """A message for one session. One that is not open was closed or failed a moment ago: its sender knows."""
        session = self._sessions.get(message.session)
        if session is None:
            return
        try:
            match message:
                case m.Audio():
                    session.receive(message.epoch, message.samples)
                case m.Flush():
                    session.flush(message.epoch, message.marker)
                case m.Cancel():
                    session.cancel(message.epoch)
                case m.Configure():
                    session.configure(message.options)
        except SessionError as error:
            self._fail(session, error.code, error.message)

    def _load(self, message: m.Load) -> None:
        self._unload()
        try:
            self._loaded = self._loader(message)
        except EngineError as error:
            self._send(m.Failed(None, error.code, error.message))
            return
        except Exception as error:
            logger.exception("loading %s failed", message.model)
            self._send(m.Failed(None, "load_failed", f"The model {message.model} could not be loaded: {reason(error)}"))
            return
        now, runner = self._loaded, self._loaded.runner
        self._speech.runner = runner
        self._resting.rules = message.retention
        self._texts.serve(now.text, message.retention, now.budget)
        text = now.text.name if now.text is not None else ""
        devices = present_devices()
        self._send(m.Ready(runner.name, now.device, now.threads, runner.languages, now.load_ms, text, devices))

    def _unload(self) -> None:
        self._close_all("unloaded")
        if self._loaded is None:
            return
        self._loaded = self._speech.runner = None
        self._texts.serve(None, m.Retention())
        # At once, and not with the next report: whoever asked for it looks at the system's figure now, and the next
        # model needs the room. Whatever waits in cycles goes too.
        gc.collect()
        forget_kernels()
        give_back_memory()

    def _open(self, message: m.Open) -> None:
        refusal = self._refusal(message)
        if refusal is not None:
            self._send(refusal)
            return
        assert self._loaded is not None
        runner = self._loaded.runner
        session = Session(
            message.session,
            message.epoch,
            message.options,
            runner.stream,
            gated=runner.gated,
            positions_a_second=runner.positions_a_second,
            limits=self._limits,
        )
        self._sessions[session.name] = session
        self._reports.opened(session.name)
        self._send(m.Opened(session.name))

    def _refusal(self, message: m.Open) -> m.Refused | None:
        name = message.session
        if self._loaded is None:
            return m.Refused(name, "no_model", "No model is loaded; load one before opening a session.")
        if name in self._sessions or name in self._texts:
            return m.Refused(name, "session_exists", f"The session {name} is open already.")
        if len(self._sessions) >= self._limits.sessions:
            limit = self._limits.sessions
            return m.Refused(name, "session_limit", f"All {limit} sessions of this engine are taken; try again later.")
        return None

    def _close(self, name: str, reason: str) -> None:
        session = self._sessions.pop(name, None)
        if session is not None:
            session.close()
        self._reports.closed(name)
        self._send(m.Closed(name, reason))

    def _close_all(self, reason: str) -> None:
        for name in list(self._sessions):
            self._close(name, reason)
        self._texts.close_all(reason)
        self._send_results()

    def _fail(self, session: Session, code: str, message: str) -> None:
        """The session cannot go on: say why, then close it."""
        logger.warning("session %s failed: %s", session.name, code)
        self._send(m.Failed(session.name, code, message))
        self._close(session.name, "failed")

    # Work.

    def _runnable(self) -> bool:
        return any(session.examinable or session.due for session in self._sessions.values())

    def _detect(self) -> None:
        """Voice detection for every session that has audio, in one batch."""
        hearing = [session for session in self._sessions.values() if session.examinable]
        if not hearing or self._loaded is None:
            return
        frames = [session.examine(self._limits.detect_frames) for session in hearing]
        states = [session.detector_state for session in hearing]
        probabilities, after = self._loaded.detector.run(frames, states)  # type: ignore[arg-type]
        for session, row, state in zip(hearing, probabilities, after, strict=True):
            session.detector_state = state
            session.heard(row)

    def _step(self) -> None:
        """The most urgent work that can run together."""
        began = self._clock()
        texts = (self._texts.worker,) if self._texts.worker is not None else ()
        ran = step(self._scheduler, (self._speech, *texts), began)
        if ran:
            self._reports.stepped(ran, (self._clock() - began) * 1000)

    # Messages out.

    def _send_results(self) -> None:
        out: list[m.Message] = []
        for session in self._sessions.values():
            out += session.results()
        out += self._moves() + self._texts.results()
        if out:
            self._channel.send(out)

    def _report(self) -> None:
        out = self._moves()
        out += self._reports.due(self._sessions, self._loaded, lambda: self._texts.ledger(self._clock()))
        if out:
            self._channel.send(out)

    def _moves(self) -> list[m.Message]:
        """What became of sessions that were to rest or to come back."""
        if out := self._resting.results():
            self._reports.moved()
        return out

    def _send(self, message: m.Message) -> None:
        self._channel.send([message])
