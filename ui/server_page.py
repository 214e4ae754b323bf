"""The page *Server*: where speech becomes text, and whether a remote server would do. Qt thread.

*Embedded* takes effect at once; *Remote* opens the fields and takes effect with *Use this server*. A test only tells.
"""

from __future__ import annotations

from PySide6.QtGui import QShowEvent

from sayso.app.snapshot import ServerKind, ServerState, Snapshot
from sayso.ui.controls import hint, plain_label
from sayso.ui.drafts import Draft
from sayso.ui.intents import Intents
from sayso.ui.remote_form import RemoteDraft, RemoteForm
from sayso.ui.segments import Choice, Segments
from sayso.ui.settings_page import SettingsPage
from sayso.ui.text import breakable
from sayso.ui.theme import Theme
from sayso.ui.trial_result import TrialResult
from sayso.ui.wording import server_problem, server_status

_EMBEDDED, _REMOTE = 0, 1


class ServerPage(SettingsPage):
    """Embedded or remote, and a trial of a remote one."""

    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__(theme)
        self._intents = intents
        self._snapshot: Snapshot | None = None
        # A person has opened Remote and not used it yet: snapshots of the server in use must not close it.
        self._opened = False
        choices = (
            Choice("&Embedded", "The engine on this computer; nothing leaves it"),
            Choice("&Remote", "A server that you choose; your speech goes there"),
        )
        self.kind = Segments("Server", choices, theme)
        self.status = plain_label()
        self.problem = plain_label()
        self.problem.setProperty("tone", "bad")
        self.about = hint("Your speech becomes text on this computer, and nothing leaves it.")
        self.form = RemoteForm(theme)
        self.result = TrialResult(theme)
        self.column.setSpacing(theme.spacing.m)
        for widget in (self.kind, self.status, self.problem, self.about, self.form, self.result):
            self.column.addWidget(widget)
        self.column.addStretch(1)
        self.kind.chosen.connect(self._chosen)
        self.form.use_pressed.connect(self._use)
        self.form.address_changed.connect(self._show)
        self.form.try_pressed.connect(intents.servers.try_server)
        self.form.stop_pressed.connect(intents.servers.stop_trial)
        self.form.looked_for.connect(intents.servers.look_for_key)
        self.form.remove_pressed.connect(intents.servers.remove_key)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        before, self._snapshot = self._snapshot, snapshot
        if before is not None and (before.server, before.servers) == (snapshot.server, snapshot.servers):
            return
        server = snapshot.server
        arrived = before is None or (before.server.kind, before.server.url) != (server.kind, server.url)
        if arrived and server.kind is ServerKind.REMOTE:
            self._opened = False
        self.form.show_view(snapshot.servers)
        self._show()
        readied = before is None or before.server.state is not ServerState.READY
        if server.kind is ServerKind.REMOTE and server.state is ServerState.READY and (arrived or readied):
            # The key that was typed has been kept by now.
            self._look_for_key()

    def draft(self) -> Draft | None:
        typed = self.form.draft()
        if typed is None:
            return None
        # Whoever went back to the embedded engine has decided; the fields keep what is in them all the same.
        told = f"{self.form.told()} of a server" if self._is_remote else ""
        return Draft(told, (self._opened, typed))

    def take_up(self, draft: Draft) -> None:
        match draft.typed:
            case (bool(opened), RemoteDraft() as typed):
                self._opened = opened
                self.form.take_up(typed)
                self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look_for_key()

    def _look_for_key(self) -> None:
        # A keyring may ask its owner to unlock it, which only a page that is looked at is worth.
        if self.form.url and self.isVisible():
            self._intents.servers.look_for_key(self.form.url)

    @property
    def _is_remote(self) -> bool:
        """Whether the fields of a remote server are shown."""
        return self._opened or (self._snapshot is not None and self._snapshot.server.kind is ServerKind.REMOTE)

    def _show(self) -> None:
        if self._snapshot is None:
            return
        server, trial = self._snapshot.server, self._snapshot.servers
        remote = self._is_remote
        self.kind.show_choice(_REMOTE if remote else _EMBEDDED)
        self.status.setText(breakable(f"In use: {server_status(server)}."))
        self.problem.setText(breakable(server_problem(server)))
        self.problem.setVisible(bool(server_problem(server)))
        self.about.setVisible(not remote)
        self.form.setVisible(remote)
        self.result.show_trial(trial)
        # What was found at another address says nothing about the one that is there now.
        if not remote or (trial.tried_url != self.form.url and not trial.trying):
            self.result.hide()

    def _chosen(self, index: int) -> None:
        self._opened = index == _REMOTE and self._snapshot is not None
        if index == _EMBEDDED:
            self._intents.use_embedded()
        self._show()

    def _use(self, url: str, key: str, model: str) -> None:
        self._intents.use_remote(url, key, model)
