"""A window with one line of text, for tests: it is busy for a while now and then, and writes down what it shows.

Arguments: the file to write to. Its only thread is the one that shows the window.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLineEdit

BUSY_S = 0.8


def main() -> None:
    output = Path(sys.argv[1])
    application = QApplication(sys.argv)
    line = QLineEdit()
    line.setWindowTitle("slow editor")
    line.resize(400, 60)

    def write(text: str) -> None:
        part = output.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        part.replace(output)

    def be_busy() -> None:
        # Longer than any fixed pause after typing: keys that wait in the queue are looked up only afterwards.
        time.sleep(BUSY_S)

    line.textChanged.connect(write)
    timer = QTimer(interval=50)
    timer.timeout.connect(be_busy)
    timer.start()
    line.show()
    application.exec()


if __name__ == "__main__":
    main()
