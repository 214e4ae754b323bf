"""The first-run guide: a window beside the main one, which goes on working. Qt thread.

Each step is a page as the settings have them. Enter goes on, Alt+Left back, Esc leaves the guide; it is in the menu
afterwards.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from sayso.app.first_run_view import Step
from sayso.app.snapshot import Snapshot
from sayso.ui.controls import hint, title_label
from sayso.ui.drafts import Draft, Drafts
from sayso.ui.first_commands import FirstCommands
from sayso.ui.first_model import FirstModel
from sayso.ui.intents import Intents
from sayso.ui.microphone_page import MicrophonePage
from sayso.ui.page_area import PageArea
from sayso.ui.server_page import ServerPage
from sayso.ui.settings_page import SettingsPage
from sayso.ui.theme import Theme, restyle

_SERVER = "Server"
"""The page of the settings that the second step is."""
_TITLES = {
    Step.MICROPHONE: ("Which microphone hears you?", "Say something: the bar moves with your voice."),
    Step.SERVER: (
        "Where does your speech become words?",
        "On this computer nothing leaves it. A server of yours can use a larger model.",
    ),
    Step.MODEL: ("Which model?", ""),
    Step.COMMANDS: ("Try three commands", ""),
}


class FirstRunWindow(QDialog):
    """``show_snapshot`` is the only way in, ``Intents`` the way out. Closing it skips what is left."""

    def __init__(self, intents: Intents, theme: Theme, parent: QWidget, drafts: Drafts | None = None) -> None:
        """``drafts`` outlive the window, and are those of the settings too."""
        super().__init__(parent)
        self._guide = intents.guide
        self._drafts = drafts if drafts is not None else Drafts()
        self._warned: Draft | None = None
        self._theme = theme
        self._step: Step | None = None
        self.setWindowTitle("Welcome to Sayso")
        self.microphone = MicrophonePage(intents, theme)
        self.server = ServerPage(intents, theme)
        self.model = FirstModel(intents, theme)
        self.commands = FirstCommands(intents, theme)
        self.pages: dict[Step, SettingsPage] = {
            Step.MICROPHONE: self.microphone,
            Step.SERVER: self.server,
            Step.MODEL: self.model,
            Step.COMMANDS: self.commands,
        }
        self.place = QLabel()
        self.place.setProperty("role", "muted")
        self.title = title_label()
        self.about = hint()
        self.stack = QStackedWidget()
        self.skip = QPushButton("S&kip the guide")
        self.back = QPushButton("&Back")
        self.next = QPushButton("&Next")
        self._lay_out()
        self.skip.clicked.connect(self._guide.close)
        self.back.clicked.connect(self._guide.back)
        self.next.clicked.connect(self._forward)
        QShortcut(QKeySequence("Alt+Left"), self).activated.connect(self._guide.back)

    def _lay_out(self) -> None:
        space = self._theme.spacing
        for page in self.pages.values():
            self.stack.addWidget(PageArea(page))
        self.skip.setProperty("role", "quiet")
        self.next.setProperty("role", "primary")
        for button in (self.skip, self.back, self.next):
            # Enter in a field of a page must not press whichever button comes first.
            button.setAutoDefault(False)
        buttons = QHBoxLayout()
        buttons.addWidget(self.skip)
        buttons.addStretch(1)
        buttons.addWidget(self.back)
        buttons.addWidget(self.next)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(space.l, space.l, space.l, space.m)
        layout.setSpacing(space.s)
        for widget in (self.place, self.title, self.about):
            layout.addWidget(widget)
        layout.addWidget(self.stack, 1)
        layout.addLayout(buttons)
        self.setMinimumSize(space.times(100), space.times(70))
        self.resize(self.sizeHint())

    def sizeHint(self) -> QSize:
        wanted = QSize(self._theme.spacing.times(160), self._theme.spacing.times(125))
        return wanted.boundedTo(self.screen().availableSize() * 0.95)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        guide = snapshot.guide
        if not guide.is_open:
            self.hide()
            return
        self.place.setText(f"Step {guide.number} of {guide.count}")
        last = guide.number == guide.count
        self.next.setText("&Finish" if last else "&Next")
        self.skip.setVisible(not last)
        self.back.setEnabled(guide.number > 1)
        self.pages[guide.step].show_snapshot(snapshot)
        if self._step is None and (draft := self._drafts.take(_SERVER)) is not None:
            self.server.show_snapshot(snapshot)
            self.server.take_up(draft)
        if guide.step is not self._step:
            self._turn_to(guide.step)

    def put_down(self) -> None:
        """Keep what was typed and is not in use for the settings, which have the same page."""
        if (draft := self.server.draft()) is not None:
            self._drafts.keep(_SERVER, draft)

    def _forward(self) -> None:
        """Go on; of what was typed on this page and is not in use that is said first, once."""
        draft = self.pages[self._step].draft() if self._step is not None else None
        if draft is None or not draft.told or draft == self._warned:
            self._guide.forward()
            return
        self._warned = draft
        self._say_about(f"Not in use yet: {draft.told}. Use it, or press Next again to go on without it.", "waiting")

    def _say_about(self, text: str, tone: str = "muted") -> None:
        self.about.setText(text)
        self.about.setVisible(bool(text))
        restyle(self.about, "tone", tone)
        if tone != "muted" and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _turn_to(self, step: Step) -> None:
        self._step = step
        title, about = _TITLES[step]
        self.title.setText(title)
        self._say_about(about)
        self.stack.setCurrentIndex(list(self.pages).index(step))
        # A screen reader reads what it is about when the window or its button is entered.
        self.next.setAccessibleDescription(f"{self.place.text()}: {title}")
        self.setAccessibleDescription(f"{self.place.text()}: {title}")
        self.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        focused = self.focusWidget()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(focused, QPushButton):
            focused.click()
        elif event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def reject(self) -> None:
        """Esc and the window's own button skip the guide; a snapshot then hides it."""
        self._guide.close()
