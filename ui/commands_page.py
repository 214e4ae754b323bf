"""The page *Commands*: everything that can be said, what of it is understood, and the user's own. Qt thread."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSignalBlocker, Qt
from PySide6.QtGui import QColor, QKeySequence, QPalette, QShortcut
from PySide6.QtWidgets import (
    QHeaderView,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
)

from sayso.app.commands.own import FAMILY, OwnCommand
from sayso.app.commands_view import CommandRow, CommandsView
from sayso.app.snapshot import Snapshot
from sayso.ui.controls import hint, plain_tip
from sayso.ui.drafts import Draft
from sayso.ui.flow_row import FlowRow
from sayso.ui.intents import Intents
from sayso.ui.own_command_dialog import OwnCommandDialog
from sayso.ui.settings_page import SettingsPage
from sayso.ui.theme import Theme
from sayso.ui.unsaved_commands import Unsaved, UnsavedCommands

_FAMILIES = {
    FAMILY: "Your own",
    "web": "Web",
    "keys": "Keys",
    "edit": "Undo",
    "placing": "Placing windows",
    "shortcuts": "Tabs, pages and editing",
    "information": "Time, date and battery",
    "power": "Lock, suspend and shut down",
    "timers": "Timers and reminders",
    "mode": "Modes",
}
_ROW = Qt.ItemDataRole.UserRole


class _Outlined(QStyledItemDelegate):
    """Check marks whose boxes are seen on a dark list too: the style draws them a shade darker than the window."""

    def __init__(self, theme: Theme, parent: QTreeWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        palette = QPalette(option.palette)
        palette.setColor(QPalette.ColorRole.Window, QColor(self._theme.colours.muted))
        option.palette = palette


class CommandsPage(SettingsPage):
    """A list by families with a check mark for each command; own ones are added, changed and removed."""

    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__(theme)
        self._commands = intents.commands
        self._theme = theme
        self._view = CommandsView()
        self._items: dict[str, QTreeWidgetItem] = {}
        self._families: dict[str, QTreeWidgetItem] = {}
        self.search = QLineEdit()
        self.search.setAccessibleName("Search the commands")
        self.search.setPlaceholderText("Search the commands")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.list = self._tree()
        self.count = hint()
        self.unsaved = UnsavedCommands(theme)
        self.unsaved.resumed.connect(self._resume)
        self._dialog: tuple[OwnCommandDialog, OwnCommand | None] | None = None
        self.add = QPushButton("A&dd your own…")
        self.change = QPushButton("&Change…")
        self.remove = QPushButton("&Remove")
        self.add.clicked.connect(self._wish_add)
        self.change.clicked.connect(self._wish_change)
        self.remove.clicked.connect(self._wish_remove)
        delete = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.list)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self._wish_remove)
        buttons = (self.add, self.change, self.remove)
        for button in buttons:
            button.setAutoDefault(False)
        self.column.addWidget(self.search)
        self.column.addWidget(self.list, 1)
        self.column.addWidget(self.count)
        self.column.addWidget(self.unsaved)
        self.column.addLayout(FlowRow(theme.spacing.s, *buttons))
        self._offer()

    def _tree(self) -> QTreeWidget:
        tree = QTreeWidget()
        tree.setAccessibleName("Commands")
        tree.setHeaderLabels(["Say", "What it does"])
        tree.setTabKeyNavigation(False)
        tree.setUniformRowHeights(True)
        tree.setMinimumHeight(self._theme.spacing.times(40))
        tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        tree.header().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        tree.setItemDelegate(_Outlined(self._theme, tree))
        tree.itemChanged.connect(self._switched)
        tree.currentItemChanged.connect(lambda: self._offer())
        tree.itemActivated.connect(lambda item: self._wish_change())
        return tree

    def show_snapshot(self, snapshot: Snapshot) -> None:
        view = snapshot.commands
        if view is self._view or view == self._view:
            return
        before, self._view = self._view, view
        with QSignalBlocker(self.list):
            if _names(before) != _names(view):
                self._fill()
            for row in view.rows:
                self._mark(row)
            for family in self._families.values():
                _mark_family(family)
        self._filter(self.search.text())
        self._offer()

    def _fill(self) -> None:
        """Makes the list anew; what was open and where the keyboard was stays."""
        closed = {name for name, item in self._families.items() if not item.isExpanded()}
        current = self.current
        self.list.clear()
        self._items.clear()
        self._families.clear()
        for row in self._view.rows:
            family = self._families.get(row.family)
            if family is None:
                family = self._families[row.family] = QTreeWidgetItem(self.list, [_family(row.family)])
                family.setFirstColumnSpanned(True)
                family.setExpanded(row.family not in closed)
            item = self._items[row.intent] = QTreeWidgetItem(family, [row.say, row.help])
            item.setData(0, _ROW, row)
            for column, text in enumerate((row.say, row.help)):
                item.setToolTip(column, plain_tip(text))
        if current is not None and current.intent in self._items:
            self.list.setCurrentItem(self._items[current.intent])

    def _mark(self, row: CommandRow) -> None:
        item = self._items[row.intent]
        item.setData(0, _ROW, row)
        if row.own is None:
            item.setCheckState(0, Qt.CheckState.Checked if row.on else Qt.CheckState.Unchecked)
        if row.always_on:
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
            item.setToolTip(0, "This one is always understood: it wakes Sayso by voice.")

    @property
    def current(self) -> CommandRow | None:
        """The command where the keyboard is; None on a family."""
        item = self.list.currentItem()
        row = item.data(0, _ROW) if item is not None else None
        return row if isinstance(row, CommandRow) else None

    def _switched(self, item: QTreeWidgetItem) -> None:
        on = item.checkState(0) is not Qt.CheckState.Unchecked
        row = item.data(0, _ROW)
        if isinstance(row, CommandRow):
            if row.on is not on:
                self._commands.switch([row.intent], on)
        else:
            inside = [child.data(0, _ROW) for child in _children(item)]
            self._commands.switch([each.intent for each in inside if each.own is None], on)

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        shown = 0
        for row in self._view.rows:
            told = f"{row.say} {row.help} {_family(row.family)}".casefold()
            found = all(word in told for word in words)
            self._items[row.intent].setHidden(not found)
            shown += found
        for family in self._families.values():
            family.setHidden(all(child.isHidden() for child in _children(family)))
            if words:
                family.setExpanded(True)
        total, off = len(self._view.rows), sum(not row.on for row in self._view.rows)
        count = f"{shown} of {total} commands" if words else f"{total} commands"
        self.count.setText(f"{count}, {off} switched off" if off else count)

    def _offer(self) -> None:
        own = self.current is not None and self.current.own is not None
        self.change.setEnabled(own)
        self.remove.setEnabled(own)

    def _wish_add(self) -> None:
        self._write(None)

    def _wish_change(self) -> None:
        row = self.current
        if row is not None and row.own is not None:
            self._write(row)

    def _resume(self, unsaved: Unsaved) -> None:
        """Go on with what was written; a command that is gone meanwhile becomes a new one."""
        row = next((row for row in self._view.rows if row.own is not None and row.own == unsaved.replaces), None)
        if row is None and unsaved.replaces is not None:
            self.unsaved.take(unsaved.replaces)
            self.unsaved.add(Unsaved(None, unsaved.written))
        self._write(row)

    def _write(self, row: CommandRow | None) -> None:
        """Open the dialog for this command or a new one, with what an earlier one was left with."""
        own = row.own if row is not None else None
        check, save = self._commands.check, self._commands.add
        if row is not None:
            check = partial(self._commands.check, replacing=row.intent)
            save = partial(self._commands.change, row.intent)
        dialog = OwnCommandDialog(self._theme, self, check, save, own, self.unsaved.take(own))
        dialog.left.connect(lambda written: self.unsaved.add(Unsaved(own, written)))
        dialog.finished.connect(self._written)
        self._dialog = dialog, own
        dialog.open()

    def _written(self) -> None:
        self._dialog = None

    def draft(self) -> Draft | None:
        items = self.unsaved.items
        if self._dialog is not None:
            dialog, own = self._dialog
            items = (*items, *([Unsaved(own, dialog.unsaved)] if dialog.unsaved is not None else []))
        told = "" if not items else items[-1].name if len(items) == 1 else f"{len(items)} commands of yours"
        return Draft(told, (items, self.search.text())) if items or self.search.text() else None

    def take_up(self, draft: Draft) -> None:
        match draft.typed:
            case (tuple(items), str(searched)):
                self.unsaved.add(*items)
                self.search.setText(searched)

    def _wish_remove(self) -> None:
        row = self.current
        if row is None or row.own is None:
            return
        box = QMessageBox(QMessageBox.Icon.Question, "Remove", f"Remove your command “{row.say}”?", parent=self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        yes = box.addButton("Remove", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole))
        yes.clicked.connect(lambda: self._remove(row.intent, row.own))
        # open() returns at once; exec() would stop every task of the event loop until the box closes.
        box.open()

    def _remove(self, intent: str, own: OwnCommand | None) -> None:
        # Another one may have taken its number while the question was open.
        if any(row.intent == intent and row.own == own for row in self._view.rows):
            self._commands.remove(intent)


def _names(view: CommandsView) -> tuple[tuple[str, str, str], ...]:
    return tuple((row.intent, row.say, row.help) for row in view.rows)


def _children(family: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    found = [family.child(number) for number in range(family.childCount())]
    return [child for child in found if child is not None]


def _family(name: str) -> str:
    return _FAMILIES.get(name, name.capitalize())


def _mark_family(family: QTreeWidgetItem) -> None:
    """All, some or none of its commands are understood; the user's own have no such mark."""
    marked = [child for child in _children(family) if child.data(0, Qt.ItemDataRole.CheckStateRole) is not None]
    states = [child.checkState(0) for child in marked]
    if not states:
        return
    same = all(state == states[0] for state in states)
    family.setCheckState(0, states[0] if same else Qt.CheckState.PartiallyChecked)
