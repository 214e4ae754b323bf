"""A private desktop for tests: X display, window manager, D-Bus session and home, with a sound server of its own.

What a user's desktop gives a program, and nothing of the desktop the tests run on. Several copies run side by side, as
root too. Every wait has a limit; everything that was started is ended with the block. Runs in the calling thread.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import xcffib
import xcffib.randr
import xcffib.xproto
from bounded import child, read_line, wait_for
from PIL import Image, ImageGrab
from virtual_sound import Microphone, VirtualSound, virtual_sound

__all__ = ["Microphone", "Terminal", "VirtualDesktop", "VirtualSound", "Window", "virtual_desktop", "virtual_sound"]

# Variables that would let a child reach the desktop the tests run on.
_FOREIGN = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_CURRENT_DESKTOP")
_FOREIGN += ("XDG_SESSION_TYPE", "DESKTOP_SESSION", "QT_QPA_PLATFORM", "SESSION_MANAGER", "AT_SPI_BUS_ADDRESS")


@dataclass(frozen=True)
class Window:
    """A window of the virtual desktop, by its X identifier and its title."""

    id: int
    title: str


@dataclass
class Terminal:
    """An xterm whose program writes every byte typed to `output`."""

    title: str
    window: Window
    output: Path
    process: subprocess.Popen[bytes]

    @property
    def text(self) -> str:
        """What has been typed so far."""
        return self.output.read_text(errors="replace")

    def wait_for_text(self, text: str, seconds: float = 20.0) -> str:
        """All that was typed, as soon as `text` is in it."""
        wait_for(lambda: text in self.text, f"{text!r} typed into {self.title!r}; it has {self.text!r}", seconds)
        return self.text


@dataclass
class VirtualDesktop:
    """A running X display with openbox; `environment` is what a child needs to be on it and on no other."""

    display: str
    environment: dict[str, str]
    folder: Path
    sound: VirtualSound | None

    def xdotool(self, *arguments: str | int) -> str:
        """Run xdotool on this display and return what it printed; AssertionError when it fails."""
        command = ["xdotool", *map(str, arguments)]
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=20, check=False)
        assert result.returncode == 0, f"{shlex.join(command)}: {result.stderr.strip()}"
        return result.stdout.strip()

    def windows(self) -> list[Window]:
        """The windows the window manager knows, oldest first."""
        with _connection(self.display) as (connection, root):
            identifiers = _property(connection, root, "_NET_CLIENT_LIST")
            return [Window(each, _title(connection, each)) for each in _cardinals(identifiers)]

    def active_window(self) -> Window | None:
        """The window that has the keyboard."""
        with _connection(self.display) as (connection, root):
            active = [each for each in _cardinals(_property(connection, root, "_NET_ACTIVE_WINDOW")) if each]
            return Window(active[0], _title(connection, active[0])) if active else None

    def wait_for_window(self, title: str, seconds: float = 20.0) -> Window:
        """The first window whose title contains `title`, as soon as there is one."""

        def found() -> Window | None:
            return next((each for each in self.windows() if title in each.title), None)

        window = wait_for(found, f"a window titled {title!r}", seconds)
        assert window is not None
        return window

    def wait_until_closed(self, window: Window, seconds: float = 20.0) -> None:
        """Return when the window is gone."""
        gone = lambda: window.id not in [each.id for each in self.windows()]  # noqa: E731
        wait_for(gone, f"{window.title!r} to close", seconds)

    def focus(self, window: Window, seconds: float = 20.0) -> None:
        """Give a window the keyboard and return when it has it."""

        def focused() -> bool:
            self.xdotool("windowactivate", window.id)
            active = self.active_window()
            return active is not None and active.id == window.id

        wait_for(focused, f"{window.title!r} to have the keyboard", seconds, pause=0.1)

    def divide(self, *widths: int) -> None:
        """Make monitors of these widths of the display, side by side from its left; those of before are gone."""
        with _connection(self.display) as (connection, root):
            randr = connection(xcffib.randr.key)
            for monitor in randr.GetMonitors(root, True).reply().monitors:
                if not monitor.automatic:
                    randr.DeleteMonitor(root, monitor.name, is_checked=True).check()
            outputs = randr.GetScreenResources(root).reply().outputs
            height, left = connection.get_setup().roots[0].height_in_pixels, 0
            for number, width in enumerate(widths):
                name = f"monitor {number}"
                atom = connection.core.InternAtom(False, len(name), name).reply().atom
                # The display has one output; a monitor without any is as good.
                own = list(outputs) if number == 0 else []
                made = xcffib.randr.MonitorInfo.synthetic(
                    atom, number == 0, False, len(own), left, 0, width, height, width // 4, height // 4, own
                )
                randr.SetMonitor(root, made, is_checked=True).check()
                left += width

    def geometry(self, window: Window) -> tuple[int, int, int, int]:
        """Where a window is on the display: left, top, width and height in pixels."""
        shape = dict(line.split("=") for line in self.xdotool("getwindowgeometry", "--shell", window.id).splitlines())
        left, top, width, height = (int(shape[name]) for name in ("X", "Y", "WIDTH", "HEIGHT"))
        return left, top, width, height

    def screenshot(self, window: Window | None = None) -> Image.Image:
        """What is on the screen, or the part of it that a window takes up."""
        image = ImageGrab.grab(xdisplay=self.display)
        if window is None:
            return image
        left, top, width, height = self.geometry(window)
        return image.crop((left, top, min(left + width, image.width), min(top + height, image.height)))

    @contextlib.contextmanager
    def terminal(self, title: str = "typing target") -> Iterator[Terminal]:
        """An xterm with the keyboard's focus that keeps what is typed into it."""
        output = self.folder / f"{title.replace(' ', '-')}.typed"
        output.unlink(missing_ok=True)
        # Without canonical mode each byte reaches the file at once, erase and end-of-file characters too.
        program = f"stty -icanon -isig -icrnl min 1 && touch {shlex.quote(str(output))} && exec cat -u > {output}"
        command = ["xterm", "-T", title, "-geometry", "60x12+20+20", "-e", "sh", "-c", program]
        with child(command, self.environment, self.folder / "xterm.log") as process:
            window = self.wait_for_window(title)
            wait_for(output.exists, f"the program in {title!r}")
            self.focus(window)
            yield Terminal(title, window, output, process)


