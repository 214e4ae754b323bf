"""A window with a text of several lines, for tests; it writes down what it holds after every change.

Arguments: the file to write to, and where the accessibility of password fields is tested “password” for such a field.
Its only thread is the one that shows the window.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit


def main() -> None:
    output = Path(sys.argv[1])
    application = QApplication(sys.argv)
    field = QLineEdit() if "password" in sys.argv else QPlainTextEdit()

    def write() -> None:
        text = field.text() if isinstance(field, QLineEdit) else field.toPlainText()
        part = output.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        part.replace(output)

    if isinstance(field, QLineEdit):
        field.setEchoMode(QLineEdit.EchoMode.Password)
    field.setWindowTitle("editor")
    field.resize(500, 300)
    field.textChanged.connect(write)
    field.show()
    write()
    application.exec()


if __name__ == "__main__":
    main()
