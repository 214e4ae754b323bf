"""The switch between the engine on this computer and a server elsewhere, usable while listening. Qt thread.

*Embedded* takes effect at once; *Remote* opens the fields and takes effect with Apply or Enter, so that a half-typed
address is never called. What is really in use comes from the snapshot and is written beside the switch.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from sayso.app.snapshot import ServerKind, ServerView
from sayso.ui.controls import hint, plain_label
from sayso.ui.segments import Choice, Segments
from sayso.ui.server_address import AddressProblem, parse
from sayso.ui.text import breakable
from sayso.ui.theme import Theme, restyle
from sayso.ui.wording import server_problem, server_status

_EMBEDDED, _REMOTE = 0, 1


class RemoteFields(QWidget):
    """Address, key and Apply; emits ``applied`` with an address that has been checked and the key."""

    applied = Signal(str, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.address = QLineEdit()
        self.address.setPlaceholderText("ws://host:8000/v1/realtime")
        self.address.setAccessibleName("Address of the server")
        self.address.setInputMethodHints(Qt.InputMethodHint.ImhUrlCharactersOnly)
        self.key = QLineEdit()
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setPlaceholderText("Empty if saved or not needed")
        self.key.setAccessibleName("Key of the server")
        self.show_key = QPushButton("Sho&w")
        self.show_key.setCheckable(True)
        self.show_key.setAccessibleName("Show the key")
        self.show_key.setToolTip("Show the key while it is typed")
        self.apply = QPushButton("Appl&y")
        self.apply.setAccessibleName("Use this server")
        self.apply.setToolTip("Use this server (Enter)")
        self.message = plain_label()
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.message.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self._lay_out(theme)
        self.address.returnPressed.connect(self._apply)
        self.key.returnPressed.connect(self._apply)
        self.apply.clicked.connect(self._apply)
        self.show_key.toggled.connect(self._show_key)
        self.address.textEdited.connect(lambda: self.show_message("", problem=False))

    def _lay_out(self, theme: Theme) -> None:
        address_label, key_label = QLabel("&Address"), QLabel("&Key")
        address_label.setBuddy(self.address)
        key_label.setBuddy(self.key)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.spacing.s)
        grid.setVerticalSpacing(theme.spacing.xs)
        grid.addWidget(address_label, 0, 0)
        grid.addWidget(self.address, 0, 1, 1, 3)
        grid.addWidget(key_label, 1, 0)
        grid.addWidget(self.key, 1, 1)
        grid.addWidget(self.show_key, 1, 2)
        grid.addWidget(self.apply, 1, 3)
        grid.addWidget(self.message, 2, 1, 1, 3)
        grid.setColumnStretch(1, 1)
        self.setTabOrder(self.address, self.key)
        self.setTabOrder(self.key, self.show_key)
        self.setTabOrder(self.show_key, self.apply)
        self.message.hide()

    def _show_key(self, visible: bool) -> None:
        self.key.setEchoMode(QLineEdit.EchoMode.Normal if visible else QLineEdit.EchoMode.Password)

    def _apply(self) -> None:
        result = parse(self.address.text(), with_key=bool(self.key.text()))
        if isinstance(result, AddressProblem):
            self.show_message(result.text, problem=True)
            self.address.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self.address.setText(result.url)
        self.show_message(result.warning, problem=False)
        key = self.key.text()
        # The key is handed on and kept by the application; the window forgets it.
        self.key.clear()
        self.show_key.setChecked(False)
        self.applied.emit(result.url, key)

    def show_message(self, text: str, *, problem: bool) -> None:
        self.message.setText(breakable(text))
        self.message.setVisible(bool(text))
        self.address.setAccessibleDescription(text)
        restyle(self.message, "tone", "bad" if problem else "waiting")
        restyle(self.address, "invalid", problem)


class ServerSwitch(QWidget):
    embedded_chosen = Signal()
    remote_chosen = Signal(str, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._server: ServerView | None = None
        # A person has chosen Remote and not applied yet: snapshots of the server in use must not take that back.
        self._pending = False
        choices = (
            Choice("&Embedded", "The engine on this computer; nothing leaves it"),
            Choice("&Remote", "A server that you choose"),
        )
        self.segments = Segments("Engine", choices, theme)
        self.segments.chosen.connect(self._chosen)
        self.status = hint()
        self.status.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.fields = RemoteFields(theme)
        self.fields.hide()
        self.fields.applied.connect(self._applied)
        self.status.setMinimumHeight(self.segments.sizeHint().height())
        row = QHBoxLayout()
        row.setSpacing(theme.spacing.s)
        row.addWidget(self.segments, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.status, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.spacing.s)
        layout.addLayout(row)
        layout.addWidget(self.fields)

    def show_server(self, server: ServerView) -> None:
        if server == self._server:
            return
        arrived = self._server is None or server.kind is not self._server.kind or server.url != self._server.url
        self._server = server
        if server.kind is ServerKind.REMOTE and arrived:
            self._pending = False
            self.fields.address.setText(server.url)
        self._show()
        if not self._pending and (server_problem(server) or self.fields.message.property("tone") == "bad"):
            self.fields.show_message(server_problem(server), problem=bool(server_problem(server)))

    def _show(self) -> None:
        if self._server is None:
            return
        remote = self._pending or self._server.kind is ServerKind.REMOTE
        self.segments.show_choice(_REMOTE if remote else _EMBEDDED)
        self.fields.setVisible(remote)
        self.status.setText(breakable(server_status(self._server)))

    def _chosen(self, index: int) -> None:
        if index == _EMBEDDED:
            self._pending = False
            self.fields.hide()
            self.embedded_chosen.emit()
            return
        self.open_remote()

    def choose_embedded(self) -> None:
        self.segments.show_choice(_EMBEDDED)
        self._chosen(_EMBEDDED)

    def open_remote(self) -> None:
        """Shows the fields for a remote server and puts the cursor into the address."""
        self._pending = self._server is None or self._server.kind is not ServerKind.REMOTE
        self._show()
        self.fields.address.setFocus(Qt.FocusReason.OtherFocusReason)

    def revert(self) -> bool:
        """Drops what was typed and shows the server in use; says whether there was anything to drop."""
        server = self._server
        edited = self.fields.isVisible() and server is not None and self.fields.address.text() != server.url
        if server is None or not (self._pending or edited or self.fields.key.text()):
            return False
        self._pending = False
        self.fields.key.clear()
        self.fields.address.setText(server.url)
        self.fields.show_message(server_problem(server), problem=bool(server_problem(server)))
        self._show()
        return True

    def _applied(self, url: str, key: str) -> None:
        self._pending = self._server is None or self._server.kind is not ServerKind.REMOTE
        self.remote_chosen.emit(url, key)
