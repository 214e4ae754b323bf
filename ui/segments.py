"""A row of choices of which exactly one holds: a group of radio buttons drawn as one piece. Qt thread.

Left and right move the choice, Tab leaves the group; a screen reader hears radio buttons with the group's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy

from sayso.ui.theme import Theme


@dataclass(frozen=True, slots=True)
class Choice:
    """``label`` with its mnemonic, ``tip`` says what choosing it does."""

    label: str
    tip: str


class Segments(QFrame):
    """Emits ``chosen`` with the index of a choice that a person made, never for ``show_choice``."""

    chosen = Signal(int)

    def __init__(self, name: str, choices: Sequence[Choice], theme: Theme) -> None:
        super().__init__()
        self._showing = False
        self.setProperty("role", "segments")
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        self.buttons = tuple(
            self._button(index, name, choice, theme.spacing.times(8)) for index, choice in enumerate(choices)
        )
        for button in self.buttons:
            layout.addWidget(button)

    def _button(self, index: int, name: str, choice: Choice, padding: int) -> QPushButton:
        button = QPushButton(choice.label, self)
        button.setProperty("role", "segment")
        button.setCheckable(True)
        button.setAutoExclusive(True)
        button.setToolTip(choice.tip)
        button.setAccessibleName(f"{name}: {choice.label.replace('&', '')}")
        button.setAccessibleDescription(choice.tip)
        # Not “clicked”: a screen reader toggles without a click.
        button.toggled.connect(lambda checked: self._toggled(index, checked))
        # The chosen one is bold: room for that from the start, so that nothing is clipped and nothing moves.
        bold = button.font()
        bold.setBold(True)
        text_width = QFontMetricsF(bold).horizontalAdvance(choice.label.replace("&", ""))
        button.setMinimumWidth(round(text_width) + padding)
        return button

    def show_choice(self, index: int) -> None:
        if not self.buttons[index].isChecked():
            self._showing = True
            self.buttons[index].setChecked(True)
            self._showing = False

    def _toggled(self, index: int, checked: bool) -> None:
        if checked:
            # Qt would stop at the button that had the focus last, another one once a snapshot has moved the choice.
            for number, button in enumerate(self.buttons):
                chosen = number == index
                button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if chosen else Qt.FocusPolicy.ClickFocus)
        if checked and not self._showing:
            self.chosen.emit(index)

    def current(self) -> int:
        """Index of the shown choice, -1 before the first."""
        return next((index for index, button in enumerate(self.buttons) if button.isChecked()), -1)

    def focus_target(self) -> QPushButton:
        """The button that Tab would reach."""
        return self.buttons[max(0, self.current())]
