"""The page of servers: a test only tells, using takes a press, and what is typed is read aloud as it will be called."""

from __future__ import annotations

from dataclasses import replace

import pytest
import scenes
from conftest import RecordedIntents
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from sayso.app.remote_server_view import Finding, KeyPlace, RemoteServerView
from sayso.app.snapshot import ServerState, Snapshot
from sayso.ui.server_page import ServerPage
from sayso.ui.theme import Theme
from sayso.ui.trial_result import sentence

EMBEDDED, REMOTE = 0, 1
URL = scenes.REMOTE.url
LOCAL = "ws://localhost:8000/v1/realtime"
WORKS = Finding(True, "works", "It works", facts=(("Server", "Sayso 0.1.0"),), models=("auto", "tiny.en", "base.en"))
FAULT = Finding(False, "key_wrong", "The key is wrong", "Type it again.")


def remote(servers: RemoteServerView | None = None, **changes: object) -> Snapshot:
    return scenes.snapshot(server=scenes.REMOTE, servers=servers or RemoteServerView(URL), **changes)


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, intents: RecordedIntents) -> ServerPage:
    made = ServerPage(intents, theme)
    qtbot.addWidget(made)
    made.resize(560, 500)
    made.show_snapshot(scenes.snapshot())
    with qtbot.waitExposed(made):
        made.show()
    return made


def type_address(page: ServerPage, text: str) -> None:
    page.kind.buttons[REMOTE].click()
    page.form.address.clear()
    QTest.keyClicks(page.form.address, text)


def test_opening_remote_calls_nobody_and_embedded_is_in_force_at_once(
    page: ServerPage, intents: RecordedIntents
) -> None:
    assert not page.form.isVisible()
    page.kind.buttons[REMOTE].click()
    assert page.form.isVisible()
    page.show_snapshot(scenes.snapshot(state=scenes.idle().state))
    assert page.form.isVisible()
    assert intents.calls == []
    page.kind.buttons[EMBEDDED].click()
    assert intents.calls == [("use_embedded",)]
    assert not page.form.isVisible()


@pytest.mark.parametrize(
    ("typed", "read"),
    [("localhost:8000", f"Read as {LOCAL}"), ("https://host/v1", "Read as wss://host/v1/realtime"), (LOCAL, "")],
)
def test_an_address_is_shown_as_it_will_be_called(page: ServerPage, typed: str, read: str) -> None:
    type_address(page, typed)
    assert page.form.reading.text().replace("\u200b", "") == read
    assert page.form.address.accessibleDescription() == read


def test_a_test_asks_for_a_trial_and_for_nothing_else(page: ServerPage, intents: RecordedIntents) -> None:
    type_address(page, "localhost:8000")
    page.form.key.setText("secret")
    page.form.model.setEditText("tiny.en")
    QTest.keyClick(page.form.address, Qt.Key.Key_Return)
    assert [call for call in intents.calls if call[0] != "look_for_key"] == [("try_server", LOCAL, "secret", "tiny.en")]
    assert page.form.key.text() == "secret"


def test_a_running_test_is_stopped_with_the_same_button(page: ServerPage, intents: RecordedIntents) -> None:
    page.show_snapshot(remote(RemoteServerView(URL, trying=True, tried_url=URL)))
    assert page.result.isVisible()
    assert page.form.test.text().replace("&", "") == "Stop the test"
    intents.calls.clear()
    page.form.test.click()
    assert intents.calls == [("stop_trial",)]


def test_using_a_server_hands_the_key_on_and_forgets_it(page: ServerPage, intents: RecordedIntents) -> None:
    type_address(page, "localhost:8000")
    page.form.key.setText("secret")
    page.form.show_key.click()
    page.form.use.click()
    assert ("use_remote", LOCAL, "secret", "") in intents.calls
    assert page.form.key.text() == ""
    assert page.form.key.echoMode() is QLineEdit.EchoMode.Password


def test_what_is_no_address_is_said_where_it_is_and_asks_for_nothing(
    page: ServerPage, intents: RecordedIntents
) -> None:
    type_address(page, "two words")
    page.form.use.click()
    assert page.form.reading.text() == "An address has no spaces."
    page.form.test.click()
    assert intents.calls == []


def test_the_result_is_shown_for_the_address_that_it_is_about(page: ServerPage) -> None:
    page.show_snapshot(remote(RemoteServerView(URL, tried_url=URL, finding=FAULT)))
    assert page.result.headline.text() == FAULT.headline
    assert page.result.advice.text() == FAULT.advice
    assert FAULT.headline in page.result.accessibleDescription()
    QTest.keyClicks(page.form.address, "x")
    assert not page.result.isVisible()
    QTest.keyClick(page.form.address, Qt.Key.Key_Backspace)
    assert page.result.isVisible()
    page.show_snapshot(remote(RemoteServerView(URL, tried_url=URL, finding=WORKS)))
    assert page.result.facts == WORKS.facts
    assert not page.result.advice.isVisible()


def test_the_models_that_a_server_lists_can_be_chosen(page: ServerPage, intents: RecordedIntents) -> None:
    page.show_snapshot(remote(RemoteServerView(URL, tried_url=URL, finding=WORKS)))
    model = page.form.model
    assert [model.itemText(index) for index in range(model.count())] == ["The server's own", "tiny.en", "base.en"]
    assert page.form.chosen_model == ""
    model.setCurrentIndex(2)
    page.form.use.click()
    assert intents.calls[-1] == ("use_remote", URL, "", "base.en")


def test_a_kept_key_is_shown_as_dots_and_can_be_removed(page: ServerPage, intents: RecordedIntents) -> None:
    page.show_snapshot(remote())
    assert ("look_for_key", URL) in intents.calls
    assert not page.form.remove.isVisible()
    page.show_snapshot(remote(RemoteServerView(URL, key_url=URL, key_place=KeyPlace.KEYRING)))
    assert "keyring" in page.form.kept.text()
    assert page.form.key.placeholderText().startswith("●")
    page.form.remove.click()
    assert intents.calls[-1] == ("remove_key", URL)
    page.show_snapshot(remote(RemoteServerView(URL, key_url="ws://other/v1/realtime", key_place=KeyPlace.KEYRING)))
    assert not page.form.remove.isVisible()


def test_what_a_person_types_stays_when_snapshots_come(page: ServerPage) -> None:
    page.show_snapshot(remote())
    assert page.form.address.text() == URL
    page.form.address.selectAll()
    QTest.keyClicks(page.form.address, "other:1")
    page.show_snapshot(replace(remote(), server=replace(scenes.REMOTE, state=ServerState.LOST, detail="Lost.")))
    assert page.form.address.text() == "other:1"
    assert page.problem.text() == "Lost."


def test_a_finding_is_read_out_whole() -> None:
    assert sentence(FAULT) == "The key is wrong. Type it again."
    assert sentence(WORKS) == "It works. Server Sayso 0.1.0."
