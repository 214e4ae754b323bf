"""The first-run guide: its steps, what to try, and what of that was heard. Decisions are pure; runs on the event loop.

It is open until it was finished or skipped once; the settings remember that. Nothing waits for it: the microphone
listens and commands act whichever step is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sayso.app.engine_view import ModelRow
from sayso.app.feed import Feed
from sayso.app.first_run_view import FirstRunView, Step, TaskState, TaskView
from sayso.app.server_choice import ServerChoice
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import FeedItem, FeedState, ServerKind

TINY = "tiny.en"
_BASES = ("base.en", "base")


@dataclass(frozen=True, slots=True)
class Task:
    """A command to try, and by which intent it is known."""

    say: str
    intent: str


TASKS = (
    Task("what time is it", "information.time"),
    Task("volume up", "volume.change"),
    Task("calculate 12 times 7", "calculator.calculate"),
)
"""Harmless, and each shows something: an answer, an effect with undo, a number that was heard."""


_STATES = {
    FeedState.HEARD: TaskState.HEARD,
    FeedState.CONFIRM: TaskState.ASKED,
    FeedState.RUNNING: TaskState.RUNNING,
    FeedState.DONE: TaskState.DONE,
    FeedState.UNDONE: TaskState.DONE,
}
"""Whatever else becomes of an action is a try that failed."""


def steps(server: ServerKind) -> tuple[Step, ...]:
    """The steps in order; a remote server's model is its keeper's choice."""
    return tuple(step for step in Step if step is not Step.MODEL or server is ServerKind.EMBEDDED)


def neighbour(step: Step, server: ServerKind, by: int) -> Step | None:
    """The step after (``by`` 1) or before (-1) this one; None beyond the ends."""
    every, there = tuple(Step), steps(server)
    at = every.index(step) + by
    while 0 <= at < len(every) and every[at] not in there:
        at += by
    return every[at] if 0 <= at < len(every) else None


def tried(items: Sequence[FeedItem], since: int) -> tuple[TaskView, ...]:
    """What became of the commands to try among the feed's items from number ``since`` on; a success stays one."""
    return tuple(_tried(task, [each for each in items if each.id >= since]) for task in TASKS)


def _tried(task: Task, items: Sequence[FeedItem]) -> TaskView:
    found = [each for each in items if each.why is not None and each.why.intent == task.intent]
    if not found:
        return TaskView(task.say)
    shown = next((each for each in found if _STATES.get(each.state) is TaskState.DONE), found[-1])
    return TaskView(task.say, _STATES.get(shown.state, TaskState.FAILED), shown.detail)


def larger(models: Sequence[ModelRow]) -> ModelRow | None:
    """The Whisper base to offer beside tiny: one that is here, else the English one, which can be fetched."""
    named = [row for name in _BASES for row in models if row.name == name]
    return next((row for row in named if row.installed), named[0] if named else None)


class _Feeding(Protocol):
    @property
    def feed(self) -> Feed: ...


class FirstRun:
    """Implements the guide's intents; ``view`` is what it shows."""

    def __init__(
        self, store: SettingsStore, server: ServerChoice, commander: _Feeding, changed: Callable[[], None]
    ) -> None:
        self._store = store
        self._server = server
        self._commander = commander
        self._changed = changed
        self._step = Step.MICROPHONE
        self._since = 0
        self._open = not store.settings.guided

    @property
    def view(self) -> FirstRunView:
        if not self._open:
            return FirstRunView()
        there = steps(self._server.view.kind)
        # Whoever chooses a remote server on the step about models is beyond it.
        step = self._step if self._step in there else Step.COMMANDS
        return FirstRunView(
            True, step, there.index(step) + 1, len(there), tried(self._commander.feed.items, self._since)
        )

    def open(self) -> None:
        """Show the guide from its beginning."""
        if not self._open:
            self._open, self._step, self._since = True, Step.MICROPHONE, self._commander.feed.next_id
            self._changed()

    def forward(self) -> None:
        """The next step; after the last one the guide is done."""
        step = neighbour(self.view.step, self._server.view.kind, 1)
        if step is None:
            self.close()
            return
        self._step = step
        self._changed()

    def back(self) -> None:
        step = neighbour(self.view.step, self._server.view.kind, -1)
        if step is not None:
            self._step = step
            self._changed()

    def close(self) -> None:
        """Finished or skipped: it does not come by itself again."""
        self._open = False
        self._store.change(guided=True)
        self._changed()
