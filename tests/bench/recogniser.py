"""How well and how fast short commands are heard: our window beside the full 30 s window, and beside faster-whisper.

    python tests/bench/recogniser.py [--threads N] [--commands N] [--no-retakes] [--every MS]

60 spoken commands, whole and cut off every 250 ms as a live transcript hears them, and whole in 120 more takes. All
recognisers take each clip in turn, so that other work on the machine slows them alike; times are CPU time, wall time
beside it. Prints a table and what it means for the aims: no repeated phrase, no more word errors than the 30 s window,
at most 0.35 of its time. The exit status is 1 when an aim is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import recogniser_speech as speech

from sayso.engine import catalog
from sayso.engine.modules.whisper import Request, Whisper
from sayso.engine.step_threads import share_among

TIME_AIM = 0.35
Hear = Callable[[np.ndarray], str]


@dataclass
class Tally:
    """What one recogniser did with one set of clips."""

    clips: int = 0
    words: int = 0
    errors: int = 0
    repeats: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0

    def add(self, hear: Hear, audio: np.ndarray, count_errors: Callable[[str], int], words: int) -> None:
        cpu, wall = time.process_time(), time.perf_counter()
        text = hear(audio)
        self.cpu_s += time.process_time() - cpu
        self.wall_s += time.perf_counter() - wall
        self.clips += 1
        self.words += words
        self.errors += count_errors(text)
        self.repeats += speech.repeats(text)

    def __add__(self, other: Tally) -> Tally:
        return Tally(**{name: value + getattr(other, name) for name, value in vars(self).items()})


def ours(folder: Path, threads: int, exact: bool, final: bool) -> Hear:
    share_among(threads)
    model = Whisper.load(folder, exact=exact)
    return lambda audio: model.transcribe([Request(audio, final=final)])[0].text


def peer(folder: Path, threads: int) -> Hear:
    from faster_whisper import WhisperModel

    model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=threads)

    def hear(audio: np.ndarray) -> str:
        segments, _ = model.transcribe(audio, language="en", beam_size=1, without_timestamps=True)
        return "".join(segment.text for segment in segments)

    return hear


def whole(recognisers: dict[str, Hear], spoken: Iterable[speech.Spoken]) -> dict[str, Tally]:
    """Every command in one piece, against its text."""
    tallies = {name: Tally() for name in recognisers}
    for command in spoken:
        words = len(speech.words(command.text))
        for name, hear in recognisers.items():
            tallies[name].add(hear, command.audio, lambda text, said=command.text: speech.errors(text, said), words)
    return tallies


def cut(recognisers: dict[str, Hear], spoken: Iterable[speech.Spoken], every_ms: int) -> dict[str, Tally]:
    """Every command cut off every so many ms, against whatever beginning of its text fits best."""
    step = every_ms * speech.SAMPLE_RATE // 1000
    first = int(speech.LEAD_S * speech.SAMPLE_RATE) + step
    tallies = {name: Tally() for name in recognisers}
    for command in spoken:
        words = len(speech.words(command.text))
        for end in range(first, len(command.audio), step):
            for name, hear in recognisers.items():
                part = command.audio[:end]
                tallies[name].add(hear, part, lambda text, said=command.text: speech.errors_of_part(text, said), words)
    return tallies


def show(title: str, tallies: dict[str, Tally], full: str) -> None:
    print(f"\n{title}")
    print(f"{'':28}{'clips':>6}{'errors':>8}{'words':>7}{'repeats':>9}{'CPU ms':>8}{'wall ms':>9}{'of 30 s':>9}")
    for name, tally in tallies.items():
        cpu, wall = tally.cpu_s / tally.clips * 1e3, tally.wall_s / tally.clips * 1e3
        share = tally.cpu_s / tallies[full].cpu_s
        counts = f"{tally.clips:>6}{tally.errors:>8}{tally.words:>7}{tally.repeats:>9}"
        print(f"{name:28}{counts}{cpu:>8.0f}{wall:>9.0f}{share:>9.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--commands", type=int, default=60, help="how many of the 60")
    parser.add_argument("--no-retakes", action="store_true", help="only the 60 commands")
    parser.add_argument("--every", type=int, default=250, help="ms between two cuts")
    options = parser.parse_args()
    folder, threads = catalog.resolve("tiny.en").folder, options.threads
    spoken = speech.commands()[: options.commands]
    full, step, end = "30 s window", "ours, while speaking", "ours, at the end"
    full_hear, step_hear = ours(folder, threads, True, True), ours(folder, threads, False, False)
    at_end = ours(folder, threads, False, True)
    for hear in (full_hear, step_hear, at_end):
        hear(spoken[0].audio)
    recognisers = {full: full_hear, end: at_end, "faster-whisper int8": peer(folder, threads)}
    wholes = whole(recognisers, spoken)
    show(f"{len(spoken)} commands, whole ({threads} thread)", wholes, full)
    if not options.no_retakes:
        more = whole(recognisers, speech.retakes())
        show("more takes of the same commands", more, full)
        wholes = {name: tally + more[name] for name, tally in wholes.items()}
    cuts = cut({full: full_hear, step: step_hear}, spoken, options.every)
    show(f"the same, cut off every {options.every} ms", cuts, full)
    aims = {
        "no repeated phrase": wholes[end].repeats + cuts[step].repeats == 0,
        "whole: no more word errors than the 30 s window": wholes[end].errors <= wholes[full].errors,
        "cut: no more word errors than the 30 s window": cuts[step].errors <= cuts[full].errors,
        f"whole: at most {TIME_AIM} of its time": wholes[end].cpu_s <= TIME_AIM * wholes[full].cpu_s,
        f"cut: at most {TIME_AIM} of its time": cuts[step].cpu_s <= TIME_AIM * cuts[full].cpu_s,
    }
    print()
    for aim, held in aims.items():
        print(f"{'held  ' if held else 'MISSED'} {aim}")
    return 0 if all(aims.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
