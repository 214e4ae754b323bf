"""The page *Listening*: in which way Sayso listens, when it does, and how long a pause ends what is said. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QSlider

from sayso.app.settings import LONGEST_WAIT_MS, SHORTEST_WAIT_MS
from sayso.app.snapshot import Snapshot
from sayso.app.ways_view import Way
from sayso.ui.controls import hint, keep_outlined
from sayso.ui.intents import Intents
from sayso.ui.overlay_controls import OverlayControls
from sayso.ui.settings_page import SettingsPage
from sayso.ui.theme import Theme
from sayso.ui.way_controls import WayControls

_WAIT_STEP_MS = 50


class ListeningPage(SettingsPage):
    """The ways to listen, the pause, the overlay, and when Sayso starts."""

    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__(theme)
        self._showing = False
        self.ways = WayControls(intents, theme)
        self.overlay = OverlayControls(intents, theme)
        self.wait = QSlider(Qt.Orientation.Horizontal)
        self.wait.setAccessibleName("Pause that ends what you say")
        self.wait.setRange(SHORTEST_WAIT_MS // _WAIT_STEP_MS, LONGEST_WAIT_MS // _WAIT_STEP_MS)
        self.wait.setPageStep(4)
        self.wait_label = QLabel()
        self.wait_label.setBuddy(self.wait)
        self.listens_at_start = QCheckBox("&Listen as soon as Sayso runs")
        self.starts_with_session = QCheckBox("&Start with the session")
        self.close_to_tray = QCheckBox("&Keep running in the tray when closed")
        self.wait.valueChanged.connect(lambda steps: self._ask(intents.options.set_wait_ms, steps * _WAIT_STEP_MS))
        self.listens_at_start.toggled.connect(lambda on: self._ask(intents.options.set_listens_at_start, on))
        self.starts_with_session.toggled.connect(lambda on: self._ask(intents.set_start_with_session, on))
        self.close_to_tray.toggled.connect(lambda on: self._ask(intents.set_close_to_tray, on))
        about = hint("Shorter acts sooner; longer lets you think in mid-sentence. Whole commands never wait so long.")
        self._pause = (self.wait_label, self.wait, about)
        switches = (self.listens_at_start, self.starts_with_session, self.close_to_tray)
        for widget in (self.ways, *self._pause, self.overlay, *switches):
            self.column.addWidget(widget)
        self.column.addStretch(1)
        keep_outlined(theme, self.wait, *switches)

    def _ask(self, intent: object, value: int) -> None:
        if not self._showing:
            intent(value)  # type: ignore[operator]

    def finish(self) -> None:
        self.ways.finish()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._showing = True
        self.ways.show_snapshot(snapshot)
        self.overlay.show_snapshot(snapshot)
        for widget in self._pause:
            widget.setVisible(snapshot.ways.way is not Way.HOLD)
        # A slider that is being dragged is ahead of what comes back.
        if not self.wait.isSliderDown():
            self.wait.setValue(snapshot.options.wait_ms // _WAIT_STEP_MS)
        self.wait_label.setText(f"&Pause that ends what you say: {snapshot.options.wait_ms / 1000:.2f} s")
        self.wait.setAccessibleDescription(f"{snapshot.options.wait_ms / 1000:.2f} seconds")
        self.listens_at_start.setChecked(snapshot.options.listens_at_start)
        self.listens_at_start.setEnabled(snapshot.ways.way is not Way.TOGGLE)
        self.starts_with_session.setChecked(snapshot.starts_with_session)
        self.close_to_tray.setChecked(snapshot.close_to_tray)
        self._showing = False
