from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest
import scenes
from conftest import RecordedIntents
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QLabel, QLineEdit, QScrollArea, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from sayso.app.snapshot import DesktopState, MicrophoneView, Mode, Notice
from sayso.ui.main_window import MainWindow
from sayso.ui.wording import describe


def controls(window: MainWindow) -> list[QWidget]:
    """Everything in the window that a person can act on."""
    kinds = (QAbstractButton, QLineEdit, QTextEdit)
    found = [widget for kind in kinds for widget in window.findChildren(kind)]
    return [widget for widget in found if widget.isVisible() and widget.isEnabled()]


def walk(window: MainWindow, steps: int = 60) -> list[QWidget]:
    """The widgets that Tab reaches, in order; in a group the arrow keys go on from the chosen button to the rest."""
    QApplication.processEvents()
    reached: list[QWidget] = []
    for _ in range(steps):
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused in reached:
            break
        reached.append(focused)
        if isinstance(focused, QAbstractButton) and focused.autoExclusive():
            group = focused.parentWidget().findChildren(QAbstractButton)
            reached += [button for button in group if button is not focused]
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    return reached


def test_every_scene_can_be_shown_after_every_other(window: MainWindow) -> None:
    for first, second in permutations(scenes.ALL.values(), 2):
        window.show_snapshot(first())
        window.show_snapshot(second())
        assert window.state_bar.headline.text() == describe(second()).headline


def test_the_keyboard_reaches_every_control_in_the_order_of_the_eye(window: MainWindow) -> None:
    window.show_snapshot(scenes.troubles())
    window.state_bar.button.setFocus()
    reached = walk(window)
    missing = [control for control in controls(window) if control not in reached]
    assert [control.accessibleName() for control in missing] == []
    names = [widget.accessibleName() for widget in reached]
    expected = ["Stop listening", "Dismiss: Key presses", "Dismiss: This system", "Mode:", "Engine:", "Address of the"]
    expected += ["Key of the", "Show the key", "Use this server", "Transcript", "Actions", "Undo: Set the volume"]
    places = [next(index for index, name in enumerate(names) if name.startswith(start)) for start in expected]
    assert places == sorted(places), names


def test_the_arrow_keys_move_the_choice_inside_a_group(
    qtbot: QtBot, window: MainWindow, intents: RecordedIntents
) -> None:
    window.show_snapshot(scenes.listening())
    window.mode.buttons[0].setFocus()
    qtbot.keyClick(window.mode.buttons[0], Qt.Key.Key_Right)
    assert intents.calls == [("set_mode", Mode.DICTATION)]
    qtbot.keyClick(window.mode.buttons[1], Qt.Key.Key_Left)
    assert intents.calls[-1] == ("set_mode", Mode.COMMANDS)


def test_undo_buttons_are_reached_from_the_newest_down(window: MainWindow) -> None:
    window.show_snapshot(scenes.many_actions())
    window.feed.area.setFocus()
    reached = [widget for widget in walk(window) if widget.accessibleName().startswith("Undo")]
    numbers = [int(widget.accessibleName().rsplit(" ", 1)[1]) for widget in reached]
    assert len(numbers) > 3
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize("scene", scenes.ALL, ids=list(scenes.ALL))
def test_every_control_has_a_name_for_a_screen_reader(window: MainWindow, scene: str) -> None:
    window.show_snapshot(scenes.ALL[scene]())
    for control in [*controls(window), window.feed.area, window.state_bar.meter]:
        interface = QAccessible.queryAccessibleInterface(control)
        assert interface.text(QAccessible.Text.Name).strip(), control
        assert control.accessibleName().strip() or (isinstance(control, QAbstractButton) and control.text()), control


def test_the_choices_are_radio_buttons_for_a_screen_reader(window: MainWindow) -> None:
    for button in (*window.mode.buttons, *window.server.segments.buttons):
        assert QAccessible.queryAccessibleInterface(button).role() is QAccessible.Role.RadioButton


