"""Sayso as a user has it: started on a desktop, spoken to through a microphone, read and worked through its window.

The window is read as a screen reader reads it, and worked as its user works it. Runs in the calling thread.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
from bounded import child, read_line, wait_for
from screen_reader import Element, GoneError, ScreenReader, screen_reader
from speech import say_to_file
from virtual_desktop import Microphone, VirtualDesktop
from wayland_desktop import WaylandDesktop

PROGRAM = ("-m", "sayso.app")
START_SECONDS = 60.0
"""Until the window says that it is ready; the engine loads on a machine that others may use."""

HEARD_SECONDS = 60.0
"""From the end of speech until its text or effect must be there; generous, since it is no measurement."""

BACK_SECONDS = START_SECONDS + HEARD_SECONDS
"""Until what is said to an engine that has ended is heard; it has to load first."""


@dataclass
class DesktopSession:
    """A running Sayso with its desktop and microphone."""

    desktop: VirtualDesktop
    reader: ScreenReader
    microphone: Microphone
    process: subprocess.Popen[bytes]
    log: Path

    def wait_for_headline(self, text: str, seconds: float = START_SECONDS) -> None:
        """Return when the window says this in its state line: `Ready`, `No microphone`, …"""
        self.reader.wait_for("label", text, seconds)

    def wait_for_server(self, text: str, seconds: float = START_SECONDS) -> None:
        """Return when the window says this about its server: `On this computer`, `Connected to …`."""
        self.reader.wait_for("label", text, seconds)

    def say(self, text: str, voice: str = "hibari") -> None:
        """Speak into the microphone, and return when it is said."""
        self.microphone.speak(say_to_file(text, voice))

    @property
    def lines(self) -> list[str]:
        """The utterances in the transcript, without their times."""
        shown = self.reader.find("text", "Transcript")
        return [line.split("\t", 1)[-1] for line in shown[0].text.splitlines()] if shown else []

    def wait_for_words(self, text: str, since: int = 0, seconds: float = HEARD_SECONDS) -> None:
        """Return when these words stand in the transcript after its first `since` lines, case and marks aside."""

        def there() -> bool:
            return words(text) in words(" ".join(self.lines[since:]))

        self.reader.wait_until(there, f"{text!r} in the transcript", seconds)

    def wait_until_heard(self) -> None:
        """Return when no utterance is open, so that what is said next is one of its own."""

        def through() -> bool:
            return all(any(mark in line for mark in "·→⚠") for line in self.lines)

        self.reader.wait_until(through, "the end of the utterance", HEARD_SECONDS)

    @property
    def actions(self) -> list[str]:
        """What the action feed tells, as `Title: state. …`, the oldest first."""
        return [each.name for each in reversed(self.reader.find("panel", "heard “"))]

    def wait_for_action(self, title: str, state: str = "done", since: int = 0, seconds: float = HEARD_SECONDS) -> None:
        """Return when an action after the first `since` ones has this title and state."""

        def told() -> bool:
            return any(each.startswith(f"{title}: {state}") for each in self.actions[since:])

        self.reader.wait_until(told, f"the action {title!r}: {state}", seconds)

    def use_remote(self, url: str, key: str) -> None:
        """Choose a remote server in the window: its address, its key, the button."""
        self.click("radio button", "Engine: Remote")
        self.reader.wait_for("text", "Address of the server").write(url)
        self.reader.wait_for("text", "Key of the server").write(key)
        self.reader.wait_for("push button", "Use this server").press()

    def use_embedded(self) -> None:
        """Choose the embedded engine in the window."""
        self.click("radio button", "Engine: Embedded")

    def click(self, role: str, name: str) -> None:
        """Bring the window to the front and click on something in it with the mouse."""
        self.desktop.focus(self.desktop.wait_for_window("Sayso"))
        self.desktop.xdotool("mousemove", *self.reader.wait_for(role, name).centre, "click", 1)

    def open_memory_page(self) -> None:
        """Settings, and the page about memory by its name, with keys alone."""
        desktop = self.desktop
        desktop.focus(desktop.wait_for_window("Sayso"))
        desktop.xdotool("key", "--clearmodifiers", "ctrl+comma")
        desktop.focus(desktop.wait_for_window("Settings"))
        desktop.xdotool("key", "--clearmodifiers", "ctrl+f")
        desktop.xdotool("type", "--delay", "20", "sessions and memory")
        desktop.xdotool("key", "Return")
        self.reader.wait_for("radio button", "Balanced")

    def quit(self, seconds: float = 60.0) -> int:
        """Close the window and return the exit status."""
        self.close_window()
        return self.process.wait(seconds)

    def close_window(self) -> None:
        """Close the window by its key, and return when it is gone."""

        def gone() -> bool:
            shown = [each for each in self.desktop.windows() if each.title == "Sayso"]
            # A busy window manager may miss a key; its user presses it again.
            for each in shown:
                with contextlib.suppress(AssertionError):  # It may have gone in this moment.
                    self.desktop.xdotool("windowactivate", each.id, "key", "--clearmodifiers", "alt+F4")
            return not shown

        self.desktop.focus(self.desktop.wait_for_window("Sayso"))
        wait_for(gone, "the window gone", pause=2.0)

    @property
    def family(self) -> list[psutil.Process]:
        """The processes that Sayso has started: its server and the engine."""
        return psutil.Process(self.process.pid).children(recursive=True)


def settings_file(desktop: VirtualDesktop | WaylandDesktop) -> Path:
    """Where Sayso keeps its settings on this desktop."""
    return desktop.folder / "home" / ".config" / "sayso" / "settings.json"


def words(text: str) -> str:
    """A text's words for comparing: small letters, no marks, single spaces."""
    return " ".join(re.findall(r"[a-z0-9']+", text.lower()))


