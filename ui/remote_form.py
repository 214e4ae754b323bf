"""Where a remote server is, with which key and which model, and the buttons that try and use it. Qt thread.

Half-typed addresses are never called: trying and using take a press. How an address will be read is shown while it is
typed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from sayso.app.remote_server_view import KeyPlace, RemoteServerView
from sayso.ui.controls import ChoiceBox, hint
from sayso.ui.flow_row import FlowRow
from sayso.ui.server_address import Address, AddressProblem, parse
from sayso.ui.text import breakable, listed
from sayso.ui.theme import Theme, restyle

_OWN_MODEL = "The server's own"
_ANY_MODEL = "auto"
_KEPT = {
    KeyPlace.KEYRING: "A key for this server is kept in the system's keyring.",
    KeyPlace.FILE: "A key for this server is kept in a file that only you can read.",
}


@dataclass(frozen=True, slots=True)
class RemoteDraft:
    """What the fields hold that is not in use."""

    address: str
    key: str = dataclasses.field(repr=False)
    model: str


class RemoteForm(QWidget):
    """Emits checked addresses: ``try_pressed`` and ``use_pressed`` with key and model, ``looked_for`` for its key."""

    try_pressed = Signal(str, str, str)
    stop_pressed = Signal()
    use_pressed = Signal(str, str, str)
    looked_for = Signal(str)
    remove_pressed = Signal(str)
    address_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._view = RemoteServerView()
        self._trying = False
        self._models: tuple[str, ...] | None = None
        self._saved = ("", "")
        """Address and model as the settings have them."""
        self.address = QLineEdit()
        self.address.setPlaceholderText("192.168.1.20:8000 or https://host/v1")
        self.address.setAccessibleName("Address of the server")
        self.address.setInputMethodHints(Qt.InputMethodHint.ImhUrlCharactersOnly)
        self.reading = hint()
        self.key = QLineEdit()
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setAccessibleName("Key of the server")
        self.show_key = QPushButton("Sho&w")
        self.show_key.setCheckable(True)
        self.show_key.setAccessibleName("Show the key while it is typed")
        self.kept = hint()
        self.remove = QPushButton("&Remove the key")
        self.model = ChoiceBox(theme)
        self.model.setEditable(True)
        self.model.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.model.setAccessibleName("Model of the server")
        self.model.addItem(_OWN_MODEL)
        self.test = QPushButton("&Test")
        self.test.setToolTip("Try this server without using it (Enter)")
        self.use = QPushButton("&Use this server")
        self.unused = hint()
        restyle(self.unused, "tone", "waiting")
        self._lay_out(theme)
        self._connect()
        self._read()
        self._show_key_place()

    def _lay_out(self, theme: Theme) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.spacing.s)
        grid.setVerticalSpacing(theme.spacing.xs)
        grid.setColumnStretch(1, 1)
        for row, text, of in ((0, "A&ddress", self.address), (2, "&Key", self.key), (4, "M&odel", self.model)):
            label = QLabel(text)
            label.setBuddy(of)
            grid.addWidget(label, row, 0)
        grid.addWidget(self.address, 0, 1)
        grid.addWidget(self.reading, 1, 1)
        grid.addLayout(_row(theme, self.key, self.show_key), 2, 1)
        grid.addLayout(_row(theme, self.kept, self.remove), 3, 1)
        grid.addWidget(self.model, 4, 1)
        buttons = FlowRow(theme.spacing.s, self.test, self.use)
        buttons.setContentsMargins(0, theme.spacing.s, 0, 0)
        grid.addLayout(buttons, 5, 1)
        grid.addWidget(self.unused, 6, 1)
        order = (self.address, self.key, self.show_key, self.remove, self.model, self.test, self.use)
        for first, second in pairwise(order):
            self.setTabOrder(first, second)

    def _connect(self) -> None:
        self.address.textEdited.connect(self._edited)
        self.address.editingFinished.connect(self._look)
        self.key.textChanged.connect(self._read)
        self.model.editTextChanged.connect(self._tell_unused)
        self.show_key.toggled.connect(self._show_key)
        for field in (self.address, self.key):
            field.returnPressed.connect(self._test)
        self.test.clicked.connect(self._test)
        self.use.clicked.connect(self._use)
        self.remove.clicked.connect(self._remove)

    @property
    def url(self) -> str:
        """The address as it will be called; empty while it is none."""
        result = parse(self.address.text())
        return result.url if isinstance(result, Address) else ""

    @property
    def chosen_model(self) -> str:
        """What to ask of the server; empty takes its own."""
        text = self.model.currentText().strip()
        return "" if text == _OWN_MODEL else text

    def show_view(self, view: RemoteServerView) -> None:
        """Show what is saved, unless a person is typing another address, and what a trial found out."""
        if (view.url, view.model) != self._saved:
            url, model = self._saved
            untouched = self.address.text() in ("", url)
            self._saved = (view.url, view.model)
            if view.url and (untouched or self.url == view.url):
                self.address.setText(view.url)
                # Its beginning is what tells servers apart where not all of it fits.
                self.address.setCursorPosition(0)
                if self.chosen_model == model:
                    self.model.setEditText(view.model or _OWN_MODEL)
                self._read()
        self._view = view
        self._trying = view.trying
        self.test.setText("S&top the test" if view.trying else "&Test")
        self._show_key_place()
        if view.finding is not None and view.tried_url == self.url:
            self._offer(view.finding.models)
        self._tell_unused()

    def draft(self) -> RemoteDraft | None:
        """What is typed and not in use; None where that is nothing."""
        written = RemoteDraft(self.address.text().strip(), self.key.text(), self.chosen_model)
        return written if self._unused(written) else None

    def take_up(self, draft: RemoteDraft) -> None:
        """Write it into the fields again."""
        self.address.setText(draft.address)
        self.key.setText(draft.key)
        self.model.setEditText(draft.model or _OWN_MODEL)
        self._edited()

    def told(self) -> str:
        """Which fields hold what is not in use, in words."""
        written = self.draft()
        return listed(self._unused(written)) if written is not None else ""

    def _unused(self, written: RemoteDraft) -> list[str]:
        url, model = self._saved
        address = bool(written.address) and (self.url or written.address) != url
        parts = {"the address": address, "the key": bool(written.key), "the model": written.model != model}
        return [name for name, changed in parts.items() if changed]

    def _tell_unused(self) -> None:
        told = self.told()
        self.unused.setText(f"Not in use yet: {told}. “Use this server” changes that." if told else "")
        self.unused.setVisible(bool(told))

    def _offer(self, models: tuple[str, ...]) -> None:
        # An open list would jump under the pointer.
        if models and models != self._models and not self.model.view().isVisible():
            self._models = models
            text = self.model.currentText()
            self.model.clear()
            self.model.addItems([_OWN_MODEL, *(model for model in models if model != _ANY_MODEL)])
            self.model.setEditText(text)

    def _show_key_place(self) -> None:
        view = self._view
        kept = _KEPT.get(view.key_place, "") if view.key_url and view.key_url == self.url else ""
        self.kept.setText(kept)
        self.kept.setVisible(bool(kept))
        self.remove.setVisible(bool(kept))
        self.key.setPlaceholderText("●●●●●●●● kept; type to replace it" if kept else "Empty if the server needs none")
        self.key.setAccessibleDescription(kept)

    def _edited(self) -> None:
        self._read()
        self._show_key_place()
        self.address_changed.emit()

    def _read(self) -> None:
        """Show how the address is read; what is wrong with a half-typed one is said only when it is to be used."""
        result = parse(self.address.text(), with_key=bool(self.key.text()))
        if isinstance(result, Address):
            reading = "" if result.url == self.address.text().strip() else f"Read as {result.url}"
            self._say(f"{reading}\n{result.warning}".strip(), tone="waiting" if result.warning else "muted")
        else:
            self._say("", tone="muted")
        self._tell_unused()

    def _say(self, text: str, tone: str) -> None:
        self.reading.setText(breakable(text))
        self.reading.setVisible(bool(text))
        self.address.setAccessibleDescription(text)
        restyle(self.reading, "tone", tone)
        restyle(self.address, "invalid", tone == "bad")

    def _checked(self) -> bool:
        """Whether the address can be called; else the cursor goes there and the reason is shown."""
        result = parse(self.address.text())
        if isinstance(result, AddressProblem):
            self._say(result.text, tone="bad")
            self.address.setFocus(Qt.FocusReason.OtherFocusReason)
        return isinstance(result, Address)

    def _test(self) -> None:
        if self._trying:
            self.stop_pressed.emit()
        elif self._checked():
            self.try_pressed.emit(self.url, self.key.text(), self.chosen_model)

    def _use(self) -> None:
        if self._checked():
            url, key = self.url, self.key.text()
            self.address.setText(url)
            # The key is handed on and kept by the application; the window forgets it.
            self.key.clear()
            self.show_key.setChecked(False)
            self.use_pressed.emit(url, key, self.chosen_model)

    def _look(self) -> None:
        if self.url:
            self.looked_for.emit(self.url)

    def _remove(self) -> None:
        if self.url:
            self.key.setFocus(Qt.FocusReason.OtherFocusReason)
            self.remove_pressed.emit(self.url)

    def _show_key(self, visible: bool) -> None:
        self.key.setEchoMode(QLineEdit.EchoMode.Normal if visible else QLineEdit.EchoMode.Password)


def _row(theme: Theme, field: QWidget, button: QPushButton) -> QHBoxLayout:
    """A field that takes all the room that its button leaves."""
    row = QHBoxLayout()
    row.setSpacing(theme.spacing.s)
    row.addWidget(field, 1)
    row.addWidget(button)
    return row
