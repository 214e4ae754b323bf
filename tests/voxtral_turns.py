"""Turns for the Voxtral runner without an engine process: utterances on tapes, run until their text is out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from sayso.engine.messages import SessionOptions
from sayso.engine.modules.precision import choose_precision
from sayso.engine.modules.voxtral_realtime import VoxtralRealtime
from sayso.engine.runner.base import Before, Utterance
from sayso.engine.runner.voxtral_realtime import VoxtralRunner, VoxtralStream
from sayso.engine.tape import Tape

CPU = torch.device("cpu")


def runner_of(
    folder: Path, precision: str = "float32", places: int = 16, *, fixed_steps: bool = False
) -> VoxtralRunner:
    model = VoxtralRealtime.load(folder, CPU, choose_precision(precision, CPU), places)
    return VoxtralRunner(model, "tiny", fixed_steps=fixed_steps)


class Turn:
    """One turn: samples are added, tokens and text come out."""

    def __init__(self, runner: VoxtralRunner, delay_ms: int = 480) -> None:
        self.utterance = Utterance(Tape(), 0, 0, 0)
        self.stream: VoxtralStream = runner.stream(self.utterance, SessionOptions(delay_ms=delay_ms), Before())
        self.text = ""
        self.tokens: list[int] = []

    def hear(self, samples: np.ndarray) -> None:
        self.utterance.tape.append(samples)
        self.utterance.end = self.utterance.tape.end

    def end(self) -> None:
        self.utterance.ended = True

    @property
    def ready(self) -> bool:
        return self.stream.offer(0.0) is not None

    def collect(self) -> None:
        for piece in self.stream.take():
            self.text += piece.text
            self.tokens += [token for word in piece.words for token in word.tokens]
        self.utterance.tape.drop_before(self.stream.needed_from)


def run(runner: VoxtralRunner, turns: Sequence[Turn]) -> None:
    """Steps until none of the turns has work."""
    while ready := [turn for turn in turns if turn.ready]:
        runner.run([turn.stream for turn in ready])
        for turn in ready:
            turn.collect()
    for turn in turns:
        turn.collect()


def transcribe(runner: VoxtralRunner, samples: np.ndarray, delay_ms: int = 480, chunk: int | None = None) -> Turn:
    """One turn alone, whole or in chunks of so many samples."""
    turn = Turn(runner, delay_ms)
    for at in range(0, len(samples), chunk or len(samples)):
        turn.hear(samples[at : at + (chunk or len(samples))])
        run(runner, [turn])
    turn.end()
    run(runner, [turn])
    return turn
