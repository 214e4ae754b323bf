"""The page *Engine*: what runs now, which models there are and how fast, and what the engine runs on. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFormLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSpinBox,
    QTreeWidget,
    QTreeWidgetItem,
)

from sayso.app.engine_view import AUTOMATIC, EngineView, ModelRow, Work
from sayso.app.snapshot import Snapshot
from sayso.ui import model_wording as wording
from sayso.ui.controls import ChoiceBox, hint, keep_outlined, plain_label, plain_tip
from sayso.ui.drafts import Draft
from sayso.ui.flow_row import FlowRow
from sayso.ui.folder_field import FolderField
from sayso.ui.intents import Intents
from sayso.ui.settings_page import SettingsPage
from sayso.ui.text import breakable, together
from sayso.ui.theme import Theme
from sayso.ui.work_row import WorkRow

_COLUMNS = ("Model", "Languages", "Size", "Speed here", "State")
_REMOTE = (
    "A remote server transcribes, and its keeper chooses its model. What you choose here counts when the engine on "
    "this computer is used again."
)
_SPEED = "Speed: seconds of computing for each second of speech, measured on this computer."


class EnginePage(SettingsPage):
    """Looks at the engine while it is seen, and asks for every change at once."""

    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__(theme)
        self._intents = intents.engine
        self._view = EngineView()
        self._showing = False
        self._listed: list[list[str]] | None = None
        self._names: list[str] = []
        """Of the models in the list, in its order."""
        self.running = plain_label()
        self.running.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.remote = hint(_REMOTE)
        self.model = ChoiceBox(theme)
        self.model.setAccessibleName("Model in use")
        self.device = ChoiceBox(theme)
        self.device.setAccessibleName("Device")
        self.threads = QSpinBox()
        self.threads.setAccessibleName("Threads")
        self.threads.setSpecialValueText("Automatic")
        self.folder = FolderField(theme)
        self.list = QTreeWidget()
        self.work = WorkRow(self._intents.stop_work, theme)
        self.fault = plain_label()
        self.fault.setProperty("tone", "bad")
        self.about = hint()
        self.fetch = QPushButton("&Download")
        self.measure = QPushButton("&Measure speed")
        self.remove = QPushButton("&Remove")
        keep_outlined(theme, self.threads)
        self.threads.setMinimumHeight(self.device.sizeHint().height())
        self._lay_out(theme)
        self._connect()

    def _lay_out(self, theme: Theme) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(theme.spacing.l)
        for text, control in (("M&odel", self.model), ("De&vice", self.device), ("&Threads", self.threads)):
            form.addRow(text, control)
        folder = QLabel("Your own &folder")
        folder.setBuddy(self.folder.path)
        form.addRow(folder, self.folder)
        self.list.setAccessibleName("Models")
        self.list.setHeaderLabels(list(_COLUMNS))
        self.list.setRootIsDecorated(False)
        self.list.setTabKeyNavigation(False)
        self.list.setMinimumHeight(theme.spacing.times(48))
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.list.header()
        header.setMinimumSectionSize(theme.spacing.times(16))
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        # A long name is cut and leaves room for what is told of the model.
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.column.addWidget(self.running)
        self.column.addWidget(self.remote)
        self.column.addLayout(form)
        for widget in (self.work, self.fault, self.list, self.about):
            self.column.addWidget(widget)
        self.column.addLayout(FlowRow(theme.spacing.s, self.fetch, self.measure, self.remove))
        self.column.addWidget(hint(_SPEED))
        self.column.addStretch(1)

    def _connect(self) -> None:
        self.model.activated.connect(lambda index: self._intents.use_model(self.model.itemData(index)))
        self.device.activated.connect(lambda index: self._intents.use_device(self.device.itemData(index)))
        self.threads.setKeyboardTracking(False)
        self.threads.valueChanged.connect(self._use_threads)
        self.folder.wanted.connect(self._intents.add_folder)
        self.list.currentItemChanged.connect(lambda *_: self._show_selected())
        self.fetch.clicked.connect(lambda: self._of_selected(self._intents.fetch))
        self.measure.clicked.connect(lambda: self._of_selected(self._intents.measure))
        self.remove.clicked.connect(lambda: self._of_selected(self._intents.remove))

    def _use_threads(self, count: int) -> None:
        if not self._showing:
            self._intents.use_threads(count)

    def _of_selected(self, intent: object) -> None:
        row = self.selected
        if row is not None:
            intent(row.name)  # type: ignore[operator]

    @property
    def selected(self) -> ModelRow | None:
        """The model that the buttons are about."""
        return next((row for row in self._view.models if row.name == self.selected_name), None)

    @property
    def selected_name(self) -> str:
        item = self.list.currentItem()
        index = self.list.indexOfTopLevelItem(item) if item is not None else -1
        return self._names[index] if 0 <= index < len(self._names) else ""

    def show_snapshot(self, snapshot: Snapshot) -> None:
        view, before = snapshot.engine, self._view
        if view == before and self._listed is not None:
            return
        self._view = view
        self._showing = True
        added = before.work is Work.CHECKING and view.work is not Work.CHECKING and not view.fault
        if added:
            self.folder.path.clear()
        self.running.setText(together(wording.running(view)))
        self.remote.setVisible(bool(view.remote))
        self.work.show_work(view)
        self.fault.setText(breakable(view.fault))
        self.fault.setVisible(bool(view.fault))
        self._show_choices(view)
        self._show_models(view, before.about if added else "")
        self._show_selected()
        self._showing = False

    def _show_choices(self, view: EngineView) -> None:
        installed = [row for row in view.models if row.installed]
        automatic = next((row.name for row in installed if row.is_automatic), "")
        entries = [(f"Automatic ({automatic} here)" if automatic else "Automatic", AUTOMATIC)]
        entries += [(f"{row.shown}, {wording.languages(row)}", row.name) for row in installed]
        # What is being loaded is shown as chosen already; it goes back when it cannot be.
        loading = view.work is Work.LOADING
        _fill(self.model, entries, view.about if loading else view.model)
        devices = [AUTOMATIC, *(view.devices or ("cpu",))]
        _fill(self.device, [(wording.device(each), each) for each in devices], view.device)
        most = max(view.most_threads, view.threads)
        if self.threads.maximum() != most:
            # Only then, since it writes the number anew.
            self.threads.setMaximum(most)
        # What is being typed, or was just asked for, is ahead of what comes back.
        if not self.threads.lineEdit().isModified() and not (loading and self.threads.hasFocus()):
            self.threads.setValue(view.threads)

    def _show_models(self, view: EngineView, added: str) -> None:
        """Show the rows, and choose the one that was just ``added``; else the one of before, or the first."""
        rows, names = [_texts(row, view) for row in view.models], [row.name for row in view.models]
        if names != self._names:
            chosen = self.selected_name
            self._names = names
            self.list.clear()
            self.list.addTopLevelItems([QTreeWidgetItem(texts) for texts in rows])
            self._choose(next((each for each in (added, chosen) if each in names), names[0] if names else ""))
        elif added:
            self._choose(added)
        if rows == self._listed:
            return
        for number, texts in enumerate(rows):
            item = self.list.topLevelItem(number)
            if item is None:
                continue
            for column, text in enumerate(texts):
                if item.text(column) != text:
                    item.setText(column, text)
            item.setToolTip(0, plain_tip(names[number]))
        self._listed = rows

    def _choose(self, name: str) -> None:
        item = self.list.topLevelItem(self._names.index(name)) if name in self._names else None
        if item is not None:
            self.list.setCurrentItem(item)

    def _show_selected(self) -> None:
        row, view = self.selected, self._view
        busy = view.work is not Work.NONE
        in_use = row is not None and (view.running == row.name or (row.own and view.model == row.name))
        own = row is not None and row.own
        self.fetch.setText("&Resume download" if row and row.fetched_bytes and not row.installed else "&Download")
        self.fetch.setEnabled(row is not None and not row.installed and not own and not busy)
        self.measure.setEnabled(row is not None and row.installed and not busy)
        self.remove.setText("&Remove from the list" if own else "&Remove")
        self.remove.setEnabled(row is not None and bool(row.fetched_bytes or own) and not busy and not in_use)
        self.about.setText(breakable(wording.about(row)) if row is not None else "")
        from_list = " from the list" if own else ""
        for button, what, where in (
            (self.fetch, self.fetch.text(), ""),
            (self.measure, "Measure", ""),
            (self.remove, "Remove", from_list),
        ):
            button.setAccessibleName(f"{what.replace('&', '')} {row.shown}{where}" if row is not None else "")

    def finish(self) -> None:
        # A number that is typed counts when its field is left, which the end of the page is too.
        self.threads.interpretText()

    def draft(self) -> Draft | None:
        typed = self.folder.path.text().strip()
        return Draft("a folder with a model of your own", typed) if typed else None

    def take_up(self, draft: Draft) -> None:
        self.folder.path.setText(str(draft.typed))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._intents.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._intents.watch(False)


def _texts(row: ModelRow, view: EngineView) -> list[str]:
    size = wording.size(row.download_bytes) if row.download_bytes else ""
    return [row.shown, wording.languages(row), size, wording.speed(row), wording.presence(row, view)]


def _fill(box: ChoiceBox, entries: list[tuple[str, str]], chosen: str) -> None:
    """Offer these and show what is chosen, which is offered in any case; an open list is left alone."""
    if chosen not in [name for _, name in entries]:
        entries = [*entries, (f"{chosen} (not here)", chosen)]
    if box.view().isVisible():
        return
    if entries != [(box.itemText(index), box.itemData(index)) for index in range(box.count())]:
        box.clear()
        for text, name in entries:
            box.addItem(text, name)
    box.setCurrentIndex([name for _, name in entries].index(chosen))
