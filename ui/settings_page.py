"""What every page of the settings is: a column of controls that shows its share of a snapshot. Qt thread.

What a person does is told apart from what a snapshot shows: showing never asks for anything. A page lives while it is
seen: turning to another one, or closing the window, ends it, and what was typed goes into a draft.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sayso.app.snapshot import Snapshot
from sayso.ui.drafts import Draft
from sayso.ui.page_area import Page
from sayso.ui.theme import Theme


class SettingsPage(Page):
    """Subclasses add to ``column`` and show snapshots; the window scrolls them and names them.

    Emits ``page_wanted`` with the title of another page.
    """

    page_wanted = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, theme.spacing.s, 0)
        self.column.setSpacing(theme.spacing.s)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show the page's share of it."""
        raise NotImplementedError

    def finish(self) -> None:
        """The page is about to be left: take into use what was typed and can be used as it is."""

    def draft(self) -> Draft | None:
        """What was typed and can only be taken into use by a press of its own; asked after ``finish``."""
        return None

    def take_up(self, draft: Draft) -> None:
        """Show what an earlier page of this kind was left with; called once, after the first snapshot."""

    def first_control(self) -> QWidget | None:
        """The first control that Tab reaches on this page."""
        widget = self.nextInFocusChain()
        while widget is not self and widget is not None:
            reached = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            if reached and self.isAncestorOf(widget) and widget.isEnabled() and widget.isVisibleTo(self):
                return widget
            widget = widget.nextInFocusChain()
        return None
