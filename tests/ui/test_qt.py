"""What the windows take for granted of the Qt binding itself."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QApplication, QLabel


def test_calls_that_return_nothing_keep_the_reference_count_of_none(qapp: QApplication) -> None:
    # PySide6 6.12.0 dropped one with every such call; before Python 3.12 the process then dies after some thousand.
    label = QLabel()
    calls = 500
    before = sys.getrefcount(None)
    for _ in range(calls):
        label.setText("a")
    assert sys.getrefcount(None) - before > -calls // 2