@contextlib.contextmanager
def desktop_session(
    desktop: VirtualDesktop | WaylandDesktop,
    *,
    room_noise: bool = True,
    guided: bool = True,
    program: tuple[str, ...] = PROGRAM,
) -> Iterator[DesktopSession]:
    """Sayso started on this desktop with a microphone plugged in; ended, if it still runs, with the block.

    ``program`` is what Python runs. ``guided`` is for a user who has seen the guide before; without it, and without
    settings, Sayso opens it.
    """
    if guided and not settings_file(desktop).exists():
        settings_file(desktop).parent.mkdir(parents=True, exist_ok=True)
        settings_file(desktop).write_text('{"guided": true}')
    assert desktop.sound is not None
    microphone = desktop.sound.plug_microphone()
    log = desktop.folder / "sayso.log"
    with contextlib.ExitStack() as stack:
        stack.callback(desktop.sound.unplug, microphone)
        reader = stack.enter_context(screen_reader(desktop))
        if room_noise:
            stack.enter_context(microphone.room_noise())
        process = stack.enter_context(child([sys.executable, *program], desktop.environment, log))
        session = DesktopSession(desktop, reader, microphone, process, log)
        try:
            yield session
        except BaseException:
            _tell(session)
            raise


def _tell(session: DesktopSession) -> None:
    """Print what a failing test's reader needs: the window as it was, and the log."""
    with contextlib.suppress(GoneError, OSError):
        print(f"--- window\n{session.reader.outline()}")
    print(f"--- exit status {session.process.poll()}, log\n{session.log.read_text()[-4000:]}")


@dataclass
class RemoteServer:
    """A running `sayso serve`."""

    url: str
    key: str
    process: subprocess.Popen[bytes]


@contextlib.contextmanager
def remote_server(desktop: VirtualDesktop, key: str = "key-of-the-tests") -> Iterator[RemoteServer]:
    """`sayso serve` on a free port, ready to transcribe, for as long as the block runs."""
    key_file = desktop.folder / "server.key"
    key_file.write_text(key)
    key_file.chmod(0o600)
    log = desktop.folder / "serve.log"
    log.unlink(missing_ok=True)
    command = [Path(sys.executable).with_name("sayso"), "serve", "--port", "0", "--api-key-file", key_file]
    with child(command, desktop.environment, log, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            line = read_line(process.stdout.fileno(), "the server's line", START_SECONDS)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{log.read_text()}") from None
        yield RemoteServer(line.removeprefix("listening on "), key, process)


def connections(server: RemoteServer) -> int:
    """How many clients a server has."""
    import httpx

    address = server.url.replace("ws://", "http://").replace("/v1/realtime", "/health")
    return int(httpx.get(address, headers={"Authorization": f"Bearer {server.key}"}, timeout=10).json()["sessions"])


def all_ended(processes: list[psutil.Process], seconds: float = 60.0) -> None:
    """Return when none of these processes is left."""

    def running() -> list[psutil.Process]:
        return [each for each in processes if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]

    wait_for(lambda: not running(), f"the end of {processes}", seconds)


__all__ = [
    "DesktopSession",
    "Element",
    "RemoteServer",
    "all_ended",
    "connections",
    "desktop_session",
    "remote_server",
    "settings_file",
]
