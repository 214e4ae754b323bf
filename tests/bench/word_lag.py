"""How far the words on the screen are behind the speaker: `python tests/bench/word_lag.py [THREADS]`.

Human recordings at real-time pace through the engine process. Targets for two_cities: tentative words median ≤ 1.0 s
and 95 % ≤ 2.0 s, final text ≤ 0.5 s after the audio's end.
"""

from __future__ import annotations

import sys

from live import Feed, play  # isort: skip - it makes the tests' modules importable

import speech
from lag import Lags, Log, lags, plain_words
from running_engine import EngineProcess

ROW = "{:12} {:10} {:>7} {:>7} {:>7} {:>7} {:>9} {:>8}"


def first_text(log: Log) -> float:
    return next((at for at, text in log if plain_words(text)), float("nan"))


def row(name: str, kind: str, result: Lags, log: Log, final_s: float) -> str:
    figures = (result.quantile(0.5), result.quantile(0.95), first_text(log), final_s)
    error, flicker = f"{result.word_error:.3f}", f"{result.flicker:.0f}"
    return ROW.format(name, kind, *(f"{figure:.2f}" for figure in figures), error, flicker)


def main() -> None:
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with EngineProcess() as engine:
        ready = engine.load(threads=threads)
        print(f"{ready.model} on {ready.device}, {ready.threads} threads, ready after {ready.load_ms} ms")
        print(ROW.format("recording", "words", "median", "p95", "first", "final", "wrong", "flicker"))
        for name in ("beckett", "two_cities"):
            samples = speech.recording(name)
            reference = [(word, end) for word, _, end in speech.word_times(name)]
            shown = play(engine, [Feed(name, samples)])[name]
            final_s = shown.done_at - len(samples) / speech.RATE
            for kind, log in (("shown", shown.everything), ("stable", shown.stable)):
                print(row(name, kind, lags(reference, log), log, final_s))


if __name__ == "__main__":
    main()
