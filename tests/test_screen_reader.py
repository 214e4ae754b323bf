"""The screen reader of the tests: it reads and works a real window of another process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from bounded import child
from screen_reader import ScreenReader, screen_reader
from virtual_desktop import VirtualDesktop

pytestmark = pytest.mark.desktop

PROGRAM = """
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QTextEdit, QVBoxLayout, QWidget
application, window = QApplication([]), QWidget()
button, field, page = QPushButton("Copy"), QLineEdit(), QTextEdit()
field.setAccessibleName("Source"), page.setAccessibleName("Page"), page.setReadOnly(True)
page.setPlainText("first\\nsecond")
button.clicked.connect(lambda: page.setPlainText(field.text() + " copied"))
layout = QVBoxLayout(window)
for part in (button, field, page):
    layout.addWidget(part)
window.setWindowTitle("Probe")
window.show()
application.exec()
"""


@pytest.fixture(scope="module")
def reader(desktop: VirtualDesktop) -> Iterator[ScreenReader]:
    with screen_reader(desktop) as started:
        yield started


@pytest.fixture
def window(desktop: VirtualDesktop, reader: ScreenReader) -> Iterator[subprocess.Popen[bytes]]:
    with child([sys.executable, "-c", PROGRAM], desktop.environment, desktop.folder / "probe.log") as process:
        reader.wait_for("push button", "Copy")
        yield process
    reader.wait_until(lambda: not reader.programs(), "the window to be gone")


@pytest.mark.usefixtures("window")
def test_a_text_is_read_word_for_word(reader: ScreenReader) -> None:
    assert reader.wait_for("text", "Page").text == "first\nsecond"
    assert reader.find("text", "Sourc")[0].text == ""
    assert reader.find("label") == []


@pytest.mark.usefixtures("window")
def test_a_button_is_pressed_and_a_field_is_written(reader: ScreenReader) -> None:
    page = reader.wait_for("text", "Page")
    reader.wait_for("text", "Source").write("some words")
    reader.wait_for("push button", "Copy").press()
    reader.wait_until(lambda: page.text == "some words copied", "the text to be copied")


@pytest.mark.usefixtures("window")
def test_an_elements_place_is_where_the_mouse_hits_it(desktop: VirtualDesktop, reader: ScreenReader) -> None:
    page = reader.wait_for("text", "Page")
    desktop.focus(desktop.wait_for_window("Probe"))
    desktop.xdotool("mousemove", *reader.wait_for("push button", "Copy").centre, "click", 1)
    reader.wait_until(lambda: page.text == " copied", "the button to be clicked")


@pytest.mark.usefixtures("window")
def test_a_missing_element_is_reported_with_what_there_is(reader: ScreenReader) -> None:
    with pytest.raises(AssertionError, match=r"slider named 'Volume'[^$]*'Copy'"):
        reader.wait_for("slider", "Volume", seconds=0.2)