def test_no_two_mnemonics_or_shortcuts_are_the_same(window: MainWindow) -> None:
    window.show_snapshot(scenes.troubles())
    texts = [widget.text() for widget in window.findChildren(QAbstractButton) + window.findChildren(QLabel)]
    mnemonics = Counter(text[text.index("&") + 1].lower() for text in texts if "&" in text)
    assert all(count == 1 for count in mnemonics.values()), mnemonics
    shortcuts = Counter(action.shortcut().toString() for action in window.actions())
    assert all(count == 1 for count in shortcuts.values()), shortcuts


def test_the_button_starts_when_stopped_and_stops_when_started(window: MainWindow, intents: RecordedIntents) -> None:
    window.show_snapshot(scenes.idle())
    window.state_bar.button.click()
    window.show_snapshot(scenes.listening())
    window.state_bar.button.click()
    assert intents.calls == [("start",), ("stop",)]
    window.show_snapshot(replace(scenes.listening(), state=DesktopState.QUITTING))
    assert not window.state_bar.button.isEnabled()


def test_shortcuts_ask_for_what_they_say(qtbot: QtBot, window: MainWindow, intents: RecordedIntents) -> None:
    window.show_snapshot(scenes.listening())
    keys = [
        (Qt.Key.Key_L, ("toggle",)),
        (Qt.Key.Key_Z, ("undo", 3)),
        (Qt.Key.Key_1, ("set_mode", Mode.COMMANDS)),
        (Qt.Key.Key_2, ("set_mode", Mode.DICTATION)),
        (Qt.Key.Key_E, ("use_embedded",)),
        (Qt.Key.Key_Q, ("quit",)),
    ]
    for key, call in keys:
        qtbot.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)
        assert intents.calls[-1] == call


def test_the_mode_switch_asks_and_shows_what_the_snapshot_says(window: MainWindow, intents: RecordedIntents) -> None:
    window.show_snapshot(scenes.snapshot(mode=Mode.COMMANDS))
    window.mode.buttons[1].click()
    assert intents.calls == [("set_mode", Mode.DICTATION)]
    window.show_snapshot(scenes.snapshot(mode=Mode.DICTATION))
    assert window.mode.current() == 1


def test_the_undo_button_undoes_its_own_item(window: MainWindow, intents: RecordedIntents) -> None:
    window.show_snapshot(scenes.listening())
    next(row for row in window.feed.rows() if row.item.can_undo).undo.click()
    assert intents.calls == [("undo", 3)]


def test_the_server_switch_works_while_listening(qtbot: QtBot, window: MainWindow, intents: RecordedIntents) -> None:
    window.show_snapshot(scenes.listening())
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert window.server.fields.address.hasFocus()
    qtbot.keyClicks(window.server.fields.address, "localhost:8000")
    window.show_snapshot(scenes.listening())
    qtbot.keyClick(window.server.fields.address, Qt.Key.Key_Return)
    assert intents.calls == [("use_remote", "ws://localhost:8000/v1/realtime", "")]
    qtbot.keyClick(window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert intents.calls[-1] == ("use_embedded",)


def test_escape_takes_back_what_was_typed_and_then_dismisses(
    qtbot: QtBot, window: MainWindow, intents: RecordedIntents
) -> None:
    window.show_snapshot(scenes.snapshot(notices=(Notice("first", "One"), Notice("second", "Two"))))
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.server.fields.isVisible()
    assert intents.calls == []
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert intents.calls == [("dismiss", "second")]


def test_a_notice_stays_until_the_snapshot_drops_it(window: MainWindow, intents: RecordedIntents) -> None:
    window.show_snapshot(scenes.troubles())
    severe = window.notices.rows()[0]
    severe.button.click()
    assert intents.calls == [("dismiss", "actions")]
    assert severe.isVisible()
    window.show_snapshot(scenes.listening())
    assert not window.notices.isVisible()


def test_closing_the_window_asks_to_quit_and_leaves_the_rest_to_the_application(
    window: MainWindow, intents: RecordedIntents
) -> None:
    window.close()
    assert intents.calls == [("quit",)]
    assert window.isVisible()


def test_f6_goes_round_the_parts_of_the_window(qtbot: QtBot, window: MainWindow) -> None:
    window.show_snapshot(scenes.listening())
    window.state_bar.button.setFocus()
    visited = []
    for _ in range(4):
        qtbot.keyClick(window, Qt.Key.Key_F6)
        visited.append(QApplication.focusWidget())
    assert window.transcript.text in visited
    assert window.feed.area in visited
    assert visited[-1] is window.state_bar.button


def test_the_transcript_can_be_copied_without_times_and_tentative_text(qtbot: QtBot, window: MainWindow) -> None:
    window.show_snapshot(scenes.listening())
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(window, Qt.Key.Key_C, modifiers)
    copied = QGuiApplication.clipboard().text().split("\n")
    assert copied[0] == "open Firefox"
    assert copied[-1] == "type hello everyone the meeting"


def test_the_list_of_keys_opens_without_stopping_the_event_loop(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.keyClick(window, Qt.Key.Key_F1)
    dialog = window.findChild(QDialog)
    assert dialog is not None
    assert dialog.isVisible()
    assert any("Ctrl+L" in label.text() for label in dialog.findChildren(QLabel))
    assert dialog.screen().availableGeometry().height() > dialog.height()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.findChild(QDialog) is None, timeout=15_000)


def test_the_list_of_keys_scrolls_by_keyboard_where_it_is_higher_than_its_window(
    qtbot: QtBot, window: MainWindow
) -> None:
    qtbot.keyClick(window, Qt.Key.Key_F1)
    dialog = window.findChild(QDialog)
    assert dialog is not None
    dialog.resize(dialog.width(), 200)
    area = dialog.findChild(QScrollArea)
    assert area is not None
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0, timeout=15_000)
    assert all(label.height() >= label.sizeHint().height() for label in dialog.findChildren(QLabel))
    qtbot.keyClick(area, Qt.Key.Key_End)
    qtbot.keyClick(area, Qt.Key.Key_PageDown)
    assert area.verticalScrollBar().value() > 0
    dialog.reject()


