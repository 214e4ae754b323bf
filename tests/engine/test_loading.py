"""A model is ready once it has run: nobody's first words wait for what a first step sets up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_voxtral import build

from sayso.engine import messages as m
from sayso.engine.loading import load
from sayso.engine.modules.whisper import Whisper
from sayso.engine.runner.base import Stream
from sayso.engine.runner.voxtral_realtime import VoxtralRunner

pytestmark = pytest.mark.engine


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a load sets for its process is undone."""
    for name in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.setenv(name, "1")
    threads, grad = torch.get_num_threads(), torch.is_grad_enabled()
    yield
    torch.set_num_threads(threads)
    torch.set_grad_enabled(grad)


def test_voxtral_has_run_on_silence_and_holds_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Stream] = []
    step = VoxtralRunner.run

    def noted(self: VoxtralRunner, streams: Sequence[Stream]) -> None:
        step(self, streams)
        ran.extend(streams)

    monkeypatch.setattr(VoxtralRunner, "run", noted)
    loaded = load(m.Load(str(build(tmp_path / "tiny")), "cpu", 1))
    assert ran
    assert all(stream.done and not stream.holding.kv for stream in ran)
    assert loaded.runner.weight_bytes > 0


def test_whisper_has_run_on_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[float] = []
    transcribe = Whisper.transcribe

    def noted(self: Whisper, requests: Any) -> Any:
        answers = transcribe(self, requests)
        heard.extend(float(abs(request.audio).max()) for request in requests)
        return answers

    monkeypatch.setattr(Whisper, "transcribe", noted)
    load(m.Load("tiny.en", "cpu", 1))
    assert heard == [0.0]
