"""Realistic states of the first-run guide, used by ``screenshots.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import scenes

from sayso.app.engine_view import EngineView, ModelRow, Work
from sayso.app.first_run_view import FirstRunView, Step, TaskState, TaskView
from sayso.app.snapshot import MicrophoneChoice, OptionsView, Snapshot

TINY = ModelRow("tiny.en", ("en",), 76_000_000, 420_000_000, "MIT", True, is_automatic=True, factor=0.15)
BASE = ModelRow("base.en", ("en",), 145_000_000, 500_000_000, "MIT", False)
FETCHING = EngineView(
    models=(replace(TINY, factor=0.45), BASE),
    work=Work.FETCHING,
    about="base.en",
    done_bytes=52_000_000,
    total_bytes=145_000_000,
)
UNREACHED = EngineView(
    models=(TINY, BASE),
    fault="The hub that models come from cannot be reached, or the transfer broke off. What came so far is kept: try "
    "again when there is a network.",
)
TRIED = (
    TaskView("what time is it", TaskState.DONE, "It is 9:41"),
    TaskView("volume up", TaskState.FAILED, "No sound server answers. Start one, then say it again."),
    TaskView("calculate 12 times 7"),
)


def _guide(step: Step, tasks: tuple[TaskView, ...] = (), **changes: object) -> Snapshot:
    guide = FirstRunView(True, step, list(Step).index(step) + 1, len(Step), tasks)
    microphones = (MicrophoneChoice("usb", "USB headset"),)
    return replace(scenes.empty(), guide=guide, options=OptionsView("", microphones), **changes)  # type: ignore[arg-type]


ALL: dict[str, Callable[[], Snapshot]] = {
    "guide-microphone": lambda: _guide(Step.MICROPHONE, microphone=scenes.HEARING),
    "guide-microphone-missing": lambda: _guide(Step.MICROPHONE, microphone=scenes.no_microphone().microphone),
    "guide-server": lambda: _guide(Step.SERVER),
    "guide-model": lambda: _guide(Step.MODEL, engine=EngineView(models=(TINY, BASE))),
    "guide-model-fetching": lambda: _guide(Step.MODEL, engine=FETCHING),
    "guide-model-unreached": lambda: _guide(Step.MODEL, engine=UNREACHED),
    "guide-commands": lambda: _guide(Step.COMMANDS, TRIED, lines=(scenes.line(1, "calculate", " 12 times"),)),
}
