"""On the real desktop, by keyboard: what is typed into the settings and not used outlives their window, in no file."""

from __future__ import annotations

from pathlib import Path

from integration.desktop_session import DesktopSession, desktop_session, settings_file
from virtual_desktop import virtual_desktop

ADDRESS, KEY = "speech.invalid:8443", "key-that-nobody-used"


def open_server_page(session: DesktopSession) -> None:
    desktop = session.desktop
    desktop.focus(desktop.wait_for_window("Sayso"))
    desktop.xdotool("key", "--clearmodifiers", "ctrl+comma")
    desktop.focus(desktop.wait_for_window("Settings"))
    desktop.xdotool("key", "--clearmodifiers", "ctrl+f")
    desktop.xdotool("type", "--delay", "20", "key of the server")
    desktop.xdotool("key", "Return")
    session.reader.wait_for("radio button", "Server: Remote")


def close_settings(session: DesktopSession) -> None:
    window = session.desktop.wait_for_window("Settings")
    session.desktop.focus(window)
    session.desktop.xdotool("key", "Escape")
    session.desktop.wait_until_closed(window)


def files_with(text: str, folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_an_address_and_a_key_that_were_typed_are_there_again_and_in_no_file() -> None:
    with virtual_desktop() as desktop:
        settings_file(desktop).parent.mkdir(parents=True)
        settings_file(desktop).write_text('{"guided": true, "listens_at_start": false}')
        with desktop_session(desktop, room_noise=False) as session:
            session.wait_for_headline("Not listening")
            open_server_page(session)
            remote = session.reader.wait_for("radio button", "Server: Remote")
            desktop.focus(desktop.wait_for_window("Settings"))
            desktop.xdotool("mousemove", *remote.centre, "click", 1)
            address = session.reader.wait_for("text", "Address of the server")
            desktop.xdotool("mousemove", *address.centre, "click", 1)
            desktop.xdotool("type", "--delay", "20", ADDRESS)
            desktop.xdotool("key", "Tab")
            desktop.xdotool("type", "--delay", "20", KEY)
            session.reader.wait_for("label", "Not in use yet: the address and the key")
            close_settings(session)
            session.reader.wait_for(
                "label", "Typed in the settings and not in use: the address and the key of a server"
            )
            open_server_page(session)
            session.reader.wait_until(
                lambda: any(each.text == ADDRESS for each in session.reader.find("text", "Address of the server")),
                "the address that was typed",
            )
            session.reader.wait_for("label", "Not in use yet: the address and the key")
            assert files_with(KEY, desktop.folder / "home") == []
            assert KEY not in session.log.read_text()
            close_settings(session)
            assert session.quit() == 0
            assert files_with(KEY, desktop.folder / "home") == []
