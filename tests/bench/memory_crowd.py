"""Many idle sessions beside two that speak: `python tests/bench/memory_crowd.py [--idle 200]`.

A server with a Voxtral Realtime of small shape and random weights. Two clients speak at real-time pace; then many
clients begin a turn and fall silent; when their sessions are parked the two speak again; at last all idle ones are
dropped. Told are how late the text of the two is complete, and the engine's memory by its own ledger and as the system
sees it. Beside it another server may be measured with the same clients, which holds what it holds:

    python tests/bench/memory_crowd.py --peer ws://127.0.0.1:9820/v1/realtime --peer-model tiny --peer-pid 1234

Measured on two cores with 200 idle sessions, text of the two complete after the audio (median): ours 0.18 s alone and
0.18 s beside them, 353 MB parked by the ledger and 361 given back to the system by a drop; vLLM 0.32 with 256 places
1.19 s and 1.53 s and nothing given back; with 8 places, all taken by idle sessions, no text within 150 s.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx
import numpy as np
import psutil
import websockets
from speech import recording
from streaming_turn import PORTION, SAMPLE_RATE, stream_turn
from tiny_voxtral import SMALL, build

SERVE = [sys.executable, "-c", "from sayso.app.cli.main import main; main()", "serve", "--port", "0"]
NAME = "voxtral-small"
MB = 1e6
SPOKEN_S = 0.8
"""What each idle session said before it fell silent."""
BOUND_S = 600.0
PATIENCE_S = 150.0
"""Three turns of ten seconds have to be through by then."""
AT_ONCE = 20
"""So many clients begin together."""


@contextmanager
def served(folder: Path, connections: int) -> Iterator[tuple[str, int]]:
    """URL and process id of a server that parks nothing by itself."""
    config = folder.parent / "config.toml"
    config.write_text(f"most-sessions = {connections}\n")
    command = [*SERVE, "--model", str(folder), "--precision", "int8", "--threads", "2", "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip().removeprefix("listening on "), server.pid
        finally:
            server.terminate()


def resident(pid: int) -> float:
    """MB of a process and its children."""
    process = psutil.Process(pid)
    return sum(each.memory_info().rss for each in (process, *process.children(recursive=True))) / MB


class Reports:
    """What our server tells of its sessions."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url.replace("ws://", "http://").removesuffix("/v1/realtime"), timeout=30)

    def limit(self, **limits: float) -> None:
        self._client.patch("/v1/limits", json=limits).raise_for_status()

    def sessions(self) -> list[dict[str, Any]]:
        return list(self._client.get("/v1/sessions").raise_for_status().json()["data"])

    def sum(self, tier: str) -> float:
        return sum(each["bytes"][tier] for each in self.sessions()) / MB

    def wait(self, done: Callable[[list[dict[str, Any]]], bool]) -> float:
        """Seconds until the sessions are as they should be."""
        began = time.monotonic()
        while not done(self.sessions()):
            if time.monotonic() - began > BOUND_S:
                raise TimeoutError("the sessions are not as they should be")
            time.sleep(0.1)
        return time.monotonic() - began

    def tiers(self) -> str:
        tiers = [each["tier"] for each in self.sessions()]
        return ", ".join(f"{tiers.count(tier)} {tier}" for tier in sorted(set(tiers)))


@contextlib.asynccontextmanager
async def idle_session(url: str, model: str, pcm: np.ndarray) -> AsyncIterator[None]:
    """A client that says a little, hears the text of it and then says nothing more in its open turn."""
    async with websockets.connect(url, proxy=None, max_size=None, open_timeout=BOUND_S, ping_interval=None) as socket:
        await socket.recv()
        await socket.send(json.dumps({"type": "session.update", "model": model}))
        await socket.send(json.dumps({"type": "input_audio_buffer.commit"}))
        for at in range(0, len(pcm), PORTION):
            audio = base64.b64encode(pcm[at : at + PORTION].astype("<i2").tobytes()).decode()
            await socket.send(json.dumps({"type": "input_audio_buffer.append", "audio": audio}))
        # The first text may be far behind when many begin together; that it was computed is seen in the sessions.
        yield


