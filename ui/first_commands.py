"""The guide's last step: three commands to say, ticked when they were heard and done. Qt thread."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton

from sayso.app.first_run import TASKS
from sayso.app.first_run_view import TaskState, TaskView
from sayso.app.snapshot import DesktopState, Snapshot
from sayso.ui import icon
from sayso.ui.controls import hint
from sayso.ui.intents import Intents
from sayso.ui.settings_page import SettingsPage
from sayso.ui.text import breakable
from sayso.ui.theme import Theme

_ABOUT = "Say these, one after the other. Only a whole utterance is a command, so pause before and after it."
_WORDS = {
    TaskState.OPEN: "not said yet",
    TaskState.HEARD: "heard",
    TaskState.ASKED: "it asks you",
    TaskState.RUNNING: "doing it",
    TaskState.DONE: "done",
    TaskState.FAILED: "it did not work",
}


class FirstCommands(SettingsPage):
    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__(theme)
        self._theme = theme
        self._shown: tuple[TaskView, ...] = ()
        self.rows = [TaskRow(theme) for _ in TASKS]
        self.heard = hint()
        self.listen = QPushButton("&Start listening")
        self.listen.clicked.connect(intents.start)
        self.closed = hint("Sayso does not listen now.")
        self.done = hint("That is all. Everything that you can say is in Settings, under Commands.")
        for widget in (hint(_ABOUT), *self.rows, self.closed, self.listen, self.heard, self.done):
            self.column.addWidget(widget)
        self.column.addStretch(1)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        tasks = snapshot.guide.tasks
        for row, task in zip(self.rows, tasks, strict=False):
            row.show_task(task)
        listens = snapshot.state in (DesktopState.LISTENING, DesktopState.RECONNECTING, DesktopState.STARTING)
        for widget in (self.listen, self.closed):
            widget.setVisible(not listens)
        line = snapshot.lines[-1] if snapshot.lines else None
        words = f"{line.stable}{line.tentative}".strip() if line is not None else ""
        self.heard.setText(f"Heard: “{breakable(words)}”" if words else "What Sayso hears appears here.")
        self.done.setVisible(bool(tasks) and all(task.state is TaskState.DONE for task in tasks))


class TaskRow(QFrame):
    """One command: a mark, what to say, and what became of it. Read as one text."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._task = TaskView("")
        self.setProperty("role", "card")
        self.mark = QLabel()
        self.say = QLabel()
        self.state = hint()
        layout = QGridLayout(self)
        layout.setContentsMargins(theme.spacing.m, theme.spacing.s, theme.spacing.m, theme.spacing.s)
        layout.setHorizontalSpacing(theme.spacing.m)
        layout.addWidget(self.mark, 0, 0, 2, 1)
        layout.addWidget(self.say, 0, 1)
        layout.addWidget(self.state, 1, 1)
        layout.setColumnStretch(1, 1)
        theme.changed.connect(self._paint)
        self._paint()

    def show_task(self, task: TaskView) -> None:
        if task == self._task:
            return
        self._task = task
        self.say.setText(f"“{task.say}”")
        self.state.setText(_words(task))
        self.setAccessibleName(f"{task.say}: {_words(task)}")
        self._paint()

    def _paint(self) -> None:
        colours, task = self._theme.colours, self._task
        name, colour = {
            TaskState.DONE: ("done", colours.good),
            TaskState.FAILED: ("failed", colours.bad),
        }.get(task.state, ("heard", colours.muted))
        side = self._theme.spacing.times(6)
        self.mark.setPixmap(icon.pixmap(name, colour, side, self.devicePixelRatioF()))


def _words(task: TaskView) -> str:
    words = _WORDS[task.state]
    return f"{words}: {task.detail}" if task.detail else words
