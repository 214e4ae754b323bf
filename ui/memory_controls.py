"""The single controls behind the presets of the memory page: a labelled list of values for each. Qt thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QCheckBox, QFormLayout, QLabel, QVBoxLayout, QWidget

from sayso.app.memory_policy import Controls
from sayso.ui import memory_wording as wording
from sayso.ui.controls import ChoiceBox, hint, keep_outlined
from sayso.ui.theme import Theme

_SOON = (10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
_LATER = (30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 14400.0)


@dataclass(frozen=True, slots=True)
class Choices:
    """One control: its name in ``Controls``, its label, what can be chosen besides 0, and how that is said."""

    name: str
    label: str
    values: Sequence[float]
    say: Callable[[float], str]
    none: str = "Never"


def _percent(value: float) -> str:
    return f"Programs wait {value:g} % of the time"


def _megabytes(value: float) -> str:
    return wording.size(round(value) * 1_000_000)


ENGINE = (
    Choices("unload_after_s", "&Unload the model after", _LATER, wording.duration),
    Choices("end_after_s", "&End the engine after", _LATER, wording.duration),
    Choices("end_on_battery_after_s", "On &battery, end it after", _SOON, wording.duration),
    Choices("end_at_pressure", "End it when memory is &scarce", (5.0, 10.0, 20.0, 40.0), _percent),
)
SESSIONS = (
    Choices("park_after_s", "&Park in main memory after", _SOON, wording.duration),
    Choices("drop_after_s", "&Drop and recompute after", _SOON, wording.duration),
    Choices("hibernate_after_s", "&Hibernate to disk after", _SOON, wording.duration),
    Choices("device_mb", "At most on the de&vice", (64, 256, 1000, 4000, 16000), _megabytes, "No limit"),
    Choices("host_mb", "At most parked in &RAM", (64, 256, 1000, 4000, 16000), _megabytes, "No limit"),
)
DESKTOP = (Choices("close_after_s", "&Close the connection after", _SOON, wording.duration),)


class ControlBox(ChoiceBox):
    """The values of one control; a value that is none of them is added."""

    def __init__(self, choices: Choices, theme: Theme, changed: Callable[[str, float], None]) -> None:
        super().__init__(theme)
        self._choices = choices
        self.setAccessibleName(choices.label.replace("&", ""))
        for value in (0.0, *choices.values):
            self.addItem(choices.say(value) if value else choices.none, float(value))
        self.activated.connect(lambda index: changed(choices.name, self.itemData(index)))

    def show_value(self, value: float) -> None:
        # An open list would jump under the pointer.
        if self.view().isVisible() or self.currentData() == value:
            return
        index = self.findData(float(value))
        if index < 0:
            index = next((n for n in range(1, self.count()) if self.itemData(n) > value), self.count())
            self.insertItem(index, self._choices.say(value), float(value))
        self.setCurrentIndex(index)


class ControlGroup(QWidget):
    """Controls under a heading, with a line about whose they are."""

    def __init__(
        self, title: str, rows: Sequence[Choices], theme: Theme, changed: Callable[[str, float], None]
    ) -> None:
        super().__init__()
        self.boxes = {row.name: ControlBox(row, theme, changed) for row in rows}
        self.note = hint()
        self.note.hide()
        heading = QLabel(title)
        heading.setProperty("role", "heading")
        form = QFormLayout()
        form.setHorizontalSpacing(theme.spacing.l)
        form.setVerticalSpacing(theme.spacing.s)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for row in rows:
            label = QLabel(row.label)
            label.setBuddy(self.boxes[row.name])
            label.setMinimumWidth(theme.spacing.times(44))
            form.addRow(label, self.boxes[row.name])
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(theme.spacing.s)
        self.column.addWidget(heading)
        self.column.addWidget(self.note)
        self.column.addLayout(form)

    def show_controls(self, controls: Controls, *, note: str = "", usable: bool = True) -> None:
        """``note`` says whose the controls are where they cannot be used here."""
        self.note.setText(note)
        self.note.setVisible(bool(note))
        for name, box in self.boxes.items():
            box.show_value(getattr(controls, name))
            box.setEnabled(usable)


class DesktopGroup(ControlGroup):
    """What the desktop itself does, with any server; ending the local server is one of it."""

    def __init__(self, theme: Theme, changed: Callable[[str, float], None]) -> None:
        super().__init__("This desktop", DESKTOP, theme, changed)
        self._showing = False
        self.end_server = QCheckBox("End the &local server with it")
        self.end_server.toggled.connect(lambda on: None if self._showing else changed("end_server", on))
        self.column.addWidget(self.end_server)
        self.column.addWidget(
            hint("Speech brings back what was closed or ended; what is said until then is kept and sent.")
        )
        keep_outlined(theme, self.end_server)

    def show_own(self, controls: Controls, *, local: bool) -> None:
        self.show_controls(controls)
        self._showing = True
        self.end_server.setChecked(controls.end_server)
        self._showing = False
        self.end_server.setEnabled(bool(controls.close_after_s))
        self.end_server.setVisible(local)
