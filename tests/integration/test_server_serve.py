"""``sayso serve`` as a user starts it: it says where it listens only once it can transcribe, and why when it cannot."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import websockets
from bounded import child, read_line
from running_server import Client
from speech import recording

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

SERVE = [sys.executable, "-c", "from sayso.app.cli.main import main; main()", "serve"]


async def test_it_can_transcribe_at_once_when_it_says_that_it_listens(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("from-a-file\n")
    command = [*SERVE, "--port", "0", "--api-key-file", str(key)]
    with child(command, os.environ, tmp_path / "log", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        line = read_line(process.stdout.fileno(), "the line that it listens", 60)
        assert line.startswith("listening on ws://127.0.0.1:")
        assert line.endswith("/v1/realtime")
        headers = {"Authorization": "Bearer from-a-file"}
        url = line.removeprefix("listening on ")
        async with websockets.connect(url, proxy=None, additional_headers=headers) as socket:
            c = Client(socket)
            await c.choose("engine")
            assert (await c.expect("sayso.engine"))["state"] == "ready"
            pcm = (recording("beckett")[:32_000] * 32_767).astype("<i2").tobytes()
            await c.start()
            await c.send("input_audio_buffer.append", audio=base64.b64encode(pcm).decode())
            await c.end()
            events = await c.until("transcription.done")
            assert events[-1]["text"].split()[:2] == ["Ever", "tried."]
            process.send_signal(signal.SIGTERM)
            with pytest.raises(websockets.ConnectionClosed):
                await c.next()
        assert process.wait(15) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_model_that_does_not_exist_ends_it_with_a_message(tmp_path: Path) -> None:
    command = [*SERVE, "--port", "0", "--model", str(tmp_path / "nowhere")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr
