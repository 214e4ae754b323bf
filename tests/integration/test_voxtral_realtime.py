"""A folder with a tiny Voxtral Realtime, served as a user serves it: text comes while the audio still arrives."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import websockets
from bounded import child, read_line
from running_server import Client
from streaming_turn import stream_turn
from tiny_voxtral import build, warbling

pytestmark = [pytest.mark.engine, pytest.mark.timeout(180)]

SERVE = [sys.executable, "-c", "from sayso.app.cli.main import main; main()", "serve"]
SECONDS = 4.0
MODEL = "tiny"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("model") / MODEL
    build(folder)
    command = [*SERVE, "--port", "0", "--model", str(folder), "--threads", "1"]
    log = folder.parent / "log"
    with child(command, os.environ, log, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield read_line(process.stdout.fileno(), "the line that it listens", 90).removeprefix("listening on ")
    assert "Traceback" not in log.read_text()


def pcm(seconds: float, seed: int = 1):
    return (warbling(seconds, seed) * 32768).astype("<i2")


async def test_deltas_come_while_audio_still_arrives(url: str) -> None:
    turn = await stream_turn(url, pcm(SECONDS), MODEL, live=True)
    early = [text for at, text in turn.deltas if at < turn.audio_ended]
    assert len(early) >= 10
    assert turn.final["type"] == "transcription.done"
    assert turn.final["text"] == "".join(text for _, text in turn.deltas)
    assert turn.tokens == SECONDS * 12.5 + 10


async def test_the_pace_of_the_audio_makes_no_difference_to_the_text(url: str) -> None:
    live, at_once = await asyncio.gather(
        stream_turn(url, pcm(2.0), MODEL, live=True), stream_turn(url, pcm(2.0), MODEL, live=False)
    )
    assert live.final["text"] == at_once.final["text"] != ""


async def test_sessions_that_run_together_do_not_change_each_other(url: str) -> None:
    alone = [(await stream_turn(url, pcm(1.5, seed), MODEL, live=False)).final["text"] for seed in range(3)]
    together = await asyncio.gather(*(stream_turn(url, pcm(1.5, seed), MODEL, live=False) for seed in range(3)))
    assert [turn.final["text"] for turn in together] == alone


async def test_a_client_can_choose_its_delay(url: str) -> None:
    samples, texts = pcm(2.0), []
    for delay_ms in (80, 2400):
        async with websockets.connect(url, proxy=None) as socket:
            client = Client(socket)
            await client.expect("session.created")
            await client.send("session.update", model=MODEL, sayso={"delay_ms": delay_ms})
            assert (await client.expect("session.updated"))["sayso"]["delay_ms"] == delay_ms
            await client.start()
            await client.send("input_audio_buffer.append", audio=base64.b64encode(samples.tobytes()).decode())
            await client.end()
            texts.append((await client.until("transcription.done"))[-1]["text"])
    assert texts[0] != texts[1]


def test_a_folder_with_a_missing_tensor_is_refused_by_name(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    build(tmp_path / "broken")
    path = tmp_path / "broken" / "model.safetensors"
    weights = load_file(path)
    del weights["audio_tower.norm.weight"]
    save_file(weights, path)
    done = subprocess.run(
        [*SERVE, "--port", "0", "--model", str(path.parent)], capture_output=True, text=True, timeout=90
    )
    assert done.returncode == 1
    assert "audio_tower.norm.weight" in done.stderr
    assert "Traceback" not in done.stderr
