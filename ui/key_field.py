"""A button that takes the next key that is pressed, with its modifiers. Qt thread.

Pressed, it says so and waits: Esc or leaving it cancels, any other key is the choice. Whether the key is fit and free
is not decided here.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPushButton

_MODIFIERS = (
    (Qt.KeyboardModifier.ControlModifier, "Ctrl"),
    (Qt.KeyboardModifier.AltModifier, "Alt"),
    (Qt.KeyboardModifier.ShiftModifier, "Shift"),
    (Qt.KeyboardModifier.MetaModifier, "Super"),
)
_MODIFIER_KEYS = {
    Qt.Key.Key_Control: "Ctrl",
    Qt.Key.Key_Alt: "Alt",
    Qt.Key.Key_AltGr: "",
    Qt.Key.Key_Shift: "Shift",
    Qt.Key.Key_Meta: "Super",
    Qt.Key.Key_Super_L: "Super",
    Qt.Key.Key_Super_R: "Super",
    Qt.Key.Key_CapsLock: "",
    Qt.Key.Key_NumLock: "",
}
_ONE_KEY = {Qt.Key.Key_Backtab: Qt.Key.Key_Tab, Qt.Key.Key_SysReq: Qt.Key.Key_Print}
NONE = "No key"


def key_text(key: int, modifiers: Qt.KeyboardModifier) -> str:
    """A key with its modifiers as text, such as “Ctrl+Alt+Space”."""
    held = [name for flag, name in _MODIFIERS if modifiers & flag]
    named = QKeySequence(_ONE_KEY.get(Qt.Key(key), key)).toString(QKeySequence.SequenceFormat.PortableText)
    return "+".join([*held, named])


class KeyField(QPushButton):
    """Emits ``chosen`` with a key's text, and ``waiting`` when it begins and ends to wait for one."""

    chosen = Signal(str)
    waiting = Signal(bool)

    def __init__(self) -> None:
        super().__init__(NONE)
        self._key = ""
        self._waits = False
        self.clicked.connect(self._begin)

    @property
    def waits(self) -> bool:
        return self._waits

    def show_key(self, text: str) -> None:
        """Show the key in force; empty for none."""
        self._key = text
        if not self._waits:
            self._describe(text or NONE)

    def _describe(self, text: str) -> None:
        self.setText(text.replace("&", "&&"))
        self.setAccessibleDescription(
            "Press the keys now. Escape cancels." if self._waits else f"{text}. Press to choose another key."
        )

    def _begin(self) -> None:
        if not self._waits:
            # A screen reader presses without giving the focus, and without it no key comes here.
            self.setFocus(Qt.FocusReason.OtherFocusReason)
            self._waits = True
            self._describe("Press a key… (Esc cancels)")
            self.waiting.emit(True)

    def _end(self) -> None:
        if self._waits:
            self._waits = False
            self._describe(self._key or NONE)
            self.waiting.emit(False)

    def event(self, event: QEvent) -> bool:
        # Neither shortcuts of the window nor Tab may take the key away while one is waited for.
        if self._waits and isinstance(event, QKeyEvent):
            if event.type() is QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() is QEvent.Type.KeyPress:
                self._take(event)
                return True
            if event.type() is QEvent.Type.KeyRelease:
                self._describe("Press a key… (Esc cancels)")
                return True
        return super().event(event)

    def _take(self, event: QKeyEvent) -> None:
        if event.isAutoRepeat():
            return
        if event.key() in _MODIFIER_KEYS or event.key() in (0, Qt.Key.Key_unknown):
            held = [name for flag, name in _MODIFIERS if event.modifiers() & flag]
            pressed = _MODIFIER_KEYS.get(Qt.Key(event.key()), "")
            names = dict.fromkeys([*held, pressed] if pressed else held)
            self._describe("+".join([*names, "…"]))
            return
        escaped = event.key() == Qt.Key.Key_Escape and not event.modifiers()
        text = key_text(event.key(), event.modifiers())
        self._end()
        if not escaped:
            self.chosen.emit(text)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._end()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # A window that is not in front has no focus to lose when it is left.
        self._end()
