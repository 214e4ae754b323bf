"""Whether a window can open at all, found out before Qt is asked: Qt ends the process when it cannot.

``require_display`` looks for a display that answers and costs a millisecond; ``require_libraries`` loads the part of Qt
that talks to it, so that a missing system library is named together with its package. No Qt is imported at the top.
"""

from __future__ import annotations

import ctypes
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from sayso.ui.errors import UiError

_TIMEOUT_S = 2.0
_ELSEWHERE = "Or use “sayso listen” in a terminal, or “sayso serve” to serve other machines."
_PLUGINS = {"xcb": "libqxcb.so", "wayland": "libqwayland.so"}
_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libglx0",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""Shared libraries that Qt's wheels expect from the system, and their packages on Debian and Ubuntu."""


class DisplayError(UiError):
    """Codes: no_display, display_unreachable, display_refused, library_missing."""


def require_display(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The Qt platforms whose display answers, the session's own first; nothing where Qt needs no display of ours.

    Raises DisplayError when there is none.
    """
    if not sys.platform.startswith("linux") or environment.get("QT_QPA_PLATFORM"):
        return ()
    wayland, x11 = environment.get("WAYLAND_DISPLAY", ""), environment.get("DISPLAY", "")
    if not wayland and not x11:
        raise DisplayError(
            "no_display",
            "Sayso needs a desktop session and found none (neither DISPLAY nor WAYLAND_DISPLAY is set): start it "
            f"inside your desktop. {_ELSEWHERE}",
        )
    found = []
    if wayland and _answers(_wayland_sockets(wayland, environment)):
        found.append("wayland")
    if x11 and _answers(_x11_sockets(x11)):
        found.append("xcb")
    if not found:
        named = " and ".join(name for name in (wayland, x11) if name)
        raise DisplayError(
            "display_unreachable",
            f"The display {named} does not answer: start Sayso inside your running desktop session. {_ELSEWHERE}",
        )
    return tuple(found)


def require_access(platforms: tuple[str, ...]) -> None:
    """Raises DisplayError when the only display is an X server that does not let this user in."""
    if platforms != ("xcb",):
        return
    import xcffib
    import xcffib.xproto

    try:
        xcffib.connect().disconnect()
    except xcffib.ConnectionException as error:
        raise DisplayError(
            "display_refused",
            f"The display does not let this user in: start Sayso as the user whose desktop session it is. {_ELSEWHERE}",
        ) from error


def require_libraries(platforms: tuple[str, ...]) -> None:
    """Raises DisplayError with the library and its package when Qt cannot load what it needs on every platform."""
    try:
        import PySide6.QtWidgets
    except ImportError as error:
        raise DisplayError("library_missing", missing_library(str(error))) from error
    # An editable or relocated PySide6 may lie anywhere; its plugins lie beside it.
    plugins = Path(PySide6.QtWidgets.__file__).parent / "Qt" / "plugins" / "platforms"
    failures = [failure for platform in platforms if (failure := _load(plugins / _PLUGINS[platform]))]
    if platforms and len(failures) == len(platforms):
        raise DisplayError("library_missing", missing_library(failures[0]))


def missing_library(reason: str) -> str:
    """A loader's complaint as a sentence that says what to install."""
    found = re.search(r"lib[\w.+-]+\.so[\w.]*", reason)
    name = found.group() if found else ""
    if not name:
        return f"Qt cannot start: {reason}"
    package = _PACKAGES.get(name)
    if package is None:
        return f"Qt needs the system library {name}: install the package that has it."
    return f"Qt needs the system library {name}: install it, on Debian and Ubuntu with “sudo apt install {package}”."


def _load(plugin: Path) -> str:
    """Why a plugin cannot be loaded; empty when it can, or when this Qt does not have it as a file of its own."""
    if not plugin.exists():
        return ""
    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        return str(error)
    return ""


_Address = str | tuple[str, int]


def _wayland_sockets(name: str, environment: Mapping[str, str]) -> list[_Address]:
    folder = Path(environment.get("XDG_RUNTIME_DIR", "/"))
    return [str(folder / name)]


def _x11_sockets(name: str) -> list[_Address]:
    """Where an X server of this name may listen; an empty list for a name that is none."""
    match = re.fullmatch(r"(?:unix/?)?(?P<host>[^:]*):(?P<number>\d+)(?:\.\d+)?", name.removeprefix("unix/"))
    if match is None:
        return [name] if name.startswith("/") else []
    number = int(match["number"])
    if match["host"]:
        return [(match["host"], 6000 + number)]
    path = f"/tmp/.X11-unix/X{number}"
    return [path, f"\0{path}", ("localhost", 6000 + number)]


def _answers(addresses: list[_Address]) -> bool:
    return any(_connects(address) for address in addresses)


def _connects(address: _Address) -> bool:
    try:
        if isinstance(address, tuple):
            socket.create_connection(address, timeout=_TIMEOUT_S).close()
            return True
        with socket.socket(socket.AF_UNIX) as end:
            end.settimeout(_TIMEOUT_S)
            end.connect(address)
            return True
    except OSError:
        return False
