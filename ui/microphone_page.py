"""The page *Microphone*: which one is used, whether it hears, and how it sounds. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QLabel

from sayso.app.microphone_check_view import CheckState
from sayso.app.snapshot import MicrophoneState, MicrophoneView, OptionsView, Snapshot
from sayso.ui.controls import ChoiceBox, hint, plain_label
from sayso.ui.intents import Intents
from sayso.ui.level_meter import LevelMeter
from sayso.ui.settings_page import SettingsPage
from sayso.ui.sound_check_part import SoundCheckPart
from sayso.ui.theme import Theme

_LOOK_EVERY_MS = 2000
_LOUD_SHOWN_MS = 3000
_DEFAULT = "Follow the system's default"


class MicrophonePage(SettingsPage):
    """Which microphone, and whether it hears; looks for new ones while it is seen."""

    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__(theme)
        self._intents = intents
        self._shown: tuple[str, object] | None = None
        self.choice = ChoiceBox(theme)
        self.choice.setAccessibleName("Microphone")
        self.choice.activated.connect(lambda index: intents.options.use_microphone(self.choice.itemData(index)))
        self.meter = LevelMeter(theme)
        label = QLabel("&Microphone")
        label.setBuddy(self.choice)
        self.detail = hint()
        self.loud = plain_label("Too loud: turn the microphone's volume down in the system's sound settings.")
        self.loud.setProperty("tone", "bad")
        self.loud.hide()
        self.check = SoundCheckPart(intents.check, theme)
        for widget in (label, self.choice, self.meter, self.detail, self.loud, self.check):
            self.column.addWidget(widget)
        self.column.addStretch(1)
        self._quietened = QTimer(self)
        self._quietened.setSingleShot(True)
        self._quietened.setInterval(_LOUD_SHOWN_MS)
        self._quietened.timeout.connect(self.loud.hide)
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_EVERY_MS)
        self._timer.timeout.connect(intents.options.look_for_microphones)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        microphone, check = snapshot.microphone, snapshot.check
        if check.state is CheckState.RECORDING:
            microphone = MicrophoneView(
                MicrophoneState.HEARING, microphone.name, level_db=check.level_db, clipping=check.clipping
            )
        self.meter.show_microphone(microphone)
        if microphone.clipping:
            # One peak is over before anybody has read of it.
            self.loud.show()
            self._quietened.start()
        self.check.show_check(check)
        used = f"In use: {snapshot.microphone.name}." if snapshot.microphone.name else ""
        self.detail.setText(snapshot.microphone.detail or used)
        options = snapshot.options
        shown = (options.microphone, options.microphones)
        # An open list would jump under the pointer.
        if shown != self._shown and not self.choice.view().isVisible():
            self._shown = shown
            self._fill(options)

    def _fill(self, options: OptionsView) -> None:
        entries = [(_DEFAULT, ""), *((each.label, each.name) for each in options.microphones)]
        wanted = options.microphone
        current = next((index for index, entry in enumerate(entries) if wanted in entry), None)
        if current is None:
            current = len(entries)
            entries.append((f"{wanted} (not connected)", wanted))
        self.choice.clear()
        for label, name in entries:
            self.choice.addItem(label, name)
        self.choice.setCurrentIndex(current)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._intents.options.look_for_microphones()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
