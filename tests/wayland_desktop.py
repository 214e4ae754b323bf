"""A private Wayland session for tests: sway without a screen, D-Bus session and home, with a sound server of its own.

What a user of Wayland gives a program: no X display, and windows that only the compositor can see, place and work. The
compositor is asked over its own socket, through ``swaymsg``. Every wait has a limit; everything that was started is
ended with the block. Runs in the calling thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bounded import child, wait_for
from virtual_desktop import private_environment, started_bus
from virtual_sound import VirtualSound, virtual_sound

_AN_HOUR_MS = "3600000"
_CONFIGURATION = """\
xwayland {xwayland}
output HEADLESS-1 resolution {width}x{height} position 0 0 bg #405060 solid_color
default_border none
focus_follows_mouse no
"""


def why_not() -> str:
    """Why no compositor can be started here; empty where one can."""
    if subprocess.run([*_disguise(), "true"], capture_output=True, check=False).returncode:
        return "sway does not run as root, and this machine allows no namespace for users"
    return ""


def _disguise() -> list[str]:
    return ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.getuid() == 0 else []


@dataclass
class WaylandDesktop:
    """A running compositor; ``environment`` is what a child needs to be on it and on no other."""

    environment: dict[str, str]
    folder: Path
    sound: VirtualSound

    def message(self, *words: str) -> Any:
        """What the compositor answers to a command or, after ``-t``, to a question."""
        command = ["swaymsg", "-r", *words]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=20, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return json.loads(done.stdout)

    def windows(self) -> list[dict[str, Any]]:
        """The windows that the compositor shows, as it tells of them: name, app_id, pid, focused, rect, …"""
        return [node for node in _nodes(self.message("-t", "get_tree")) if node.get("pid")]

    def wait_for_window(self, title: str, seconds: float = 20.0) -> dict[str, Any]:
        """The first window whose title contains ``title``, as soon as there is one."""
        fitting = lambda: [each for each in self.windows() if title in (each["name"] or "")]  # noqa: E731
        return wait_for(fitting, f"a window titled {title!r}", seconds)[0]


@contextlib.contextmanager
def wayland_desktop(
    size: tuple[int, int] = (1280, 800), *, xwayland: bool = False, more: Sequence[str] = ()
) -> Iterator[WaylandDesktop]:
    """A Wayland session of its own for as long as the block runs; ``more`` are lines of sway's configuration."""
    folder = Path(tempfile.mkdtemp(prefix="wayland-"))
    try:
        with contextlib.ExitStack() as stack:
            environment = private_environment(folder)
            sound = stack.enter_context(virtual_sound(environment))
            environment = sound.environment
            environment["DBUS_SESSION_BUS_ADDRESS"] = stack.enter_context(started_bus(environment, folder))
            environment |= {"XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "sway"}
            environment |= stack.enter_context(_compositor(environment, folder, size, xwayland, more))
            # A keyboard that nobody presses: with none at all no window is ever the active one.
            stack.enter_context(child(["wtype", "-s", _AN_HOUR_MS], environment, folder / "keyboard.log"))
            yield WaylandDesktop(environment, folder, sound)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _compositor(
    environment: dict[str, str], folder: Path, size: tuple[int, int], xwayland: bool, more: Sequence[str]
) -> Iterator[dict[str, str]]:
    """Sway, drawing in memory and without a keyboard or mouse of the machine's."""
    told = folder / "told"
    configuration = folder / "sway.conf"
    text = _CONFIGURATION.format(xwayland="enable" if xwayland else "disable", width=size[0], height=size[1])
    tell = f"exec sh -c 'echo \"$WAYLAND_DISPLAY $SWAYSOCK $DISPLAY\" > {told}.new && mv {told}.new {told}'"
    configuration.write_text("\n".join([text, *more, tell, ""]))
    alone = {"WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"}
    # Sway refuses to run as root; in a namespace of its own it runs as somebody else, and so does what it starts.
    with child([*_disguise(), "sway", "-c", configuration], {**environment, **alone}, folder / "sway.log"):
        wait_for(told.exists, "the compositor", 20)
        names = ("WAYLAND_DISPLAY", "SWAYSOCK", "DISPLAY")
        yield dict(zip(names, told.read_text().split(), strict=False))


def _nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield tree
    for each in (*tree.get("nodes", ()), *tree.get("floating_nodes", ())):
        yield from _nodes(each)
