"""The guide's window: opened and closed by snapshots, worked by keyboard, read by a screen reader."""

from __future__ import annotations

from dataclasses import replace

import pytest
import scenes
from conftest import RecordedIntents
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sayso.app.engine_view import EngineView, ModelRow, Work
from sayso.app.first_run_view import FirstRunView, Step, TaskState, TaskView
from sayso.app.snapshot import DesktopState, Snapshot
from sayso.ui.first_run import FirstRunWindow
from sayso.ui.main_window import MainWindow

TINY = ModelRow("tiny.en", ("en",), 76_000_000, 420_000_000, "MIT", True, is_automatic=True)
BASE = ModelRow("base.en", ("en",), 145_000_000, 500_000_000, "MIT", False)
TASKS = (TaskView("what time is it"), TaskView("volume up"), TaskView("calculate 12 times 7"))


def guided(step: Step = Step.MICROPHONE, tasks: tuple[TaskView, ...] = TASKS, **changes: object) -> Snapshot:
    guide = FirstRunView(True, step, list(Step).index(step) + 1, 4, tasks)
    return scenes.snapshot(guide=guide, **changes)


@pytest.fixture
def guide(window: MainWindow, qtbot: QtBot, intents: RecordedIntents) -> FirstRunWindow:
    window.show_snapshot(guided())
    assert window.guide is not None
    qtbot.waitUntil(lambda: window.guide is not None and window.guide.isVisible(), timeout=15_000)
    intents.calls.clear()
    return window.guide


def asked(intents: RecordedIntents) -> list[tuple[object, ...]]:
    """What was asked for but looking, which pages do while they are seen."""
    looks = ("watch", "look_for_microphones", "look_for_key", "measure_all")
    return [call for call in intents.calls if call[0] not in looks]


def test_without_a_guide_there_is_no_window_of_it(window: MainWindow) -> None:
    window.show_snapshot(scenes.empty())
    assert window.guide is None


def test_it_stands_beside_a_window_that_goes_on_working(guide: FirstRunWindow, window: MainWindow) -> None:
    assert not guide.isModal()
    window.show_snapshot(guided(state=DesktopState.IDLE))
    assert window.state_bar.headline.text() == "Not listening"
    assert guide.isVisible()
    window.show_snapshot(scenes.empty())
    assert not guide.isVisible()
    window.show_snapshot(guided())
    assert window.guide is not None
    assert window.guide is not guide
    assert window.guide.isVisible()


def test_each_step_has_its_title_and_its_page(guide: FirstRunWindow, window: MainWindow) -> None:
    titles = set()
    for number, step in enumerate(Step, 1):
        window.show_snapshot(guided(step))
        assert guide.place.text() == f"Step {number} of 4"
        assert guide.pages[step].isVisible()
        titles.add(guide.title.text())
        assert guide.title.text() in guide.next.accessibleDescription()
    assert len(titles) == 4


def test_buttons_go_on_back_and_out(guide: FirstRunWindow, window: MainWindow, intents: RecordedIntents) -> None:
    assert not guide.back.isEnabled()
    guide.next.click()
    window.show_snapshot(guided(Step.SERVER))
    guide.back.click()
    guide.skip.click()
    assert asked(intents) == [("forward",), ("back",), ("close",)]
    window.show_snapshot(guided(Step.COMMANDS))
    assert guide.next.text() == "&Finish"
    assert not guide.skip.isVisible()


