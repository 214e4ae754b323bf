"""The page *Sessions and memory*: what Sayso holds, when it gives that back, and whose sessions are open. Qt thread.

Figures are asked for only while the page is seen. Every choice is in force at once.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from sayso.app.memory_view import Freeing, MemoryView, Sample, Source
from sayso.app.snapshot import Snapshot
from sayso.ui import memory_wording as wording
from sayso.ui.controls import hint
from sayso.ui.intents import Intents
from sayso.ui.memory_choice import PresetChoice
from sayso.ui.memory_controls import ENGINE, SESSIONS, ControlGroup, DesktopGroup
from sayso.ui.memory_graph import MemoryGraph, layer_colours
from sayso.ui.session_actions import SessionActions
from sayso.ui.session_table import SessionTable
from sayso.ui.settings_page import SettingsPage
from sayso.ui.text import breakable
from sayso.ui.theme import Theme, restyle


class Legend(QLabel):
    """The processes with their colours in the graph and what they hold now."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._samples: tuple[Sample, ...] = ()
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)
        theme.changed.connect(self._write)

    def show_samples(self, samples: tuple[Sample, ...]) -> None:
        self._samples = samples
        self._write()

    def _write(self) -> None:
        parts = wording.parts(self._samples[-1]) if self._samples else []
        colours = (*layer_colours(self._theme.colours), self._theme.colours.text)
        marks = ("■", "■", "■", "┅")
        # Each name stays beside its mark and its figure.
        told = [
            f'<span style="color:{colour}">{mark}</span>&nbsp;' + f"{name} {wording.size(held)}".replace(" ", "&nbsp;")
            for (name, held), colour, mark in zip(parts, colours, marks, strict=False)
            if held is not None
        ]
        self.setText(" &nbsp; ".join(told))
        self.setVisible(bool(told))


class MemoryPage(SettingsPage):
    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__(theme)
        self._intents = intents
        self._theme = theme
        self._view: MemoryView | None = None
        self.presets = PresetChoice(theme, intents.memory.use_preset)
        self.graph = MemoryGraph(theme)
        self.legend = Legend(theme)
        self.source = hint()
        self.free = QPushButton("&Free memory now")
        self.free.clicked.connect(intents.memory.free_now)
        self.freed = hint()
        self.sessions = SessionTable(theme)
        self.session_actions = SessionActions(self.sessions, intents.memory, theme)
        self.engine = ControlGroup("Engine", ENGINE, theme, intents.memory.set_control)
        self.waiting = ControlGroup("Sessions that wait", SESSIONS, theme, intents.memory.set_control)
        self.own = DesktopGroup(theme, intents.memory.set_control)
        self._lay_out()

    def _lay_out(self) -> None:
        freeing = QHBoxLayout()
        freeing.setSpacing(self._theme.spacing.s)
        freeing.addWidget(self.free, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        freeing.addWidget(self.freed, 1)
        self.sessions_heading = _heading("Sessions")
        self._add(self.presets)
        self._add(_heading("Memory now"), self.graph, self.legend, self.source)
        self.column.addLayout(freeing)
        self._add(self.sessions_heading, self.sessions, self.session_actions)
        self._add(self.engine, self.waiting, self.own)
        self.column.addStretch(1)

    def _add(self, *widgets: QWidget) -> None:
        for widget in widgets:
            self.column.addWidget(widget)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._intents.memory.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._intents.memory.watch(False)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        view = snapshot.memory
        if view == self._view:
            return
        self._view = view
        self._show_choice(view)
        self.graph.show_samples(view.samples)
        self.legend.show_samples(view.samples)
        _say(self.source, " ".join(filter(None, (wording.source_words(view), wording.engine_words(view)))))
        self.free.setEnabled(view.freeing is not Freeing.WAITING)
        self.free.setText("Close the connection no&w" if view.source is Source.PLAIN else "&Free memory now")
        _say(self.freed, view.fault or wording.freed_words(view))
        restyle(self.freed, "tone", "bad" if view.fault else "muted")
        self._show_sessions(view)

    def _show_choice(self, view: MemoryView) -> None:
        local = not view.server
        self.presets.setVisible(local)
        self.presets.show_view(view)
        theirs = view.controls if local else view.theirs
        for group, words in ((self.engine, wording.engine_note(view)), (self.waiting, "")):
            group.setVisible(theirs is not None)
            if theirs is not None:
                group.show_controls(theirs, note=words, usable=local)
        self.own.show_own(view.controls, local=local)

    def _show_sessions(self, view: MemoryView) -> None:
        reported = view.source in (Source.LOCAL, Source.REMOTE, Source.ENDED)
        self.sessions_heading.setVisible(reported)
        self.sessions.setVisible(reported and bool(view.sessions))
        self.sessions.show_rows(view.sessions)
        self.session_actions.show_view(view)


def _say(label: QLabel, text: str) -> None:
    """Show these words; where there are none the label takes no room."""
    label.setText(breakable(text))
    label.setVisible(bool(text))


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "heading")
    return label
