"""Nothing from nothing: `python tests/bench/nothing.py [MINUTES]`.

Silence, noises, key clicks and music, ten minutes each, then clips of 30 to 32 s with speech in the middle and silence
or noise around it; all sent faster than real time. Every word that nobody said counts, tentative words included.
Exit status 1 when there is one.
"""

from __future__ import annotations

import sys
import time

from live import EngineProcess, m  # isort: skip - it makes the tests' modules importable

import noises
import numpy as np
import speech
from lag import aligned, plain_words

from sayso.app.commands.grammar import Grammar

ROW = "{:34} {:>8} {:>6} {:>9} {:>10}  {}"
EXPECTED = tuple(each.say.capitalize() for each in Grammar.load().commands.values())
"""What the desktop tells the engine to expect; noise must not turn into any of it."""
TEXTS = (
    "turn the volume down and open the file manager",
    "search the web for the weather in paris tomorrow morning",
    "go to the next window please",
    "good morning everyone see you tomorrow",
)


def sounds(seconds: float) -> dict[str, np.ndarray]:
    """Where nobody speaks."""
    return {
        "silence": noises.silence(seconds),
        "white noise, -40 dB": noises.white_noise(seconds),
        "white noise, -20 dB": noises.white_noise(seconds, -20.0, 1),
        "key clicks": noises.key_clicks(seconds),
        "key clicks, fast": noises.key_clicks(seconds, 7, 12.0),
        "music": noises.music(seconds),
    }


def clips() -> dict[str, tuple[str, np.ndarray]]:
    """Speech in the middle of 30 to 32 s of silence or faint noise, and what is said in it."""
    spoken = {text: speech.say(text) for text in TEXTS}
    spoken[speech.recording_text("beckett")] = speech.recording("beckett")
    out = {}
    for number, (text, samples) in enumerate(spoken.items()):
        for background in ("silence", "noise"):
            seconds = 30.0 + number % 3
            clip = noises.silence(seconds) if background == "silence" else noises.white_noise(seconds, -55.0, number)
            at = round((seconds * speech.RATE - len(samples)) * (0.2 + 0.15 * number))
            clip[at : at + len(samples)] += samples
            out[f"{text[:22]}, {background}"] = (text, clip)
    return out


def hear(engine: EngineProcess, name: str, samples: np.ndarray) -> tuple[str, set[str]]:
    """The transcript, and every tentative text that was shown."""
    engine.open(name, partials=True, bias=EXPECTED)
    engine.audio(name, samples, chunk=speech.RATE)
    engine.flush(name, 1)
    texts = [e for e in engine.of(name, m.Text) if isinstance(e, m.Text)]
    engine.send(m.Close(name))
    return engine.transcript(name), {e.piece for e in texts if not e.stable and e.piece}


def added(said: str, heard: str) -> int:
    """Words in ``heard`` that stand for none of those said; a misheard word is not one."""
    reference, words = plain_words(said), plain_words(heard)
    pairs, _ = aligned(reference, words)
    count, before = 0, (-1, -1)
    for i, j in [*pairs, (len(reference), len(words))]:
        count += max(0, (j - before[1]) - (i - before[0]))
        before = (i, j)
    return count


def main() -> int:
    seconds = 60 * float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    total = 0
    with EngineProcess() as engine:
        engine.load()
        print(ROW.format("sound", "seconds", "words", "not said", "tentative", "took"))
        everything = {name: ("", samples) for name, samples in sounds(seconds).items()} | clips()
        for name, (said, samples) in everything.items():
            began = time.monotonic()
            heard, shown = hear(engine, name, samples)
            extra = added(said, heard) + (0 if said else sum(len(plain_words(text)) for text in shown))
            total += extra
            took = f"{time.monotonic() - began:.1f} s"
            length = f"{len(samples) / speech.RATE:.0f}"
            print(ROW.format(name, length, len(plain_words(heard)), extra, len(shown), took), flush=True)
            if extra:
                print(f"    {heard!r} {sorted(shown)}")
    print(f"{total} words that nobody said")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
