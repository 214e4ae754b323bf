"""The page *Commands*: everything that can be said, to be searched. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTreeWidget, QTreeWidgetItem

from sayso.app.snapshot import CommandHelp, Snapshot
from sayso.ui.controls import hint
from sayso.ui.settings_page import SettingsPage
from sayso.ui.theme import Theme


class CommandsPage(SettingsPage):
    """Everything that can be said, to be searched."""

    keywords = ("What can I say", "Help", "Grammar")

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._commands: tuple[CommandHelp, ...] = ()
        self._items: tuple[QTreeWidgetItem, ...] = ()
        self.search = QLineEdit()
        self.search.setAccessibleName("Search the commands")
        self.search.setPlaceholderText("Search the commands")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.list = QTreeWidget()
        self.list.setAccessibleName("Commands")
        self.list.setHeaderLabels(["Say", "What it does"])
        self.list.setRootIsDecorated(False)
        self.list.setTabKeyNavigation(False)
        self.list.setMinimumHeight(theme.spacing.times(40))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.count = hint()
        for widget in (self.search, self.list, self.count):
            self.column.addWidget(widget)

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
