"""Shows a model that listens and writes at the same time: ``python tests/bench/voxtral_demonstration.py``.

Makes a folder with a tiny Voxtral Realtime of random weights, serves it with ``sayso serve --model``, streams four
seconds of sound at real-time pace, and prints each delta with the time at which it came. The words are nonsense; their
timing is that of a real model.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from streaming_turn import stream_turn
from tiny_voxtral import build, warbling

SECONDS = 4.0
SERVE = [sys.executable, "-c", "from sayso.app.cli.main import main; main()", "serve", "--port", "0", "--model"]


def main() -> None:
    with tempfile.TemporaryDirectory() as parent:
        folder = build(Path(parent) / "tiny-voxtral")
        print(f"made {folder}")
        with subprocess.Popen([*SERVE, str(folder)], stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                line = server.stdout.readline().strip()
                print(line)
                show(line.removeprefix("listening on "), folder.name)
            finally:
                server.terminate()


def show(url: str, model: str) -> None:
    pcm = (warbling(SECONDS) * 32768).astype("<i2")
    turn = asyncio.run(stream_turn(url, pcm, model, live=True))
    for at, text in turn.deltas:
        where = "audio still arrives" if at < turn.audio_ended else "flush"
        print(f"{at:6.3f} s  {where:20} {text!r}")
    early = sum(at < turn.audio_ended for at, _ in turn.deltas)
    print(f"{len(turn.deltas)} deltas, {early} of them before the audio ended; done after {turn.done:.2f} s")


if __name__ == "__main__":
    main()
