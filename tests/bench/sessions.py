"""How many people can speak at once: `python tests/bench/sessions.py [THREADS] [COUNTS]`, COUNTS like 1,2,4,8.

Each session plays two_cities at real-time pace, started at another moment. A number of sessions is carried when 95 %
of all their words are shown at most 2 s after they were said. Wrong words count as never shown.
"""

from __future__ import annotations

import sys

from live import Feed, play  # isort: skip - it makes the tests' modules importable

import psutil
import speech
from lag import lags
from running_engine import EngineProcess

ROW = "{:>8} {:>7} {:>7} {:>9} {:>9} {:>7} {:>7} {:>6}"


def main() -> None:
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    counts = [int(count) for count in sys.argv[2].split(",")] if len(sys.argv) > 2 else [1, 2, 4, 6, 8]
    samples = speech.recording("two_cities")
    reference = [(word, end) for word, _, end in speech.word_times("two_cities")]
    with EngineProcess() as engine:
        engine.load(threads=threads)
        process = psutil.Process(engine.process.pid)
        print(ROW.format("sessions", "median", "p95", "final p95", "wrong", "cpus", "MB", "ok"))
        for count in counts:
            feeds = [Feed(f"{count}/{i}", samples, i * 2.1 % 11.0) for i in range(count)]
            before = process.cpu_times()
            shown = play(engine, feeds)
            after = process.cpu_times()
            results = [lags(reference, each.everything) for each in shown.values()]
            words = sorted(lag for result in results for lag in result.seconds)
            finals = sorted(each.done_at - len(samples) / speech.RATE for each in shown.values())
            p95 = words[int(len(words) * 0.95)]
            length_s = len(samples) / speech.RATE + max(feed.offset_s for feed in feeds)
            cpus = (after.user + after.system - before.user - before.system) / length_s
            error = sum(result.word_error for result in results) / count
            print(
                ROW.format(
                    count,
                    f"{words[len(words) // 2]:.2f}",
                    f"{p95:.2f}",
                    f"{finals[int(len(finals) * 0.95)]:.2f}",
                    f"{error:.3f}",
                    f"{cpus:.2f}",
                    f"{process.memory_info().rss / 1e6:.0f}",
                    "yes" if p95 <= 2.0 else "no",
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
