"""Sayso in a panel's tray, on the real app: it says how it is, is worked from there, and goes there when closed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from bounded import wait_for
from integration.desktop_session import DesktopSession, desktop_session
from virtual_desktop import virtual_desktop
from virtual_tray import VirtualTray, virtual_tray

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(240)]


@dataclass
class Panel:
    """A running Sayso and the tray that its icon is in."""

    session: DesktopSession
    tray: VirtualTray

    def wait_for_tip(self, headline: str) -> None:
        wait_for(lambda: self.tray.get("ToolTip")[2] == f"Sayso: {headline}", f"the tip {headline!r}", 60)

    @property
    def picture(self) -> bytes:
        return bytes(max(self.tray.get("IconPixmap"))[2])

    @property
    def titles(self) -> list[str]:
        return [window.title for window in self.session.desktop.windows()]


@pytest.fixture
def panel() -> Iterator[Panel]:
    with (
        virtual_desktop() as desktop,
        virtual_tray(desktop.environment["DBUS_SESSION_BUS_ADDRESS"]) as tray,
        desktop_session(desktop) as session,
    ):
        tray.wait_for_icon()
        yield Panel(session, tray)


def test_a_closed_window_goes_to_the_tray_and_comes_back_from_there(panel: Panel) -> None:
    panel.wait_for_tip("Ready")
    ready = panel.picture
    panel.session.close_window()
    wait_for(lambda: panel.titles == [], "no window left")
    panel.tray.press("Stop listening")
    panel.wait_for_tip("Not listening")
    assert panel.picture != ready
    panel.tray.press("Show window")
    panel.session.desktop.wait_for_window("Sayso")
    panel.session.reader.wait_for("push button", "Dismiss: Sayso goes on in the tray. Quit is in its menu there")
    panel.tray.press("Quit")
    assert panel.session.process.wait(20) == 0
    assert "Traceback" not in panel.session.log.read_text()