@contextlib.contextmanager
def virtual_desktop(
    size: tuple[int, int] = (1280, 800),
    *,
    sound: bool = True,
    window_manager: bool = True,
    session_bus: bool = True,
) -> Iterator[VirtualDesktop]:
    """A desktop of its own for as long as the block runs: display of `size` pixels, private home and runtime folder."""
    folder = Path(tempfile.mkdtemp(prefix="desktop-"))
    try:
        with contextlib.ExitStack() as stack:
            environment = private_environment(folder)
            server = stack.enter_context(virtual_sound(environment)) if sound else None
            if server is not None:
                environment = dict(server.environment)
            display = stack.enter_context(_display(size, environment, folder))
            environment["DISPLAY"] = display
            if server is not None:
                server.environment["DISPLAY"] = display
            if session_bus:
                environment["DBUS_SESSION_BUS_ADDRESS"] = stack.enter_context(started_bus(environment, folder))
            if window_manager:
                stack.enter_context(_window_manager(display, environment, folder))
            yield VirtualDesktop(display, environment, folder, server)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def private_environment(folder: Path) -> dict[str, str]:
    """What a child needs to find nothing of the machine's own session: a home and a runtime folder in ``folder``."""
    environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    for variable, name in {
        "HOME": "home",
        "XDG_RUNTIME_DIR": "run",
        "XDG_CONFIG_HOME": "home/.config",
        "XDG_DATA_HOME": "home/.local/share",
        "XDG_STATE_HOME": "home/.local/state",
        "XDG_CACHE_HOME": "home/.cache",
    }.items():
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        environment[variable] = str(folder / name)
    # No session bus may be found by looking around; one that is wanted is named.
    environment |= {"DBUS_SESSION_BUS_ADDRESS": "disabled:", "LC_ALL": "C.UTF-8", "XDG_SESSION_TYPE": "x11"}
    return environment


@contextlib.contextmanager
def _display(size: tuple[int, int], environment: Mapping[str, str], folder: Path) -> Iterator[str]:
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{size[0]}x{size[1]}x24"]
    command += ["-nolisten", "tcp", "-noreset", "-dpi", "96"]
    try:
        with child(command, environment, folder / "xvfb.log", pass_fds=[writing]):
            os.close(writing)
            yield ":" + read_line(reading, "Xvfb's display number", 20)
    finally:
        os.close(reading)


@contextlib.contextmanager
def started_bus(environment: Mapping[str, str], folder: Path) -> Iterator[str]:
    """A session bus of its own, by its address, for as long as the block runs."""
    command = ["dbus-daemon", "--session", "--nofork", "--print-address=1"]
    with child(command, environment, folder / "dbus.log", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield read_line(process.stdout.fileno(), "the session bus's address")


@contextlib.contextmanager
def _window_manager(display: str, environment: Mapping[str, str], folder: Path) -> Iterator[None]:
    def ready() -> bool:
        with _connection(display) as (connection, root):
            return bool(_cardinals(_property(connection, root, "_NET_SUPPORTING_WM_CHECK")))

    with child(["openbox", "--sm-disable"], environment, folder / "openbox.log"):
        wait_for(ready, "the window manager")
        yield


@contextlib.contextmanager
def _connection(display: str) -> Iterator[tuple[xcffib.Connection, int]]:
    connection = xcffib.connect(display=display)
    try:
        yield connection, connection.get_setup().roots[0].root
    finally:
        connection.disconnect()


def _property(connection: xcffib.Connection, window: int, name: str) -> bytes:
    atom = connection.core.InternAtom(False, len(name), name).reply().atom
    try:
        reply = connection.core.GetProperty(False, window, atom, xcffib.xproto.GetPropertyType.Any, 0, 4096).reply()
    except xcffib.xproto.WindowError:
        return b""  # It was closed between the list and this question.
    return bytes(bytearray(reply.value.buf()))


def _cardinals(value: bytes) -> tuple[int, ...]:
    return struct.unpack(f"={len(value) // 4}I", value)


def _title(connection: xcffib.Connection, window: int) -> str:
    title = _property(connection, window, "_NET_WM_NAME") or _property(connection, window, "WM_NAME")
    return title.decode("utf-8", "replace")
