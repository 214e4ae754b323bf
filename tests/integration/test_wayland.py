"""Sayso in a Wayland session without any X display, beside another program: a real compositor, real keys, real speech.

One Sayso goes through all of it, in this order.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from bounded import child, wait_for
from integration.desktop_session import DesktopSession, desktop_session, words
from played_service import PlayedService, played
from wayland_desktop import WaylandDesktop, wayland_desktop, why_not

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(240)]

NOTIFICATIONS = "org.freedesktop.Notifications"
TARGET = "A program to type into"
PROGRAM = f"""
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget
application = QApplication([])
window, editor, password = QWidget(), QPlainTextEdit(), QLineEdit()
window.setWindowTitle({TARGET!r})
editor.setAccessibleName({TARGET!r})
editor.setTabChangesFocus(True)
password.setEchoMode(QLineEdit.EchoMode.Password)
password.setAccessibleName("Password")
column = QVBoxLayout(window)
column.addWidget(editor)
column.addWidget(password)
window.show()
application.exec()
"""


@dataclass
class Session:
    """A running Sayso, another program in front of it, and the desktop's messages."""

    sayso: DesktopSession
    desktop: WaylandDesktop
    messages: PlayedService

    @property
    def typed(self) -> str:
        return self.sayso.reader.wait_for("text", TARGET).text

    @property
    def in_front(self) -> list[str]:
        return [window["name"] for window in self.desktop.windows() if window["focused"]]

    def wait_for_message(self, text: str) -> None:
        told = lambda: any(text in body[3] for body in self.messages.called("Notify"))  # noqa: E731
        wait_for(told, f"a message with {text!r}", 20)

    def press(self, key: str) -> None:
        """Press a key of the keyboard."""
        subprocess.run(["wtype", "-s", "100", "-k", key], env=self.desktop.environment, timeout=10, check=True)

    def command(self, word: str) -> None:
        """Have the compositor run one of our commands, as a key that is bound to it does."""
        self.desktop.message("exec", f"{Path(sys.executable).with_name('sayso')} {word}")


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    if reason := why_not():
        pytest.skip(reason)
    messages = PlayedService(on_call=lambda method, body: ("u", (1,)))
    with (
        wayland_desktop() as desktop,
        played(desktop.environment["DBUS_SESSION_BUS_ADDRESS"], NOTIFICATIONS, messages),
        desktop_session(desktop) as sayso,
    ):
        desktop.wait_for_window("Sayso")
        with child([sys.executable, "-c", PROGRAM], desktop.environment, desktop.folder / "target.log"):
            desktop.wait_for_window(TARGET)
            sayso.wait_for_headline("Ready")
            yield Session(sayso, desktop, messages)


def test_spoken_text_goes_into_the_program_in_front_and_nothing_of_ours_takes_its_place(session: Session) -> None:
    windows = {window["name"]: window for window in session.desktop.windows()}
    assert set(windows) == {"Sayso", TARGET}
    # By this name the desktop finds our entry among the applications, and with it the icon and the key.
    assert windows["Sayso"]["app_id"] == "sayso.Desktop"
    session.sayso.say("type hello world")
    session.sayso.wait_for_action("Type text", "done. 11 characters typed into the window in front")
    assert words(session.typed) == "hello world"
    assert session.in_front == [TARGET]
    assert len(session.desktop.windows()) == 2


def test_nothing_is_typed_into_a_password_field_of_the_window_in_front(session: Session) -> None:
    session.press("Tab")
    password = session.sayso.reader.wait_for("text", "Password", 20)
    session.sayso.reader.wait_until(lambda: password.has_state("focused"), "the password field with the keyboard")
    session.sayso.say("type hello again")
    session.sayso.wait_for_action("Type text", "failed. A password field has the keyboard")
    assert password.text == ""
    session.press("Tab")


def test_what_wayland_has_no_way_for_is_refused_and_told_where_it_can_be_seen(session: Session) -> None:
    session.sayso.say("close window")
    session.sayso.wait_for_action("Close the window in front", "failed. Wayland lets no program see or move")
    session.wait_for_message("Close the window in front: Wayland lets no program see or move")
    assert session.in_front == [TARGET]


def test_commands_that_the_compositor_runs_work_it(session: Session) -> None:
    session.command("toggle")
    session.sayso.wait_for_headline("Not listening")
    session.wait_for_message("Not listening")
    session.command("start")
    session.sayso.wait_for_headline("Ready")
    assert session.in_front == [TARGET]
    session.command("show")
    wait_for(lambda: session.in_front == ["Sayso"], "our window in front")


def test_nothing_is_typed_into_our_own_window(session: Session) -> None:
    told = len(session.messages.called("Notify"))
    typed = session.typed
    session.sayso.say("type hello again")
    session.sayso.reader.wait_until(
        lambda: any("Sayso's own window has the keyboard" in each for each in session.sayso.actions), "the refusal"
    )
    assert session.typed == typed
    # Whoever looks at our window is told there.
    assert len(session.messages.called("Notify")) == told
