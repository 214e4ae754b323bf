"""The guide's step about models: the small quick one or the larger one, by how fast they are here. Qt thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QRadioButton

from sayso.app.engine_speed import advise, seconds
from sayso.app.engine_view import AUTOMATIC, EngineView, ModelRow, Work
from sayso.app.first_run import TINY, larger
from sayso.app.snapshot import Snapshot
from sayso.ui import model_wording as wording
from sayso.ui.controls import hint, keep_outlined, plain_label
from sayso.ui.intents import Intents
from sayso.ui.settings_page import SettingsPage
from sayso.ui.theme import Theme
from sayso.ui.work_row import WorkRow

_ABOUT = "A model turns your speech into words. The larger one mishears less and takes about twice the work."


class FirstModel(SettingsPage):
    """Measures what is installed as soon as it is seen, and advises by that."""

    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__(theme)
        self._intents = intents.engine
        self._view = EngineView()
        self._showing = False
        self._larger: ModelRow | None = None
        self._chosen = ""
        """The model that runs or is on its way."""
        self.tiny = QRadioButton("&Whisper tiny")
        self.base = QRadioButton("W&hisper base")
        self.tiny_about = hint()
        self.base_about = hint()
        self.work = WorkRow(self._intents.stop_work, theme)
        self.fault = plain_label()
        self.fault.setProperty("tone", "bad")
        group = QButtonGroup(self)
        for button in (self.tiny, self.base):
            group.addButton(button)
        keep_outlined(theme, self.tiny, self.base)
        for widget in (hint(_ABOUT), self.tiny, self.tiny_about, self.base, self.base_about, self.work, self.fault):
            self.column.addWidget(widget)
        self.column.addStretch(1)
        # Not “clicked”: a screen reader toggles without a click.
        self.tiny.toggled.connect(lambda on: self._toggled(on, self._use_tiny))
        self.base.toggled.connect(lambda on: self._toggled(on, self._use_larger))

    def _toggled(self, on: bool, use: Callable[[], None]) -> None:
        if on and not self._showing:
            use()

    def _use_tiny(self) -> None:
        if self._chosen != TINY:
            self._intents.use_model(TINY)

    def _use_larger(self) -> None:
        if self._larger is None or self._larger.name == self._chosen:
            return
        if self._larger.installed:
            self._intents.use_model(self._larger.name)
        else:
            self._intents.obtain(self._larger.name)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        view = snapshot.engine
        listed = bool(view.models) and not self._view.models
        if view == self._view:
            return
        self._view = view
        self._larger = larger(view.models)
        if self.isVisible() and listed:
            self._measure()
        self._show()

    def _show(self) -> None:
        view, base = self._view, self._larger
        rows = {row.name: row for row in view.models}
        tiny = rows.get(TINY)
        automatic = next((row.name for row in view.models if row.is_automatic), "")
        chosen = automatic if view.model == AUTOMATIC else view.model
        if view.work in (Work.LOADING, Work.FETCHING):
            chosen = view.about
        self._chosen = chosen
        self._showing = True
        self.tiny.setChecked(chosen == TINY)
        self.base.setChecked(base is not None and chosen == base.name)
        self._showing = False
        self.tiny.setEnabled(tiny is not None and tiny.installed)
        self.base.setEnabled(base is not None)
        self.tiny_about.setText(self._about_tiny(tiny) if tiny is not None else "")
        self.base_about.setText(self._about_base(tiny, base) if base is not None else "")
        for button, about in ((self.tiny, self.tiny_about), (self.base, self.base_about)):
            button.setAccessibleDescription(about.text())
        self.work.show_work(view)
        self.fault.setText(view.fault)
        self.fault.setVisible(bool(view.fault))

    def _about_tiny(self, tiny: ModelRow) -> str:
        took = f" On this computer it takes {seconds(tiny.factor)} for each second of speech." if tiny.factor else ""
        return f"{_facts(tiny, 'Small and quick.')}{took}"

    def _about_base(self, tiny: ModelRow | None, base: ModelRow) -> str:
        advice = advise(tiny.factor if tiny is not None else None, base.factor)
        recommended = "Recommended here. " if advice.base else ""
        return f"{recommended}{_facts(base, '')} {advice.reason}"

    def _measure(self) -> None:
        names = [TINY, *([self._larger.name] if self._larger is not None else [])]
        self._intents.measure_all(names)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._intents.watch(True)
        if self._view.models:
            self._measure()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._intents.watch(False)


def _facts(row: ModelRow, first: str) -> str:
    there = "It is installed." if row.installed else f"Choosing it downloads {wording.size(row.download_bytes)}."
    return f"{first} {wording.languages(row)}. {there}".strip()
