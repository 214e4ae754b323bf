"""The page about the engine: what it says, what it asks for, and that it is reached and read without a mouse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import scenes
from conftest import RecordedIntents
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from sayso.app.engine_view import EngineFacts, EngineView, ModelRow, Work
from sayso.ui import model_wording as wording
from sayso.ui.engine_page import EnginePage
from sayso.ui.text import together
from sayso.ui.theme import Theme

TINY = ModelRow("tiny.en", ("en",), 76_000_000, 420_000_000, "MIT", True, is_automatic=True, factor=0.21)
BASE = ModelRow("base.en", ("en",), 145_000_000, 500_000_000, "MIT", False)
SMALL = ModelRow("small", ("many",), 484_000_000, 891_000_000, "MIT", False, fetched_bytes=121_000_000)
OWN = ModelRow("/home/ada/models/mine", ("many",), 967_000_000, 891_000_000, "", True, title="mine", own=True)
READY = EngineFacts("ready", "tiny.en", "cpu", 2, 2100, 430_000_000)
VIEW = EngineView(facts=READY, models=(TINY, BASE, SMALL), devices=("cuda", "cpu"), most_threads=4)


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, intents: RecordedIntents) -> EnginePage:
    page = EnginePage(intents, theme)
    qtbot.addWidget(page)
    page.resize(700, 600)
    with qtbot.waitExposed(page):
        page.show()
    show(page, VIEW)
    intents.calls.clear()
    return page


def show(page: EnginePage, view: EngineView) -> None:
    page.show_snapshot(scenes.snapshot(engine=view))


def rows(page: EnginePage) -> list[list[str]]:
    items = [page.list.topLevelItem(index) for index in range(page.list.topLevelItemCount())]
    return [[item.text(column) for column in range(5)] for item in items if item is not None]


def select(page: EnginePage, number: int) -> None:
    page.list.setCurrentItem(page.list.topLevelItem(number))


def test_it_says_what_runs_and_what_there_is(page: EnginePage) -> None:
    running = "tiny.en on the processor with 2 threads · 430 MB of memory · started in 2.1 s"
    assert page.running.text() == together(running)
    assert rows(page) == [
        ["tiny.en", "English", "76 MB", "0.21 s, fast", "in use"],
        ["base.en", "English", "145 MB", "", "not downloaded"],
        ["small", "99 languages", "484 MB", "", "25 % downloaded"],
    ]
    assert page.model.currentText() == "Automatic (tiny.en here)"
    assert [page.device.itemText(index) for index in range(page.device.count())] == [
        "Automatic",
        "NVIDIA graphics (CUDA)",
        "Processor",
    ]
    assert page.remote.isHidden()


def test_each_choice_is_asked_for_and_showing_asks_for_nothing(page: EnginePage, intents: RecordedIntents) -> None:
    page.model.activated.emit(page.model.findData("tiny.en"))
    page.device.activated.emit(page.device.findData("cpu"))
    page.threads.setValue(3)
    assert intents.calls == [("use_model", "tiny.en"), ("use_device", "cpu"), ("use_threads", 3)]
    intents.calls.clear()
    show(page, replace(VIEW, model="tiny.en", device="cpu", threads=2))
    assert intents.calls == []
    assert (page.model.currentData(), page.device.currentData(), page.threads.value()) == ("tiny.en", "cpu", 2)


def test_the_buttons_are_about_the_selected_model(page: EnginePage, intents: RecordedIntents) -> None:
    assert [page.fetch.isEnabled(), page.measure.isEnabled(), page.remove.isEnabled()] == [False, True, False]
    page.measure.click()
    select(page, 1)
    assert [page.fetch.isEnabled(), page.measure.isEnabled(), page.remove.isEnabled()] == [True, False, False]
    assert page.fetch.accessibleName() == "Download base.en"
    assert page.about.text() == together("base.en. It takes about 500 MB of memory. Licence of the weights: MIT.")
    page.fetch.click()
    select(page, 2)
    assert page.fetch.text() == "&Resume download"
    page.remove.click()
    assert intents.calls == [("measure", "tiny.en"), ("fetch", "base.en"), ("remove", "small")]


def test_what_goes_on_is_shown_with_its_share_and_can_be_cancelled(page: EnginePage, intents: RecordedIntents) -> None:
    assert page.work.isHidden()
    going = replace(VIEW, work=Work.FETCHING, about="base.en", done_bytes=29_000_000, total_bytes=145_000_000)
    show(page, going)
    assert page.work.isVisible()
    assert page.work.words.text() == "Downloading base.en: 29 MB of 145 MB"
    assert (page.work.bar.value(), page.work.bar.maximum()) == (200, 1000)
    assert rows(page)[1][4] == "downloading"
    assert not page.measure.isEnabled()
    page.work.stop.click()
    assert intents.calls == [("stop_work",)]
    show(page, replace(VIEW, work=Work.LOADING, about="base.en"))
    assert page.work.words.text() == "Loading base.en; the engine of before goes on until it is ready"
    show(page, VIEW)
    assert page.work.isHidden()


def test_the_selection_stays_while_figures_change(page: EnginePage) -> None:
    select(page, 1)
    show(page, replace(VIEW, models=(TINY, replace(BASE, installed=True, factor=1.26), SMALL)))
    assert page.selected is not None
    assert page.selected.name == "base.en"
    assert rows(page)[1][3:] == ["1.3 s, too slow", "installed"]


def test_a_fault_is_shown_until_it_is_gone(page: EnginePage) -> None:
    show(page, replace(VIEW, fault="There is no device 'cuda' here. The engine of before goes on."))
    assert page.fault.isVisible()
    assert "no device" in page.fault.text()
    show(page, VIEW)
    assert page.fault.isHidden()


def test_with_a_remote_server_the_page_says_whose_figures_these_are(page: EnginePage) -> None:
    show(page, replace(VIEW, remote="speech.example.org"))
    assert page.running.text().startswith("speech.example.org reports: tiny.en on the processor")
    assert page.remote.isVisible()
    assert rows(page)[0][4] == "installed"
    show(page, replace(VIEW, remote="speech.example.org", facts=None))
    assert page.running.text() == "speech.example.org transcribes. It tells nothing about its engine."


@pytest.mark.parametrize("state", ["idle", "starting", "loading", "restarting", "failed"])
def test_every_state_of_an_engine_has_its_words(state: str) -> None:
    assert wording.running(EngineView(facts=EngineFacts(state))).endswith(".")


def test_it_is_watched_only_while_it_is_seen(page: EnginePage, intents: RecordedIntents) -> None:
    page.hide()
    page.show()
    assert [call for call in intents.calls if call[0] == "watch"] == [("watch", False), ("watch", True)]


def test_a_folder_of_ones_own_is_added_by_key_or_button_and_listed_with_what_may_be_done(
    page: EnginePage, intents: RecordedIntents
) -> None:
    assert not page.folder.add.isEnabled()
    page.activateWindow()
    QTest.keyClick(page, Qt.Key.Key_F, Qt.KeyboardModifier.AltModifier)
    assert page.folder.path.hasFocus()
    QTest.keyClicks(page.folder.path, "~/models/mine")
    QTest.keyClick(page.folder.path, Qt.Key.Key_Return)
    page.folder.add.click()
    assert intents.calls == [("add_folder", "~/models/mine")] * 2
    show(page, replace(VIEW, work=Work.CHECKING, about=OWN.name))
    assert page.work.words.text().replace("\u200b", "") == f"Looking into {OWN.name}"
    show(page, replace(VIEW, models=(*VIEW.models, OWN)))
    assert page.folder.path.text() == ""
    assert page.selected == OWN
    assert rows(page)[3] == ["mine", "99 languages", "967 MB", "not measured", "your folder"]
    assert page.model.itemText(page.model.findData(OWN.name)) == "mine, 99 languages"
    assert OWN.name in page.about.text().replace("\u200b", "")
    assert (page.fetch.isEnabled(), page.remove.text()) == (False, "&Remove from the list")
    assert page.remove.accessibleName() == "Remove mine from the list"
    intents.calls.clear()
    page.measure.click()
    page.remove.click()
    assert intents.calls == [("measure", OWN.name), ("remove", OWN.name)]


def test_a_folder_in_use_is_told_apart_from_a_model_that_is_called_alike_and_stays_in_the_list(
    page: EnginePage,
) -> None:
    alike = replace(OWN, name="/elsewhere/tiny.en", title="tiny.en", told_as="tiny.en")
    show(page, replace(VIEW, models=(TINY, alike), model=alike.name))
    assert [row[4] for row in rows(page)] == ["installed", "in use"]
    select(page, 1)
    assert not page.remove.isEnabled()
    show(page, replace(VIEW, models=(TINY, alike)))
    assert [row[4] for row in rows(page)] == ["in use", "your folder"]
    assert page.remove.isEnabled()


def test_why_a_folder_is_not_taken_is_told_and_what_was_typed_stays(page: EnginePage) -> None:
    page.folder.path.setText("~/notes")
    show(page, replace(VIEW, work=Work.CHECKING, about="/home/ada/notes"))
    show(page, replace(VIEW, fault="/home/ada/notes holds no model."))
    assert page.fault.text() == "/home/ada/notes holds no model."
    assert page.folder.path.text() == "~/notes"
    draft = page.draft()
    assert draft is not None
    page.folder.path.clear()
    assert page.draft() is None
    page.take_up(draft)
    assert page.folder.path.text() == "~/notes"


def test_a_folder_that_has_gone_says_why_and_can_be_taken_off_the_list(page: EnginePage) -> None:
    gone = replace(OWN, installed=False, languages=(), download_bytes=0, memory_bytes=0, fault="There is no folder.")
    show(page, replace(VIEW, models=(*VIEW.models, gone)))
    assert rows(page)[3] == ["mine", "", "", "", "cannot be used"]
    select(page, 3)
    assert page.about.text() == "There is no folder."
    assert [page.fetch.isEnabled(), page.measure.isEnabled(), page.remove.isEnabled()] == [False, False, True]
    assert page.model.findData(OWN.name) == -1


def test_which_folder_is_asked_beside_a_window_that_goes_on(
    page: EnginePage, intents: RecordedIntents, qtbot: QtBot, tmp_path: Path
) -> None:
    QTest.keyClick(page.folder.choose, Qt.Key.Key_Space)
    dialog = page.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    assert dialog.fileMode() is QFileDialog.FileMode.Directory
    dialog.fileSelected.emit(str(tmp_path))
    assert intents.calls == [("add_folder", str(tmp_path))]
    dialog.reject()
    qtbot.waitUntil(lambda: not page.findChildren(QFileDialog), timeout=15_000)


def test_every_control_is_reached_by_tab_and_has_a_name(page: EnginePage, qtbot: QtBot) -> None:
    page.activateWindow()
    page.model.setFocus()
    select(page, 2)
    page.folder.path.setText("~/models/mine")
    field = page.folder
    wanted: list[QWidget] = [page.device, page.threads, field.path, field.choose, field.add, page.list]
    wanted += [page.fetch, page.remove]
    reached = []
    for _ in range(11):
        QTest.keyClick(page.window().focusWidget() or page, Qt.Key.Key_Tab)
        reached.append(page.window().focusWidget())
    assert [each for each in reached if each in wanted][: len(wanted)] == wanted
    for control in (page.model, *wanted):
        assert QAccessible.queryAccessibleInterface(control).text(QAccessible.Text.Name).strip(), control
