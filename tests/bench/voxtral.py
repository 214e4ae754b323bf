"""Measures the engine with a Voxtral Realtime of small shape and random weights, through the real server.

    python tests/bench/voxtral.py                                   one and four sessions, audio sent at once
    python tests/bench/voxtral.py --peer ws://127.0.0.1:9820/v1/realtime --peer-model tiny    beside another server
    python tests/bench/voxtral.py --live 4,8,16                      sessions at real-time pace, and their lag
    python tests/bench/voxtral.py --minutes 60                       one long session: step time and memory
    python tests/bench/voxtral.py --transformers                     a step of transformers' own streaming, and ours

Ours and the peer take turns, and the best of several short runs counts, since other work on the machine disturbs
single ones. The peer is vLLM on the same processor, with the same sizes and dummy weights.

Measured on two cores with AVX-512 and AMX in one sitting with vLLM 0.32, steps a second with 1 and 4 sessions: float32
85.2 and 199.7 (vLLM 30.5 and 53.6), int8 126 and 425 (vLLM 27.4 and 54.0); without it beside, int8 155 and 389. Best of
several rounds: single ones differ by a third. Live sessions carried: 32 in int8, 18 in float32. The floor is the bare
matrix products of one step: 4.0 ms in int8 and 10.6 ms in float32 on one thread, 2.7 and 5.8 ms on two that never
sleep. Full windows add 1.3 ms of attention a session, which is what reading them takes.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import psutil
from running_engine import EngineProcess
from speech import recording
from streaming_turn import StreamedTurn, stream_turn
from tiny_voxtral import SMALL, build

from sayso.engine import messages as m

SERVE = [sys.executable, "-c", "from sayso.app.cli.main import main; main()", "serve", "--port", "0"]
NAME = "voxtral-small"
STEPS_A_SECOND = 12.5
LATE_S = 17 / STEPS_A_SECOND
"""A session is carried when the 17 positions that end its turn come no slower than in real time."""


@contextmanager
def served(folder: Path, precision: str, threads: int) -> Iterator[str]:
    command = [*SERVE, "--model", str(folder), "--precision", precision, "--threads", str(threads)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip().removeprefix("listening on ")
        finally:
            server.terminate()


async def together(url: str, model: str, pcm: np.ndarray, sessions: int, *, live: bool) -> list[StreamedTurn]:
    """So many sessions with the same audio; live ones begin spread over one step."""
    spread = 1 / STEPS_A_SECOND / sessions if live else 0.0
    turns = (stream_turn(url, pcm, model, live=live, after=number * spread) for number in range(sessions))
    return list(await asyncio.gather(*turns))


def steps_a_second(url: str, model: str, pcm: np.ndarray, sessions: int) -> float:
    began = time.monotonic()
    turns = asyncio.run(together(url, model, pcm, sessions, live=False))
    assert all(turn.final["type"] == "transcription.done" for turn in turns), turns[0].final
    return sum(turn.tokens for turn in turns) / (time.monotonic() - began)


def compare(folder: Path, arguments: argparse.Namespace, pcm: np.ndarray) -> None:
    """Steps a second with all audio sent at once, ours and the peer's in turns."""
    for precision in arguments.precision.split(","):
        with served(folder, precision, arguments.threads) as url:
            for sessions in map(int, arguments.sessions.split(",")):
                ours, peers = [], []
                for _ in range(arguments.rounds):
                    ours.append(steps_a_second(url, NAME, pcm, sessions))
                    if arguments.peer:
                        peers.append(steps_a_second(arguments.peer, arguments.peer_model, pcm, sessions))
                line = f"{precision:18} {sessions} sessions: {max(ours):7.1f} steps/s"
                if peers:
                    ratios = [a / b for a, b in zip(ours, peers, strict=True)]
                    line += f"   peer {max(peers):6.1f}   best/best {max(ours) / max(peers):5.2f}"
                    line += f"   ratio of each round {', '.join(f'{ratio:.2f}' for ratio in ratios)}"
                print(line, flush=True)


