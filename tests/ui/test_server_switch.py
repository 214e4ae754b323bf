from __future__ import annotations

from dataclasses import replace

import scenes
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from sayso.app.snapshot import ServerState
from sayso.ui.server_switch import ServerSwitch
from sayso.ui.theme import Theme

EMBEDDED, REMOTE = 0, 1


class Chosen:
    def __init__(self, switch: ServerSwitch) -> None:
        self.calls: list[tuple[str, ...]] = []
        switch.embedded_chosen.connect(lambda: self.calls.append(("embedded",)))
        switch.remote_chosen.connect(lambda url, key: self.calls.append(("remote", url, key)))


def switch(qtbot: QtBot, theme: Theme) -> ServerSwitch:
    result = ServerSwitch(theme)
    qtbot.addWidget(result)
    result.show_server(scenes.EMBEDDED)
    with qtbot.waitExposed(result):
        result.show()
    return result


def test_remote_opens_the_fields_and_calls_nobody_yet(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    chosen = Chosen(part)
    assert not part.fields.isVisible()
    part.segments.buttons[REMOTE].click()
    assert part.fields.isVisible()
    assert chosen.calls == []


def test_enter_applies_a_checked_address_and_the_window_forgets_the_key(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    chosen = Chosen(part)
    part.segments.buttons[REMOTE].click()
    part.fields.address.setText("localhost:8000")
    part.fields.key.setText("secret")
    qtbot.keyClick(part.fields.key, Qt.Key.Key_Return)
    assert chosen.calls == [("remote", "ws://localhost:8000/v1/realtime", "secret")]
    assert part.fields.key.text() == ""


def test_apply_does_the_same_as_enter(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    chosen = Chosen(part)
    part.segments.buttons[REMOTE].click()
    part.fields.address.setText("wss://speech.example.org")
    part.fields.apply.click()
    assert chosen.calls == [("remote", "wss://speech.example.org/v1/realtime", "")]


def test_a_wrong_address_is_explained_below_the_field_and_not_called(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    chosen = Chosen(part)
    part.segments.buttons[REMOTE].click()
    part.fields.address.setText("ftp://host")
    part.fields.apply.click()
    assert chosen.calls == []
    assert part.fields.message.isVisible()
    assert "ws://" in part.fields.message.text()
    qtbot.keyClicks(part.fields.address, "x")
    assert not part.fields.message.isVisible()


def test_snapshots_of_the_server_in_use_do_not_take_back_a_half_typed_choice(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    part.segments.buttons[REMOTE].click()
    qtbot.keyClicks(part.fields.address, "ws://some")
    part.show_server(replace(scenes.EMBEDDED, detail="something new"))
    assert part.segments.current() == REMOTE
    assert part.fields.address.text() == "ws://some"
    assert part.status.text().startswith("On this computer")


def test_embedded_takes_effect_at_once(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    part.show_server(scenes.REMOTE)
    chosen = Chosen(part)
    part.segments.buttons[EMBEDDED].click()
    assert chosen.calls == [("embedded",)]


def test_the_remote_server_in_use_is_shown_with_its_address(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    part.show_server(scenes.REMOTE)
    assert part.segments.current() == REMOTE
    assert part.fields.isVisible()
    assert part.fields.address.text() == scenes.REMOTE.url


def test_a_server_that_was_applied_is_left_with_the_next_one_that_is_in_use(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    part.segments.buttons[REMOTE].click()
    part.fields.address.setText(scenes.REMOTE.url)
    part.fields.apply.click()
    part.show_server(scenes.REMOTE)
    # As the settings or the tray do.
    part.show_server(scenes.EMBEDDED)
    assert part.segments.current() == EMBEDDED
    assert not part.fields.isVisible()


def test_the_servers_refusal_stands_below_the_fields_until_it_is_gone(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    refused = scenes.troubles().server
    part.show_server(refused)
    assert "does not accept this key" in part.fields.message.text()
    assert part.fields.message.isVisible()
    part.show_server(replace(refused, state=ServerState.READY, detail=""))
    assert not part.fields.message.isVisible()


def test_the_key_is_masked_until_it_is_asked_for(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    part.segments.buttons[REMOTE].click()
    part.fields.key.setText("secret")
    assert part.fields.key.displayText() != "secret"
    part.fields.show_key.click()
    assert part.fields.key.echoMode() is QLineEdit.EchoMode.Normal
    part.fields.apply.click()
    part.fields.address.setText("localhost:1")
    part.fields.apply.click()
    assert part.fields.key.echoMode() is QLineEdit.EchoMode.Password


def test_escape_drops_what_was_typed(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    assert not part.revert()
    part.segments.buttons[REMOTE].click()
    part.fields.key.setText("secret")
    assert part.revert()
    assert part.segments.current() == EMBEDDED
    assert not part.fields.isVisible()
    assert part.fields.key.text() == ""


def test_a_key_for_another_machine_without_encryption_is_warned_about(qtbot: QtBot, theme: Theme) -> None:
    part = switch(qtbot, theme)
    chosen = Chosen(part)
    part.segments.buttons[REMOTE].click()
    part.fields.address.setText("192.168.1.20:8000")
    part.fields.key.setText("secret")
    part.fields.apply.click()
    assert chosen.calls
    assert "unencrypted" in part.fields.message.text()
