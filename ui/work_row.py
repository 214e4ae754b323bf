"""What goes on with a model: words, how far it is, and a button that ends it; gone when nothing does. Qt thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QGridLayout, QProgressBar, QPushButton, QWidget

from sayso.app.engine_view import EngineView, Work
from sayso.ui import model_wording as wording
from sayso.ui.controls import plain_label
from sayso.ui.text import breakable
from sayso.ui.theme import Theme

_STEPS = 1000


class WorkRow(QWidget):
    def __init__(self, stop: Callable[[], None], theme: Theme) -> None:
        super().__init__()
        self.words = plain_label()
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(theme.spacing.s)
        self.stop = QPushButton("Cancel")
        self.stop.clicked.connect(lambda: stop())
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(theme.spacing.m)
        layout.setVerticalSpacing(theme.spacing.xs)
        layout.addWidget(self.words, 0, 0)
        layout.addWidget(self.bar, 1, 0)
        layout.addWidget(self.stop, 0, 1, 2, 1)
        layout.setColumnStretch(0, 1)
        self.hide()

    def show_work(self, view: EngineView) -> None:
        """Show what goes on; one thing at a time."""
        going = view.work is not Work.NONE
        if going:
            words = wording.work(view)
            self.words.setText(breakable(words))
            self.bar.setAccessibleName(words)
            self.stop.setAccessibleName(f"Cancel: {words}")
            # Without a known end the bar runs, which says that something goes on.
            self.bar.setMaximum(_STEPS if view.total_bytes else 0)
            if view.total_bytes:
                self.bar.setValue(_STEPS * view.done_bytes // view.total_bytes)
            self.stop.setEnabled(view.work is not Work.REMOVING)
        if self.isHidden() is going:
            self.setVisible(going)
