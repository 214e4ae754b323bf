"""Which runner runs which kind of model: one line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sayso.engine.errors import EngineError
from sayso.engine.runner.base import Runner
from sayso.engine.runner.voxtral_realtime import VoxtralRunner
from sayso.engine.runner.whisper import WhisperRunner

if TYPE_CHECKING:
    from sayso.engine.catalog import ModelFiles

RUNNERS: dict[str, Callable[[ModelFiles, str, int, str], Runner]] = {
    "whisper": WhisperRunner.load,
    "voxtral_realtime": VoxtralRunner.load,
}


def create(files: ModelFiles, device: str, threads: int, precision: str = "auto") -> Runner:
    """The runner for these files; raises ``EngineError`` when there is none for their kind."""
    if files.kind not in RUNNERS:
        known = ", ".join(sorted(RUNNERS))
        raise EngineError("model_unsupported", f"{files.name} is a {files.kind} model; this engine runs: {known}.")
    return RUNNERS[files.kind](files, device, threads, precision)