def live(folder: Path, arguments: argparse.Namespace, pcm: np.ndarray) -> None:
    """How late the text of sessions at real-time pace is complete."""
    for precision in arguments.precision.split(","):
        with served(folder, precision, arguments.threads) as url:
            for sessions in map(int, arguments.live.split(",")):
                began = time.monotonic()
                turns = asyncio.run(together(url, NAME, pcm, sessions, live=True))
                late = [turn.done - turn.audio_ended for turn in turns]
                verdict = "carried" if max(late) < LATE_S else "not carried"
                lag = f"complete {statistics.median(late):.2f} s after the audio (median), {max(late):.2f} s (worst)"
                wall = time.monotonic() - began
                print(f"{precision:18} {sessions:3} live sessions: {lag}, wall {wall:.1f} s: {verdict}", flush=True)


def long_session(folder: Path, arguments: argparse.Namespace, samples: np.ndarray) -> None:
    """One session of many minutes, fed as fast as it is taken: step time and memory by ten-minute parts."""
    precision = arguments.precision.split(",")[0]
    with EngineProcess() as engine:
        engine.send(m.Load(str(folder), "cpu", arguments.threads, precision))
        engine.wait_for(lambda message: isinstance(message, m.Ready))
        process = psutil.Process(engine.process.pid)
        engine.open("long")
        minute = np.resize(samples, 60 * m.SAMPLE_RATE)
        for number in range(1, arguments.minutes + 1):
            before, cpu = len(engine.of("long", m.Text)), process.cpu_times()
            began = time.monotonic()
            engine.audio("long", minute)
            heard_ms = (number * 60_000) - 3_000
            engine.wait_for(lambda message: isinstance(message, m.Text) and message.end_ms >= heard_ms, "long", 600.0)  # noqa: B023
            wall, after = time.monotonic() - began, process.cpu_times()
            if number in (1, 2, 3, 5) or number % 10 == 0:
                spent = after.user + after.system - cpu.user - cpu.system
                pace = f"{1000 * wall / 750:6.2f} ms a step, {1000 * spent / 750:6.2f} ms of processor time"
                pieces, resident = len(engine.of("long", m.Text)) - before, process.memory_info().rss / 2**20
                print(f"minute {number:3}: {pace}, {resident:7.1f} MB, {pieces} pieces", flush=True)
        engine.send(m.Flush("long", 0, 1))
        engine.wait_for(lambda message: isinstance(message, m.Flushed), "long", 120.0)


def beside_transformers(folder: Path, samples: np.ndarray) -> None:
    """Processor time of one step on one thread: transformers' streaming generate, and ours."""
    import torch
    from voxtral_reference import Reference
    from voxtral_turns import runner_of, transcribe

    torch.set_num_threads(1)
    reference, times = Reference(folder), {"transformers": [], "ours": []}
    runner = runner_of(folder)
    transcribe(runner, samples[:16_000], chunk=1280)
    for _ in range(3):
        began = time.process_time()
        expected = reference.stream(samples)
        times["transformers"].append((time.process_time() - began) / (len(expected) + 1))
        began = time.process_time()
        tokens = transcribe(runner, samples, chunk=1280).tokens
        times["ours"].append((time.process_time() - began) / len(tokens))
        agree = sum(a == b for a, b in zip(tokens, expected, strict=True))
        print(f"{agree} of {len(tokens)} tokens are equal")
    best = {name: 1000 * min(values) for name, values in times.items()}
    print(", ".join(f"{name} {value:.1f} ms a step" for name, value in best.items()))
    print(f"ours takes {best['ours'] / best['transformers']:.2f} of transformers' time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default="")
    parser.add_argument("--peer-model", default="tiny")
    parser.add_argument("--sessions", default="1,4")
    parser.add_argument("--precision", default="float32,int8")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--live", default="")
    parser.add_argument("--minutes", type=int, default=0)
    parser.add_argument("--transformers", action="store_true")
    arguments = parser.parse_args()
    samples = recording("beckett")
    pcm = (samples * 32768).clip(-32768, 32767).astype("<i2")
    with tempfile.TemporaryDirectory() as parent:
        folder = build(Path(parent) / NAME, SMALL, scale=0.04)
        if arguments.transformers:
            beside_transformers(folder, (pcm / 32768).astype(np.float32))
        elif arguments.minutes:
            long_session(folder, arguments, samples)
        elif arguments.live:
            live(folder, arguments, pcm)
        else:
            compare(folder, arguments, pcm)


if __name__ == "__main__":
    main()
