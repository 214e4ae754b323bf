"""A small engine for protocol tests: a real child process that speaks the framed messages and recognises nothing.

Its transcript is a function of the audio's length: every half second is one word, "w0 w1 w2 …", stable as soon as it
is whole; a flush makes the started word stable too. With ``--hears`` it is a function of what the audio holds: each
stretch of equal samples other than 0 is a word named by them, stable once it is over. With ``--says`` each turn has the
next line of a file as its text, tentative while it goes on, stable at its flush. Gates are files that a test creates,
so no test waits by time.
"""

from __future__ import annotations

import argparse
import os
import select
import sys
from array import array
from dataclasses import dataclass
from itertools import cycle, groupby
from pathlib import Path

from sayso.engine import messages
from sayso.engine.framing import Decoder, encode

WORD_SAMPLES = 8_000
KV_BYTES = 1000
"""What a parked session is said to hold."""


LEAST_SAMPLES = 800
"""A shorter stretch is no word."""


@dataclass
class Turn:
    options: messages.SessionOptions
    epoch: int = 0
    samples: int = 0
    said: int = 0
    value: int = 0
    """Of the stretch that goes on."""
    since: int = 0
    """Where it began."""
    text: str = ""
    """Given by the script."""


class ScriptedEngine:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._turns: dict[str, Turn] = {}
        self._held: list[tuple[Path, messages.Up]] = []
        self._hung = False
        self._texts = cycle(options.says.read_text("utf-8").splitlines()) if options.says else None

    def run(self) -> None:
        decoder: Decoder[messages.Down] = Decoder(messages.Down)
        while True:
            readable, _, _ = select.select([0], [], [], 0.01)
            self._release()
            if not readable:
                continue
            data = os.read(0, 65_536)
            if not data:
                return
            for message in decoder.feed(data):
                self._note(message)
                if isinstance(message, messages.Stop):
                    return
                if isinstance(message, messages.Park):
                    self._park(message)
                self._hung = self._hung or self._options.hang_on == type(message).__name__
                if not self._hung:
                    self._answer(message)

    def _answer(self, message: messages.Down) -> None:
        match message:
            case messages.Load():
                self._load(message)
            case messages.Open(session=session):
                if self._options.refuse:
                    self._say(messages.Refused(session, self._options.refuse, "Refused by the script."))
                    return
                self._turns[session] = Turn(message.options, message.epoch)
                self._say(messages.Opened(session))
            case messages.Configure(session=session):
                self._turns[session].options = message.options
            case messages.Audio():
                self._audio(message)
            case messages.Flush():
                self._flush(message)
            case messages.Cancel(session=session, epoch=epoch):
                self._turns[session] = Turn(self._turns[session].options, epoch)
            case messages.Unload():
                for session in self._turns:
                    self._say(messages.Closed(session, "unloaded"))
                self._turns.clear()
            case messages.Ping(number=number):
                self._say(messages.Pong(number))
            case messages.Close(session=session):
                del self._turns[session]
                self._say(messages.Closed(session, "closed"))

    def _park(self, message: messages.Park) -> None:
        self._say(messages.Parked(message.session, message.tier, took_ms=2.0))
        state = {"host": "parked", "disk": "hibernated", "dropped": "dropped"}[message.tier]
        kv = KV_BYTES if message.tier == "host" else 0
        held = messages.Ledger(message.session, state, 0, 0, 0, 1.0, 1.0, kv_host=kv)
        self._say(messages.Memory(1, 1, 0, (held,)))

    def _load(self, message: messages.Load) -> None:
        if self._options.fail_load:
            self._say(messages.Failed(None, self._options.fail_load, "The weights are broken: fetch them again."))
        elif self._options.exit_on_load:
            sys.exit(3)
        else:
            name = "scripted" if message.model == "auto" else message.model
            self._hold(self._options.ready_file, messages.Ready(name, "cpu", 1, ("en",), 1, devices=("cuda", "cpu")))

    def _audio(self, message: messages.Audio) -> None:
        turn = self._turns[message.session]
        turn.samples += len(message.samples) // messages.PCM_BYTES
        if self._options.hears:
            self._hear(message.session, turn, array("h", message.samples))
            return
        if self._texts is not None:
            if not turn.text:
                turn.text = next(self._texts)
                self._recite(message.session, turn, stable=False)
            return
        if self._options.fail_session_at and turn.samples >= self._options.fail_session_at:
            self._say(messages.Failed(message.session, "bad_audio", "The script fails this session."))
            return
        if turn.options.speech and turn.samples == len(message.samples) // messages.PCM_BYTES:
            self._say(messages.Speech(message.session, turn.epoch, "start", 0))
        while turn.said < turn.samples // WORD_SAMPLES:
            self._word(message.session, turn, stable=True)
        if turn.options.partials and turn.samples % WORD_SAMPLES:
            self._word(message.session, turn, stable=False)

    def _hear(self, session: str, turn: Turn, samples: array[int]) -> None:
        at = turn.samples - len(samples)
        for value, stretch in groupby(samples):
            if value != turn.value:
                self._name(session, turn, at)
                turn.value, turn.since = value, at
            at += sum(1 for _ in stretch)

    def _name(self, session: str, turn: Turn, end: int) -> None:
        """The stretch is over."""
        if turn.value and end - turn.since >= LEAST_SAMPLES:
            text = f" w{turn.value}" if turn.said else f"w{turn.value}"
            word = messages.Word(text, turn.since // 16, end // 16, 0.9)
            words = (word,) if turn.options.words else ()
            self._say(messages.Text(session, turn.epoch, text, True, word.start_ms, word.end_ms, words, tokens=1))
            turn.said += 1
        turn.value = 0

    def _flush(self, message: messages.Flush) -> None:
        turn = self._turns[message.session]
        if self._options.hears:
            self._name(message.session, turn, turn.samples)
        elif turn.text:
            self._recite(message.session, turn, stable=True)
        elif turn.samples % WORD_SAMPLES:
            self._word(message.session, turn, stable=True)
        audio_ms = turn.samples // 16
        flushed = messages.Flushed(message.session, turn.epoch, message.marker, audio_ms, prompt_tokens=audio_ms // 20)
        self._turns[message.session] = Turn(turn.options, turn.epoch)
        self._hold(self._options.flush_file, flushed)

    def _word(self, session: str, turn: Turn, *, stable: bool) -> None:
        text = f" w{turn.said}" if turn.said else "w0"
        start_ms = turn.said * 500
        end_ms = min(start_ms + 500, turn.samples // 16)
        words = (messages.Word(text, start_ms, end_ms, 0.9),) if turn.options.words else ()
        self._say(messages.Text(session, turn.epoch, text, stable, start_ms, end_ms, words, tokens=2))
        turn.said += stable

    def _recite(self, session: str, turn: Turn, *, stable: bool) -> None:
        text = messages.Text(session, turn.epoch, turn.text, stable, 0, turn.samples // 16, (), tokens=2)
        if stable or turn.options.partials:
            self._say(text)

    def _hold(self, gate: Path | None, message: messages.Up) -> None:
        if gate is None:
            self._say(message)
        else:
            self._held.append((gate, message))

    def _release(self) -> None:
        for held in list(self._held):
            if held[0].exists():
                self._held.remove(held)
                self._say(held[1])

    def _say(self, message: messages.Up) -> None:
        data = b"what is this" * 9 if self._options.garbage and isinstance(message, messages.Text) else encode(message)
        while data:
            data = data[os.write(1, data) :]

    def _note(self, message: messages.Down) -> None:
        if self._options.log:
            with self._options.log.open("a") as log:
                rules = getattr(message, "retention", "-")
                log.write(f"{type(message).__name__} {getattr(message, 'session', rules)}\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ready-file", type=Path, help="Ready only once this file exists")
    parser.add_argument("--flush-file", type=Path, help="answer flushes only once this file exists")
    parser.add_argument("--log", type=Path, help="write the kind and session of every message here")
    parser.add_argument("--fail-load", default="")
    parser.add_argument("--refuse", default="")
    parser.add_argument("--fail-session-at", type=int, default=0)
    parser.add_argument("--exit-on-load", action="store_true")
    parser.add_argument("--hang-on", default="", help="answer no message of this kind and none after it")
    parser.add_argument("--hears", action="store_true", help="text follows what the audio holds")
    parser.add_argument("--says", type=Path, help="a file whose lines are the turns' texts, over and over")
    parser.add_argument("--garbage", action="store_true")
    parser.add_argument("--once", type=Path, help="neither hang nor write garbage once this file exists; it is made")
    options = parser.parse_args()
    if options.once is not None:
        if options.once.exists():
            options.hang_on, options.garbage = "", False
        options.once.touch()
    ScriptedEngine(options).run()


if __name__ == "__main__":
    main()
