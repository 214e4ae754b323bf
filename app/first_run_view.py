"""What the first-run guide shows: frozen values, published with the snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Step(StrEnum):
    """The steps in order."""

    MICROPHONE = "microphone"
    SERVER = "server"
    MODEL = "model"
    COMMANDS = "commands"


class TaskState(StrEnum):
    """How the last try of a command stands; a success stays one."""

    OPEN = "open"
    HEARD = "heard"
    ASKED = "asked"
    """The action waits for a yes."""
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class TaskView:
    """A command to try."""

    say: str
    state: TaskState = TaskState.OPEN
    detail: str = ""
    """The result or the reason, in words for people."""


@dataclass(frozen=True, slots=True)
class FirstRunView:
    is_open: bool = False
    step: Step = Step.MICROPHONE
    number: int = 1
    """Of the step, from 1."""
    count: int = len(Step)
    tasks: tuple[TaskView, ...] = ()
