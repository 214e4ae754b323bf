"""The pages of the settings window. Each shows its share of a snapshot, and asks for every change at once. Qt thread.

What a person does is told apart from what a snapshot shows: showing never asks for anything.
"""

from __future__ import annotations

import os

from PySide6.QtCore import Qt, QTimer, qVersion
from PySide6.QtGui import QColor, QGuiApplication, QHideEvent, QPainter, QPaintEvent, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QSlider,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sayso.app.diagnostics import report, version
from sayso.app.settings import LONGEST_WAIT_MS, SHORTEST_WAIT_MS, folder
from sayso.app.snapshot import CommandHelp, OptionsView, Snapshot
from sayso.ui import icon
from sayso.ui.intents import Intents
from sayso.ui.level_meter import LevelMeter
from sayso.ui.theme import Theme

_LOOK_EVERY_MS = 2000
_WAIT_STEP_MS = 50
_DEFAULT = "Follow the system's default"


def _hint(text: str) -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    label.setProperty("role", "muted")
    return label


class ChoiceBox(QComboBox):
    """A list to choose from; the style sheet takes the style's arrow away, so ours is drawn."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        side, gap = self._theme.spacing.times(4), self._theme.spacing.s
        arrow = icon.pixmap("choose", self._theme.colours.muted, side, self.devicePixelRatioF())
        painter = QPainter(self)
        painter.drawPixmap(self.width() - side - gap, (self.height() - side) // 2, arrow)
        painter.end()


class MicrophonePage(QWidget):
    """Which microphone, and whether it hears; looks for new ones while it is seen."""

    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__()
        self._intents = intents
        self._shown: tuple[str, object] | None = None
        self.choice = ChoiceBox(theme)
        self.choice.setAccessibleName("Microphone")
        self.choice.activated.connect(lambda index: intents.options.use_microphone(self.choice.itemData(index)))
        self.meter = LevelMeter(theme)
        label = QLabel("&Microphone")
        label.setBuddy(self.choice)
        self.detail = _hint("")
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.spacing.s)
        for widget in (label, self.choice, self.meter, self.detail):
            layout.addWidget(widget)
        layout.addStretch(1)
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_EVERY_MS)
        self._timer.timeout.connect(intents.options.look_for_microphones)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self.meter.show_microphone(snapshot.microphone)
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


class ListeningPage(QWidget):
    """When Sayso listens, and how long a pause ends what is said."""

    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._showing = False
        self.wait = QSlider(Qt.Orientation.Horizontal)
        self.wait.setAccessibleName("Pause that ends what you say")
        self.wait.setRange(SHORTEST_WAIT_MS // _WAIT_STEP_MS, LONGEST_WAIT_MS // _WAIT_STEP_MS)
        self.wait.setPageStep(4)
        self.wait_label = QLabel()
        self.wait_label.setBuddy(self.wait)
        self.listens_at_start = QCheckBox("&Listen as soon as Sayso runs")
        self.starts_with_session = QCheckBox("&Start with the session")
        self.close_to_tray = QCheckBox("&Keep running in the tray when the window is closed")
        self.wait.valueChanged.connect(lambda steps: self._ask(intents.options.set_wait_ms, steps * _WAIT_STEP_MS))
        self.listens_at_start.toggled.connect(lambda on: self._ask(intents.options.set_listens_at_start, on))
        self.starts_with_session.toggled.connect(lambda on: self._ask(intents.set_start_with_session, on))
        self.close_to_tray.toggled.connect(lambda on: self._ask(intents.set_close_to_tray, on))
        hint = _hint("Shorter acts sooner; longer lets you think in mid-sentence. Whole commands never wait so long.")
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.spacing.s)
        switches = (self.listens_at_start, self.starts_with_session, self.close_to_tray)
        for widget in (self.wait_label, self.wait, hint, *switches):
            layout.addWidget(widget)
        layout.addStretch(1)
        theme.changed.connect(self._paint)
        self._paint()

    def _paint(self) -> None:
        # The style draws outlines a shade darker than the window, which is not seen on a dark one.
        outlined = self.palette()
        outlined.setColor(QPalette.ColorRole.Window, QColor(self._theme.colours.muted))
        for widget in (self.wait, self.listens_at_start, self.starts_with_session, self.close_to_tray):
            widget.setPalette(outlined)

    def _ask(self, intent: object, value: int) -> None:
        if not self._showing:
            intent(value)  # type: ignore[operator]

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._showing = True
        # A slider that is being dragged is ahead of what comes back.
        if not self.wait.isSliderDown():
            self.wait.setValue(snapshot.options.wait_ms // _WAIT_STEP_MS)
        self.wait_label.setText(f"&Pause that ends what you say: {snapshot.options.wait_ms / 1000:.2f} s")
        self.wait.setAccessibleDescription(f"{snapshot.options.wait_ms / 1000:.2f} seconds")
        self.listens_at_start.setChecked(snapshot.options.listens_at_start)
        self.starts_with_session.setChecked(snapshot.starts_with_session)
        self.close_to_tray.setChecked(snapshot.close_to_tray)
        self._showing = False


class CommandsPage(QWidget):
    """Everything that can be said, to be searched."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._commands: tuple[CommandHelp, ...] = ()
        self._items: tuple[QTreeWidgetItem, ...] = ()
        self.search = QLineEdit()
        self.search.setAccessibleName("Search the commands")
        self.search.setPlaceholderText("Search")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.list = QTreeWidget()
        self.list.setAccessibleName("Commands")
        self.list.setHeaderLabels(["Say", "What it does"])
        self.list.setRootIsDecorated(False)
        self.list.setTabKeyNavigation(False)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.count = _hint("")
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.spacing.s)
        for widget in (self.search, self.list, self.count):
            layout.addWidget(widget)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.options.commands != self._commands:
            self._commands = snapshot.options.commands
            self.list.clear()
            self._items = tuple(QTreeWidgetItem([each.say, each.help]) for each in self._commands)
            for item in self._items:
                item.setToolTip(0, item.text(0))
                item.setToolTip(1, item.text(1))
            self.list.addTopLevelItems(self._items)
            self._filter(self.search.text())

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        shown = 0
        for command, item in zip(self._commands, self._items, strict=True):
            found = all(word in f"{command.say} {command.help}".casefold() for word in words)
            item.setHidden(not found)
            shown += found
        self.count.setText(f"{shown} of {len(self._commands)} commands" if words else f"{shown} commands")


class AboutPage(QWidget):
    """Which Sayso this is, where it keeps what, and what to send with a report of a fault."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._snapshot: Snapshot | None = None
        self.copy = QPushButton("&Copy diagnostics")
        self.copy.clicked.connect(self._copy)
        self.copied = _hint("What is copied tells of this system and of Sayso's state: no speech, no words, no keys.")
        place = QLabel(str(folder()))
        place.setWordWrap(True)
        place.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        place.setAccessibleName("Folder of the settings")
        form = QFormLayout()
        form.setHorizontalSpacing(theme.spacing.l)
        form.addRow("Sayso", QLabel(version()))
        form.addRow("Settings", place)
        kept = _hint("Sound is kept in memory until it is transcribed, and never written. Words go to no log.")
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.spacing.s)
        layout.addLayout(form)
        layout.addWidget(kept)
        layout.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self.copied)
        layout.addStretch(1)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def _copy(self) -> None:
        if self._snapshot is not None:
            windows = f"Qt {qVersion()} on {QGuiApplication.platformName()}"
            QGuiApplication.clipboard().setText(report(self._snapshot, os.environ, windows))
            self.copied.setText("Copied: this system and Sayso's state, without speech, words or keys.")