def test_a_level_alone_repaints_only_the_meter(window: MainWindow) -> None:
    snapshot = scenes.listening()
    window.show_snapshot(snapshot)
    changes: list[str] = []
    window.transcript.text.document().contentsChange.connect(lambda *change: changes.append("transcript"))
    window.state_bar.headline.setText("untouched")
    window.show_snapshot(replace(snapshot, microphone=replace(snapshot.microphone, level_db=-3.0)))
    assert changes == []
    assert window.state_bar.headline.text() == "untouched"


@pytest.mark.parametrize("scene", scenes.ALL, ids=list(scenes.ALL))
@pytest.mark.parametrize(("width", "height"), [(1200, 760), (960, 680), (480, 600), (400, 480)])
def test_nothing_is_wider_than_the_window(
    qtbot: QtBot, window: MainWindow, scene: str, width: int, height: int
) -> None:
    window.resize(width, height)
    window.show_snapshot(scenes.ALL[scene]())
    page = window.centralWidget()
    assert isinstance(page, QScrollArea)
    qtbot.waitUntil(lambda: page.widget().width() <= page.viewport().width(), timeout=15_000)
    for control in controls(window):
        right = control.mapTo(page.widget(), control.rect().topRight()).x()
        assert right <= page.viewport().width(), control.accessibleName()


def test_a_missing_microphone_is_said_where_the_level_would_be(window: MainWindow) -> None:
    window.show_snapshot(scenes.no_microphone())
    microphone: MicrophoneView = scenes.no_microphone().microphone
    assert window.state_bar.detail.text() == microphone.detail
    assert window.state_bar.meter.accessibleDescription() == "No microphone"


def test_a_question_is_answered_from_the_keyboard(window: MainWindow, intents: RecordedIntents) -> None:
    window.show_snapshot(scenes.question())
    intents.calls.clear()
    QTest.keyClick(window, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert intents.calls == [("confirm", 5), ("refuse", 5), ("refuse", 5)]


def test_the_newest_words_are_typed_again_from_the_keyboard_and_by_the_button(
    window: MainWindow, intents: RecordedIntents
) -> None:
    window.show_snapshot(scenes.idle())
    intents.calls.clear()
    QTest.keyClick(window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    window.transcript.insert.click()
    assert intents.calls == [("insert", "close the window")] * 2
