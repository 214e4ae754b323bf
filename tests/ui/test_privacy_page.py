"""The page of privacy: what is told follows the snapshot, and what can be cleared is cleared with a press."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import scenes
from conftest import RecordedIntents
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot

from sayso.app.history.view import HistoryView
from sayso.app.remote_server_view import KeyPlace, RemoteServerView
from sayso.app.snapshot import Snapshot
from sayso.ui.privacy_page import PrivacyPage
from sayso.ui.theme import Theme

URL = scenes.REMOTE.url


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, intents: RecordedIntents) -> PrivacyPage:
    made = PrivacyPage(intents, theme)
    qtbot.addWidget(made)
    made.show_snapshot(scenes.empty())
    with qtbot.waitExposed(made):
        made.show()
    intents.calls.clear()
    return made


def remote() -> Snapshot:
    servers = RemoteServerView(URL, key_url=URL, key_place=KeyPlace.KEYRING)
    return replace(scenes.listening(), server=scenes.REMOTE, servers=servers)


def test_with_nothing_said_and_no_key_there_is_nothing_to_clear(page: PrivacyPage) -> None:
    assert page.leaves.text().startswith("Nothing that you say")
    assert page.nothing.isVisible()
    assert not page.forget.isVisible()
    assert not page.remove_key.isVisible()


def test_what_was_said_and_the_key_are_cleared_with_a_press(page: PrivacyPage, intents: RecordedIntents) -> None:
    page.show_snapshot(remote())
    assert page.leaves.property("tone") == "waiting"
    assert not page.nothing.isVisible()
    page.forget.click()
    page.remove_key.click()
    assert intents.calls == [("forget_session",), ("remove_key", URL)]


def test_the_way_to_the_page_of_servers(qtbot: QtBot, page: PrivacyPage) -> None:
    with qtbot.waitSignal(page.page_wanted) as asked:
        page.change.click()
    assert asked.args == ["Server"]


def test_a_folder_is_opened_by_the_desktop_or_its_place_is_said(
    page: PrivacyPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def opens(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return len(opened) == 1

    monkeypatch.setattr(QDesktopServices, "openUrl", opens)
    history = HistoryView(7, 1, place=str(tmp_path / "history.db"))
    page.show_snapshot(replace(scenes.empty(), history=history))
    button = page._rows["History"].button
    assert button.isVisible()
    button.click()
    assert opened == [str(tmp_path)]
    assert not page.opened.isVisible()
    button.click()
    assert str(tmp_path) in page.opened.text().replace("\u200b", "")
    page.show_snapshot(replace(scenes.empty(), history=replace(history, place=str(tmp_path / "none" / "history.db"))))
    button.click()
    assert "does not exist yet" in page.opened.text().replace("\u200b", "")
    assert len(opened) == 2
