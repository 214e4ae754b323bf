"""Every control of every page of the settings is reached with Tab alone, in full view, under a name of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import scenes
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QScrollBar, QWidget
from pytestqt.qtbot import QtBot

from sayso.app.history.view import HistoryView
from sayso.app.remote_server_view import Finding, KeyPlace, RemoteServerView
from sayso.app.snapshot import MicrophoneChoice, OptionsView, Snapshot
from sayso.ui.main_window import MainWindow
from sayso.ui.settings_contents import PAGES
from sayso.ui.settings_page import SettingsPage
from sayso.ui.settings_window import SettingsWindow

URL = scenes.REMOTE.url
MOST_STEPS = 150
_LABEL = QAccessible.RelationFlag.Label


def everything_shown(folder: Path) -> Snapshot:
    """A state in which as many controls as possible are there."""
    finding = Finding(True, "works", "It works", models=("auto", "tiny.en"))
    return replace(
        scenes.listening(),
        server=scenes.REMOTE,
        servers=RemoteServerView(URL, "", URL, KeyPlace.KEYRING, tried_url=URL, finding=finding),
        options=OptionsView("", (MicrophoneChoice("usb", "USB headset"),)),
        history=HistoryView(7, 3, place=str(folder / "history.db")),
    )


@pytest.fixture
def settings(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> Iterator[SettingsWindow]:
    window.show_snapshot(everything_shown(tmp_path))
    window.open_settings()
    assert window.settings is not None
    with qtbot.waitExposed(window.settings):
        pass
    window.settings.activateWindow()
    yield window.settings
    if window.settings is not None:
        window.settings.close()


def turned(settings: SettingsWindow) -> Iterator[tuple[str, SettingsPage]]:
    """Every page in turn, as it is shown."""
    for entry in PAGES:
        settings.show_page(entry.title)
        QApplication.processEvents()
        yield entry.title, settings.shown


def is_control(widget: QWidget, page: QWidget) -> bool:
    """Whether Tab must reach it; parts of a control are reached through the whole."""
    if not widget.focusPolicy() & Qt.FocusPolicy.TabFocus or widget.focusProxy() is not None:
        return False
    if isinstance(widget, QScrollBar | QLabel) or not widget.isEnabled() or not widget.isVisibleTo(page):
        return False
    parent = widget.parentWidget()
    return not (isinstance(parent, QComboBox) or (parent is not None and parent.focusProxy() is widget))


def is_of_group(widget: QWidget) -> bool:
    return isinstance(widget, QAbstractButton) and widget.autoExclusive()


def name_of(widget: QWidget) -> str:
    """What a screen reader calls it: the label that belongs to it, or its own name."""
    interface = QAccessible.queryAccessibleInterface(widget)
    labels = [other.text(QAccessible.Text.Name) for other, kind in interface.relations() if kind & _LABEL]
    name = labels[0] if labels else interface.text(QAccessible.Text.Name)
    return name.replace("&", "").strip()


def reached_with_tab(settings: SettingsWindow) -> list[QWidget]:
    """What has the focus, one Tab after the other, from the list of pages until it is there again."""
    settings.index.list.setFocus()
    reached: list[QWidget] = []
    while len(reached) < MOST_STEPS:
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keyClick(focused, Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused is settings.index.list:
            return reached
        reached.append(focused)
    raise AssertionError(f"Tab does not come back to the list of pages; it is held by {reached[-1]}")


def is_in_view(widget: QWidget, settings: SettingsWindow) -> bool:
    """Whether its upper edge is seen, or what fits of one that is higher than the window."""
    area = settings.pages.currentWidget()
    assert area is not None
    top = widget.mapTo(area, widget.rect().topLeft()).y()
    return -2 <= top < area.height() or (top < 0 and top + widget.height() >= area.height() / 2)


def test_every_control_is_reached_with_tab_alone(settings: SettingsWindow) -> None:
    missed = {}
    for title, page in turned(settings):
        wanted = [widget for widget in page.findChildren(QWidget) if is_control(widget, page)]
        assert wanted, title
        reached = reached_with_tab(settings)
        # In a group one is a stop, and the arrows lead to the others.
        groups = {each.parentWidget() for each in reached if is_of_group(each)}
        left = [each for each in wanted if each not in reached]
        left = [each for each in left if not (is_of_group(each) and each.parentWidget() in groups)]
        missed[title] = [f"{type(each).__name__} “{name_of(each)}”" for each in left]
    assert {title: left for title, left in missed.items() if left} == {}


def test_every_control_has_a_name_of_its_own(settings: SettingsWindow) -> None:
    faults = {}
    for title, page in turned(settings):
        controls = [widget for widget in page.findChildren(QWidget) if is_control(widget, page)]
        names = Counter(name_of(widget) for widget in controls)
        faults[title] = [name or "without a name" for name, count in names.items() if not name or count > 1]
    assert {title: left for title, left in faults.items() if left} == {}


def test_what_has_the_focus_is_in_view_in_a_small_window(settings: SettingsWindow) -> None:
    settings.resize(settings.minimumSize())
    hidden = {}
    for title, page in turned(settings):
        settings.index.list.setFocus()
        for _ in range(MOST_STEPS):
            focused = QApplication.focusWidget()
            assert focused is not None
            QTest.keyClick(focused, Qt.Key.Key_Tab)
            focused = QApplication.focusWidget()
            if focused is settings.index.list or focused is None:
                break
            if page.isAncestorOf(focused) and not is_in_view(focused, settings):
                hidden.setdefault(title, []).append(name_of(focused))
    assert hidden == {}