async def speakers(url: str, model: str, pcm: np.ndarray) -> tuple[float, float]:
    """Seconds after the end of the audio until the text of two live sessions is complete: median and worst of three."""
    late = []
    for _ in range(3):
        turns = await asyncio.gather(*(stream_turn(url, pcm, model, live=True, after=n * 0.04) for n in range(2)))
        assert all(turn.final["type"] == "transcription.done" for turn in turns), turns[0].final
        late += [turn.done - turn.audio_ended for turn in turns]
    return statistics.median(late), max(late)


async def crowd(url: str, model: str, pid: int, arguments: argparse.Namespace, reports: Reports | None) -> None:
    """All figures of one server."""
    pcm = (recording("beckett") * 32767).astype("<i2")
    before = resident(pid)
    alone = await speakers(url, model, pcm)
    print(f"  2 speakers alone: text complete {alone[0]:.2f} s after the audio (worst {alone[1]:.2f})", flush=True)
    async with contextlib.AsyncExitStack() as stack:
        for start in range(0, arguments.idle, AT_ONCE):
            number = min(AT_ONCE, arguments.idle - start)
            some = (idle_session(url, model, pcm[: int(SPOKEN_S * SAMPLE_RATE)]) for _ in range(number))
            await asyncio.gather(*(stack.enter_async_context(each) for each in some))
            await asyncio.to_thread(settle, reports, start + number, arguments.settle_s)
        print(f"  {arguments.idle} sessions fell silent: process {before:.0f} -> {resident(pid):.0f} MB", flush=True)
        try:
            async with asyncio.timeout(PATIENCE_S):
                beside = await speakers(url, model, pcm)
            print(f"  2 speakers beside them: {beside[0]:.2f} s (worst {beside[1]:.2f})", flush=True)
        except TimeoutError:
            print(f"  2 speakers beside them: not all text within {PATIENCE_S:.0f} s", flush=True)
        if reports is not None:
            await asyncio.to_thread(give_back, reports, pid)


def settle(reports: Reports | None, sessions: int, settle_s: float) -> None:
    """Until the sessions that began hold something in host memory or have nothing to do; a peer just gets time."""
    if reports is None:
        time.sleep(settle_s)
        return
    reports.limit(park_after_s=1.0)
    reports.wait(lambda rows: sum(row["tier"] == "host" for row in rows) >= sessions)
    reports.limit(park_after_s=0.0)


def give_back(reports: Reports, pid: int) -> None:
    """Drop all idle sessions; what the ledger and the system say."""
    print(f"  parked: {reports.tiers()}; {reports.sum('kv_host'):.1f} MB by the ledger", flush=True)
    held, before = reports.sum("kv_host") + reports.sum("kv"), resident(pid)
    reports.limit(drop_after_s=0.1)
    took = reports.wait(lambda rows: all(row["tier"] in ("dropped", "none") for row in rows))
    time.sleep(1.0)
    fell = before - resident(pid)
    print(
        f"  dropped in {took:.1f} s: the ledger fell by {held:.1f} MB, the process 1 s later by {fell:.1f} MB: "
        f"{100 * fell / held:.0f} %",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--idle", type=int, default=200)
    parser.add_argument("--peer", default="")
    parser.add_argument("--peer-model", default="tiny")
    parser.add_argument("--peer-pid", type=int, default=0)
    parser.add_argument("--settle-s", type=float, default=5.0)
    arguments = parser.parse_args()
    if arguments.peer:
        print("the peer")
        asyncio.run(crowd(arguments.peer, arguments.peer_model, arguments.peer_pid, arguments, None))
    with tempfile.TemporaryDirectory() as parent:
        folder = build(Path(parent) / NAME, SMALL, scale=0.04)
        with served(folder, arguments.idle + 10) as (url, pid):
            print("ours")
            asyncio.run(crowd(url, NAME, pid, arguments, Reports(url)))


if __name__ == "__main__":
    main()
