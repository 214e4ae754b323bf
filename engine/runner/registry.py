"""Which runner runs which kind of model: one line each. Speech models and text models have runners of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from sayso.engine.errors import EngineError
from sayso.engine.runner.base import Runner
from sayso.engine.runner.causal import CausalRunner
from sayso.engine.runner.token_base import TokenRunner
from sayso.engine.runner.voxtral_realtime import VoxtralRunner
from sayso.engine.runner.whisper import WhisperRunner

if TYPE_CHECKING:
    from sayso.engine.catalog import ModelFiles

Loading = TypeVar("Loading")

RUNNERS: dict[str, Callable[[ModelFiles, str, str], Runner]] = {
    "whisper": WhisperRunner.load,
    "voxtral_realtime": VoxtralRunner.load,
}
"""Models that hear: audio in, text out."""

TOKEN_RUNNERS: dict[str, Callable[[ModelFiles, str, str], TokenRunner]] = {
    "causal": CausalRunner.load,
}
"""Models that read: tokens in, tokens out."""


def create(files: ModelFiles, device: str, precision: str = "auto") -> Runner:
    """The runner of a speech model.

    Raises ``EngineError`` ``model_cannot_hear`` for a text model, ``model_unsupported`` when no runner is for its kind.
    """
    if files.kind in TOKEN_RUNNERS:
        raise EngineError(
            "model_cannot_hear",
            f"{files.name} is a text model: it answers text with text and cannot transcribe speech. Choose a model "
            "that hears, such as auto; a text model writes replies beside it, or serves sayso.engine.generate.",
        )
    return _of(RUNNERS, files)(files, device, precision)


def create_tokens(files: ModelFiles, device: str, precision: str = "auto") -> TokenRunner:
    """The runner of a text model.

    Raises ``EngineError`` ``model_cannot_write`` for a speech model, ``model_unsupported`` as ``create``.
    """
    if files.kind in RUNNERS:
        raise EngineError("model_cannot_write", f"{files.name} is a speech model: it cannot answer text with text.")
    return _of(TOKEN_RUNNERS, files)(files, device, precision)


def _of(runners: dict[str, Loading], files: ModelFiles) -> Loading:
    if files.kind not in runners:
        known = ", ".join(sorted((*RUNNERS, *TOKEN_RUNNERS)))
        raise EngineError("model_unsupported", f"{files.name} is a {files.kind} model; this engine runs: {known}.")
    return runners[files.kind]
