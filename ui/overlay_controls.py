"""The part of the page *Listening* about the overlay: whether it is shown, and where. Qt thread.

Where the desktop lets no program place a window, messages of the desktop take its place, which needs no place.
"""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from sayso.app.snapshot import Snapshot
from sayso.app.ways_view import OverlayPlace
from sayso.ui.controls import ChoiceBox, keep_outlined
from sayso.ui.intents import Intents
from sayso.ui.overlay import can_show
from sayso.ui.theme import Theme

_OVERLAY = "Show what is heard o&ver other windows"
_MESSAGES = "Tell what was done in messages o&ver other windows"
_PLACES = {
    OverlayPlace.BOTTOM: "At the bottom",
    OverlayPlace.TOP: "At the top",
    OverlayPlace.BOTTOM_LEFT: "In the lower left corner",
    OverlayPlace.BOTTOM_RIGHT: "In the lower right corner",
    OverlayPlace.TOP_LEFT: "In the upper left corner",
    OverlayPlace.TOP_RIGHT: "In the upper right corner",
}


class OverlayControls(QWidget):
    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__()
        self._showing = False
        self.shown = QCheckBox(_OVERLAY if can_show() else _MESSAGES)
        self.place_label = QLabel("Plac&e")
        self.place = ChoiceBox(theme)
        self.place.setAccessibleName("Place of what is heard")
        self.place_label.setBuddy(self.place)
        for place, label in _PLACES.items():
            self.place.addItem(label, place)
        self.shown.toggled.connect(lambda on: None if self._showing else intents.options.set_overlay(on))
        self.place.activated.connect(lambda row: intents.options.place_overlay(self.place.itemData(row)))
        row = QHBoxLayout()
        row.setSpacing(theme.spacing.s)
        row.addWidget(self.place_label)
        row.addWidget(self.place, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.spacing.s)
        column.addWidget(self.shown)
        column.addLayout(row)
        keep_outlined(theme, self.shown)
        for widget in (self.place_label, self.place):
            widget.setVisible(can_show())

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._showing = True
        self.shown.setChecked(snapshot.options.overlay)
        self._showing = False
        # An open list would jump under the pointer.
        if not self.place.view().isVisible():
            self.place.setCurrentIndex(list(_PLACES).index(snapshot.options.overlay_place))
        self.place.setEnabled(snapshot.options.overlay)
        self.place_label.setEnabled(snapshot.options.overlay)
