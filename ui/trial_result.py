"""What a trial of a server found, in words and with what is known of the server. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout

from sayso.app.remote_server_view import Finding, RemoteServerView
from sayso.ui.controls import hint, plain_label
from sayso.ui.glyph import Glyph
from sayso.ui.text import breakable
from sayso.ui.theme import Theme, restyle


def sentence(finding: Finding) -> str:
    """A finding as it is read out."""
    facts = ", ".join(f"{name} {value}" for name, value in finding.facts)
    return ". ".join(part.rstrip(".") for part in (finding.headline, finding.advice, facts) if part) + "."


class TrialResult(QFrame):
    """Empty and hidden before the first trial; a screen reader is told of each end without asking."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._shown: Finding | None = None
        self.setProperty("role", "card")
        self._glyph = Glyph(theme, "waiting", "muted")
        self.headline = plain_label()
        self.headline.setProperty("role", "feed-title")
        self.address = hint()
        self.advice = plain_label()
        for label in (self.headline, self.advice, self.address):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._facts = QGridLayout()
        self._facts.setHorizontalSpacing(theme.spacing.m)
        self._facts.setVerticalSpacing(theme.spacing.xs)
        self._facts.setColumnStretch(1, 1)
        words = QVBoxLayout()
        words.setSpacing(theme.spacing.xs)
        for widget in (self.headline, self.address, self.advice):
            words.addWidget(widget)
        words.addLayout(self._facts)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.spacing.m, theme.spacing.s, theme.spacing.m, theme.spacing.s)
        layout.setSpacing(theme.spacing.s)
        layout.addWidget(self._glyph, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)
        self.hide()

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What is shown of the server."""
        return self._shown.facts if self._shown is not None else ()

    def show_trial(self, view: RemoteServerView) -> None:
        """Show the trial that runs, or what the last one found."""
        finding = None if view.trying else view.finding
        self.setVisible(view.trying or finding is not None)
        self.address.setText(breakable(view.tried_url))
        if view.trying:
            self._glyph.show_drawing("running", "waiting")
            self.headline.setText("Trying this server…")
            self.advice.hide()
        elif finding is not None:
            self._glyph.show_drawing("done" if finding.works else "failed", "good" if finding.works else "bad")
            self.headline.setText(breakable(finding.headline))
            self.advice.setText(breakable(finding.advice))
            self.advice.setVisible(bool(finding.advice))
        restyle(self.headline, "tone", "" if finding is None else "good" if finding.works else "bad")
        if finding != self._shown:
            self._shown = finding
            self._show_facts()
            self._announce()

    def _show_facts(self) -> None:
        while (item := self._facts.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for row, (name, value) in enumerate(self.facts):
            title = plain_label(name)
            title.setProperty("role", "muted")
            self._facts.addWidget(title, row, 0, Qt.AlignmentFlag.AlignTop)
            self._facts.addWidget(plain_label(breakable(value)), row, 1)

    def _announce(self) -> None:
        told = sentence(self._shown) if self._shown is not None else ""
        self.setAccessibleName("Result of the test")
        self.setAccessibleDescription(told)
        if told and self.isVisible() and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, told))
