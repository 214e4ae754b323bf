"""A window with pages in tabs, as browsers have them, for tests; it writes down what it shows after every change.

Arguments: the file to write to. Its keys are those that Firefox, Chromium and Epiphany share. Its only thread is the
one that shows the window.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QLineEdit, QTabWidget, QTextBrowser, QVBoxLayout, QWidget

LINES = 200


class Page(QTextBrowser):
    """Two pages, one after the other in its history."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded = 0
        self.setTextInteractionFlags(self.textInteractionFlags() | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        for name in ("first", "second"):
            self.setSource(QUrl(name))

    def loadResource(self, kind: int, name: QUrl) -> object:
        self.loaded += 1
        return "<br>".join(f"{name.toString()} page, line {line}" for line in range(LINES))


class Pages(QWidget):
    def __init__(self, output: Path) -> None:
        super().__init__()
        self._output = output
        self._tabs = QTabWidget()
        self._sought = QLineEdit()
        self._opened, self._closed, self._zoom = 0, list[str](), 0
        layout = QVBoxLayout(self)
        layout.addWidget(self._tabs)
        layout.addWidget(self._sought)
        self._tabs.currentChanged.connect(self._changed)
        self._sought.textChanged.connect(self._changed)
        for keys, do in (
            ("Ctrl+T", lambda: self._open(f"tab {self._opened + 1}")),
            ("Ctrl+W", self._close),
            ("Ctrl+Shift+T", lambda: self._open(self._closed.pop()) if self._closed else None),
            ("Ctrl+PgDown", lambda: self._step(1)),
            ("Ctrl+PgUp", lambda: self._step(-1)),
            ("Alt+Left", lambda: self._page.backward()),
            ("Alt+Right", lambda: self._page.forward()),
            ("F5", lambda: self._page.reload()),
            ("Ctrl++", lambda: self._enlarge(self._zoom + 1)),
            ("Ctrl+-", lambda: self._enlarge(self._zoom - 1)),
            ("Ctrl+0", lambda: self._enlarge(0)),
            ("Ctrl+F", self._sought.setFocus),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(lambda do=do: (do(), self._changed()))
        self._open("tab 1")

    @property
    def _page(self) -> Page:
        page = self._tabs.currentWidget()
        assert isinstance(page, Page)
        return page

    def _open(self, title: str) -> None:
        self._opened += 1
        page = Page()
        page.verticalScrollBar().valueChanged.connect(self._changed)
        page.sourceChanged.connect(self._changed)
        self._tabs.setCurrentIndex(self._tabs.addTab(page, title))
        page.setFocus()

    def _close(self) -> None:
        at = self._tabs.currentIndex()
        self._closed.append(self._tabs.tabText(at))
        self._tabs.removeTab(at)

    def _step(self, by: int) -> None:
        self._tabs.setCurrentIndex((self._tabs.currentIndex() + by) % self._tabs.count())

    def _enlarge(self, zoom: int) -> None:
        self._page.zoomIn(zoom - self._zoom)
        self._zoom = zoom

    def _changed(self, *_: object) -> None:
        if not self._tabs.count():
            return
        bar = self._page.verticalScrollBar()
        shown = {
            "tabs": [self._tabs.tabText(at) for at in range(self._tabs.count())],
            "tab": self._tabs.tabText(self._tabs.currentIndex()),
            "page": self._page.source().toString(),
            "loaded": self._page.loaded,
            "zoom": self._zoom,
            "sought": self._sought.text(),
            "line": bar.value(),
            "last_line": bar.maximum(),
        }
        part = self._output.with_suffix(".part")
        part.write_text(json.dumps(shown), encoding="utf-8")
        part.replace(self._output)


def main() -> None:
    application = QApplication(sys.argv)
    pages = Pages(Path(sys.argv[1]))
    pages.setWindowTitle("pages")
    pages.resize(500, 400)
    pages.show()
    application.exec()


if __name__ == "__main__":
    main()
