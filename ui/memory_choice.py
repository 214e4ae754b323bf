"""The presets of the memory page: what each does, and what it costs in time as measured on this machine. Qt thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QButtonGroup, QLabel, QRadioButton, QVBoxLayout, QWidget

from sayso.app.memory_policy import PRESETS, Preset
from sayso.app.memory_view import MemoryView
from sayso.ui import memory_wording as wording
from sayso.ui.controls import hint, keep_outlined
from sayso.ui.text import together
from sayso.ui.theme import Theme


class PresetChoice(QWidget):
    """One radio button for each preset; none is set while the controls are of the user's own making."""

    def __init__(self, theme: Theme, chosen: Callable[[Preset], None]) -> None:
        super().__init__()
        self._chosen = chosen
        self._showing = False
        self._group = QButtonGroup(self)
        self.buttons: dict[Preset, QRadioButton] = {}
        self.words: dict[Preset, QLabel] = {}
        self.custom = hint(wording.PRESET_WORDS[Preset.CUSTOM])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.spacing.xs)
        for preset in PRESETS:
            button, words = QRadioButton(wording.PRESET_LABELS[preset]), hint()
            words.setContentsMargins(theme.spacing.xl, 0, 0, theme.spacing.xs)
            words.setBuddy(button)
            button.toggled.connect(lambda on, preset=preset: self._toggled(preset, on))
            self.buttons[preset], self.words[preset] = button, words
            self._group.addButton(button)
            layout.addWidget(button)
            layout.addWidget(words)
        layout.addWidget(self.custom)
        keep_outlined(theme, *self.buttons.values())

    def _toggled(self, preset: Preset, on: bool) -> None:
        if on and not self._showing:
            self._chosen(preset)

    def show_view(self, view: MemoryView) -> None:
        self._showing = True
        # Qt keeps one of a group set unless it is told that none need be.
        self._group.setExclusive(view.preset in self.buttons)
        for preset, button in self.buttons.items():
            button.setChecked(preset is view.preset)
            words = wording.choice_words(preset, view.starts)
            self.words[preset].setText(together(words))
            button.setAccessibleDescription(words)
        self._group.setExclusive(True)
        self.custom.setVisible(view.preset is Preset.CUSTOM)
        self._showing = False