def test_it_is_gone_through_with_enter_back_with_alt_left_and_left_with_esc(
    guide: FirstRunWindow, window: MainWindow, intents: RecordedIntents
) -> None:
    guide.activateWindow()
    assert guide.focusWidget() is guide.next
    QTest.keyClick(guide.next, Qt.Key.Key_Return)
    window.show_snapshot(guided(Step.SERVER))
    QTest.keyClick(guide, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(guide, Qt.Key.Key_Escape)
    assert asked(intents) == [("forward",), ("back",), ("close",)]


def test_closing_its_window_skips_it(guide: FirstRunWindow, intents: RecordedIntents) -> None:
    guide.close()
    assert asked(intents) == [("close",)]


def test_the_menu_opens_it_again(window: MainWindow, intents: RecordedIntents) -> None:
    menu = window.menu_button.menu()
    assert menu is not None
    next(action for action in menu.actions() if action.text() == "First steps…").trigger()
    assert ("open",) in intents.calls


def test_commands_are_ticked_with_their_result_and_read_as_one_text(guide: FirstRunWindow, window: MainWindow) -> None:
    tasks = (
        TaskView("what time is it", TaskState.DONE, "It is 9:41"),
        TaskView("volume up", TaskState.FAILED, "No sound server answers."),
        TaskView("calculate 12 times 7"),
    )
    window.show_snapshot(guided(Step.COMMANDS, tasks, lines=(scenes.line(1, "What time", " is it"),)))
    names = [row.accessibleName() for row in guide.commands.rows]
    assert names == [
        "what time is it: done: It is 9:41",
        "volume up: it did not work: No sound server answers.",
        "calculate 12 times 7: not said yet",
    ]
    assert guide.commands.heard.text() == "Heard: “What time is it”"
    assert not guide.commands.done.isVisible()
    window.show_snapshot(guided(Step.COMMANDS, tuple(replace(task, state=TaskState.DONE) for task in tasks)))
    assert guide.commands.done.isVisible()


def test_who_does_not_listen_is_offered_to(guide: FirstRunWindow, window: MainWindow, intents: RecordedIntents) -> None:
    window.show_snapshot(guided(Step.COMMANDS))
    assert not guide.commands.listen.isVisible()
    window.show_snapshot(guided(Step.COMMANDS, state=DesktopState.IDLE))
    guide.commands.listen.click()
    assert asked(intents) == [("start",)]


def test_models_are_measured_when_the_step_is_seen_and_the_faster_is_advised(
    guide: FirstRunWindow, window: MainWindow, intents: RecordedIntents
) -> None:
    window.show_snapshot(guided(Step.MODEL, engine=EngineView(models=(TINY, BASE))))
    assert ("measure_all", "tiny.en", "base.en") in intents.calls
    assert guide.model.tiny.isChecked()
    assert "downloads 145 MB" in guide.model.base_about.text()
    measured = EngineView(models=(replace(TINY, factor=0.1), BASE))
    window.show_snapshot(guided(Step.MODEL, engine=measured))
    assert guide.model.base_about.text().startswith("Recommended here.")
    slow = EngineView(models=(replace(TINY, factor=0.5), BASE))
    window.show_snapshot(guided(Step.MODEL, engine=slow))
    assert "Recommended" not in guide.model.base_about.text()


def test_choosing_base_fetches_it_where_it_is_not_here(
    guide: FirstRunWindow, window: MainWindow, intents: RecordedIntents
) -> None:
    window.show_snapshot(guided(Step.MODEL, engine=EngineView(models=(TINY, BASE))))
    guide.model.tiny.click()
    guide.model.base.click()
    fetching = EngineView(models=(TINY, BASE), work=Work.FETCHING, about="base.en")
    window.show_snapshot(guided(Step.MODEL, engine=fetching))
    assert guide.model.base.isChecked()
    assert guide.model.work.isVisible()
    refused = EngineView(models=(TINY, BASE), fault="The hub cannot be reached.")
    window.show_snapshot(guided(Step.MODEL, engine=refused))
    assert guide.model.tiny.isChecked()
    assert guide.model.fault.text() == "The hub cannot be reached."
    window.show_snapshot(guided(Step.MODEL, engine=EngineView(models=(TINY, replace(BASE, installed=True)))))
    # As a screen reader does, which toggles without a click.
    guide.model.base.toggle()
    assert asked(intents) == [("obtain", "base.en"), ("use_model", "base.en")]


@pytest.mark.parametrize("step", list(Step))
def test_every_control_of_a_step_is_reached_by_tab_and_has_a_name(
    guide: FirstRunWindow, window: MainWindow, step: Step
) -> None:
    window.show_snapshot(guided(step, engine=EngineView(models=(TINY, BASE))))
    guide.activateWindow()
    reached: list[QWidget] = []
    for _ in range(12):
        focused = guide.focusWidget()
        assert focused is not None
        QTest.keyClick(focused, Qt.Key.Key_Tab)
        if guide.focusWidget() is not None:
            reached.append(guide.focusWidget())
    for control in reached:
        assert QAccessible.queryAccessibleInterface(control).text(QAccessible.Text.Name).strip(), control
    buttons = [each for each in (guide.back, guide.next, guide.skip) if each.isVisible() and each.isEnabled()]
    assert set(buttons) <= set(reached)
    assert guide.pages[step].first_control() in {None, *reached}
