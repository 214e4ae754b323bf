"""Adding and changing a command of the user's own; what stands against it is told while it is written. Qt thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from sayso.app.commands.own import LONGEST_PHRASE, LONGEST_VALUE, OwnCommand, OwnKind
from sayso.app.commands_view import Problems
from sayso.ui.controls import ChoiceBox, hint, plain_label
from sayso.ui.theme import Theme, restyle

_KINDS = {
    OwnKind.KEYS: ("Press keys", "Keys", "Ctrl+Shift+T"),
    OwnKind.TEXT: ("Type text", "Text", "Kind regards, Ada"),
    OwnKind.ADDRESS: ("Open a web address", "Address", "https://example.org"),
    OwnKind.PROGRAM: ("Run a program", "Program", "xterm -e top"),
}
"""What each kind does, what its value is called, and an example."""


_NOTHING = OwnCommand("", OwnKind.KEYS, "")


class OwnCommandDialog(QDialog):
    """``check`` says what stands against a command, ``save`` takes it when nothing does.

    Emits ``left`` with what was written when it is closed without *Save* or *Cancel*, as Esc does.
    """

    left = Signal(object)

    def __init__(
        self,
        theme: Theme,
        parent: QWidget,
        check: Callable[[OwnCommand], Problems],
        save: Callable[[OwnCommand], None],
        own: OwnCommand | None = None,
        written: OwnCommand | None = None,
    ) -> None:
        """``own`` is the command that is changed, ``written`` what an earlier dialog was left with."""
        super().__init__(parent)
        self._theme = theme
        self._check = check
        self._save = save
        self._touched: set[QWidget] = set()
        self._begun = own or _NOTHING
        shown = written or self._begun
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Your own command" if own is None else "Change your command")
        self.phrase = QLineEdit(shown.phrase)
        self.phrase.setMaxLength(LONGEST_PHRASE)
        self.phrase.setPlaceholderText("good morning everybody")
        self.kind = ChoiceBox(theme)
        for kind, (does, _, _) in _KINDS.items():
            self.kind.addItem(does, kind)
        self.value = QLineEdit(shown.value)
        self.value.setMaxLength(LONGEST_VALUE)
        self.value_label = QLabel()
        self.phrase_problem, self.value_problem = plain_label(), plain_label()
        buttons = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(buttons.Save | buttons.Cancel)
        self.save = self.buttons.button(buttons.Save)
        for button in self.buttons.buttons():
            button.setIcon(QIcon())  # No other button of Sayso has one of the style's.
        self.kind.setCurrentIndex(self.kind.findData(shown.kind))
        self._lay_out()
        self._connect()
        self._show()

    def _connect(self) -> None:
        self.phrase.textEdited.connect(lambda: self._edited(self.phrase))
        self.value.textEdited.connect(lambda: self._edited(self.value))
        self.kind.currentIndexChanged.connect(self._show)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(lambda: self.done(QDialog.DialogCode.Rejected))

    def _lay_out(self) -> None:
        space = self._theme.spacing
        phrase_label, kind_label = QLabel("When I &say"), QLabel("&Do this")
        for label, field in ((phrase_label, self.phrase), (kind_label, self.kind), (self.value_label, self.value)):
            label.setBuddy(field)
        self.phrase.setAccessibleName("When I say")
        self.kind.setAccessibleName("Do this")
        layout = QVBoxLayout(self)
        layout.setSpacing(space.xs)
        for problem in (self.phrase_problem, self.value_problem):
            restyle(problem, "tone", "bad")
        for group in (
            (phrase_label, self.phrase, self.phrase_problem),
            (kind_label, self.kind),
            (self.value_label, self.value, self.value_problem),
        ):
            for widget in group:
                layout.addWidget(widget)
            layout.addSpacing(space.s)
        layout.addStretch(1)
        layout.addWidget(hint("It is understood at once. A program that you choose here runs without a question."))
        layout.addWidget(self.buttons)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.spacing.times(130), super().sizeHint().height())

    @property
    def command(self) -> OwnCommand:
        """As it is written now."""
        # Qt keeps a string, not the member of the enumeration.
        return OwnCommand(self.phrase.text().strip(), OwnKind(self.kind.currentData()), self.value.text().strip())

    def _edited(self, field: QWidget) -> None:
        self._touched.add(field)
        self._show()

    def _show(self) -> None:
        _, name, example = _KINDS[self.kind.currentData()]
        self.value_label.setText(f"&{name}")
        self.value.setAccessibleName(name)
        self.value.setPlaceholderText(example)
        problems = self._check(self.command)
        self.save.setEnabled(not problems)
        for field, label, text in (
            (self.phrase, self.phrase_problem, problems.phrase),
            (self.value, self.value_problem, problems.value),
        ):
            # Nobody is told off for what they have not written yet.
            shown = text if field in self._touched else ""
            label.setText(shown)
            label.setVisible(bool(shown))
            field.setAccessibleDescription(shown)
            restyle(field, "invalid", bool(shown))
        self._make_room()

    def _make_room(self) -> None:
        """Grow where what is told takes more lines than there were."""
        layout = self.layout()
        if layout is not None and layout.hasHeightForWidth():
            layout.activate()
            self.setMinimumHeight(layout.totalHeightForWidth(self.width()))

    @property
    def unsaved(self) -> OwnCommand | None:
        """What is written and not saved; None where that is nothing."""
        return self.command if self.command != self._begun and (self.command.phrase or self.command.value) else None

    def reject(self) -> None:
        """Esc and the window's own button, which are pressed by mistake too."""
        if self.unsaved is not None:
            self.left.emit(self.unsaved)
        super().reject()

    def _accept(self) -> None:
        if not self._check(self.command):
            self._save(self.command)
            self.accept()
