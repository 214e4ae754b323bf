"""A program that has copied a text and a picture, for tests, and offers them as long as it runs.

Arguments: the text, a file with the picture (PNG), and a file that is made once both are on the clipboard.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QByteArray, QMimeData
from PySide6.QtWidgets import QApplication


def main() -> None:
    application = QApplication(sys.argv)
    copied = QMimeData()
    copied.setText(sys.argv[1])
    copied.setData("image/png", QByteArray(Path(sys.argv[2]).read_bytes()))
    application.clipboard().setMimeData(copied)
    application.processEvents()
    Path(sys.argv[3]).touch()
    application.exec()


if __name__ == "__main__":
    main()
