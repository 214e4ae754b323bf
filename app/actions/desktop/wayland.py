"""Wayland sessions: a program sees no window but its own, and gets what the session offers otherwise.

Text and keys go to whatever window has the keyboard, through wtype where that is installed and the compositor lets it;
else text goes to the clipboard, through wl-clipboard. Keys sent to an X display beside it would reach old programs
only, and are never tried. Pictures of the screen come from the desktop's portal. One worker thread at a time.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sayso.app.actions.bus import Bus
from sayso.app.actions.desktop.base import IN_FRONT, Chord, Window
from sayso.app.actions.desktop.none import Need, Refusing
from sayso.app.actions.desktop.wayland_programs import TYPES, copy, picture, press_keys, program, type_text
from sayso.app.actions.errors import ActionError
from sayso.app.actions.portal import ask

_SCREENSHOT = "org.freedesktop.portal.Screenshot"
_PNG = b"\x89PNG"
_ELSEWHERE = "Use your desktop's own keys for that, or log in with an X11 session where your system has one."
_REASONS = {
    Need.WINDOWS: f"Wayland lets no program see or move the windows of others. {_ELSEWHERE}",
    Need.WORKSPACES: f"Wayland lets no program change workspaces. {_ELSEWHERE}",
    Need.WHEEL: "Wayland lets no program turn the wheel for others. Say “press page down” or “press page up” instead.",
}
_NO_PORTAL = ("no_bus", "service_absent", "service_refused")
_NO_PICTURES = (
    "This desktop gives Sayso no pictures of the screen: its portal (xdg-desktop-portal) has none. "
    "Use the desktop's own key for that, or install grim (Sway, Hyprland and others like them)."
)
_WITHOUT_WTYPE = {"gnome": "GNOME", "kde": "KDE Plasma"}
"""Desktops that do not know the protocol which wtype speaks, by what XDG_CURRENT_DESKTOP has."""


class Wayland(Refusing):
    """See ``base.Backend``. ``own_has_keyboard`` tells whether one of our own windows has it; the session does not."""

    def __init__(self, environment: Mapping[str, str], own_has_keyboard: Callable[[], bool] = lambda: False) -> None:
        super().__init__("wayland", without_keys(environment), _REASONS)
        self._environment = dict(environment)
        self._own_has_keyboard = own_has_keyboard

    def active_window(self) -> Window | None:
        """A stand-in for the window in front, where text or keys can get to it at all."""
        if program(TYPES, self._environment) is None:
            self._refuse(Need.KEYS)
        if self._own_has_keyboard():
            raise ActionError("own_window", "Sayso's own window has the keyboard. Click into the one that is meant.")
        return IN_FRONT

    def activate(self, window: int, halt: threading.Event) -> None:
        if window != IN_FRONT.id:
            self._refuse(Need.WINDOWS)

    def has_keys_for(self, text: str) -> bool:
        """wtype brings a keyboard of its own, which has every character that is typed."""
        return True

    def type_text(self, text: str, window: int, halt: threading.Event) -> None:
        type_text(text, self._environment, halt)

    def press(self, chord: Chord, times: int, window: int | None, halt: threading.Event) -> None:
        press_keys(chord, times, self._environment, halt)

    def copy(self, text: str, halt: threading.Event) -> None:
        copy(text, self._environment, halt)

    def picture(self, halt: threading.Event) -> bytes:
        """From the desktop's portal, which may ask the user; from grim where there is none."""
        try:
            content: bytes | None = self._portal_picture(halt)
        except ActionError as error:
            if error.code not in _NO_PORTAL:
                raise
            content = picture(self._environment)
        if content is None:
            raise ActionError("no_portal", _NO_PICTURES)
        if not content.startswith(_PNG):
            raise ActionError("no_picture", "The desktop gave a picture of a kind that Sayso does not know.")
        return content

    def _portal_picture(self, halt: threading.Event) -> bytes:
        """The portal keeps a file of its own, which is taken away: the picture is ours to keep."""
        session = Bus(self._environment.get("DBUS_SESSION_BUS_ADDRESS", ""))
        results = ask(session, _SCREENSHOT, "Screenshot", ("", {}), halt, signature="sa{sv}")
        file = Path(unquote(urlsplit(str(results.get("uri", ("s", ""))[1])).path))
        try:
            content = file.read_bytes()
        except OSError as error:
            raise ActionError("no_picture", "The desktop's picture of the screen cannot be read.") from error
        with contextlib.suppress(OSError):
            file.unlink()
        return content

    @property
    def told(self) -> str:
        """What works and what does not, in words for people."""
        types = program(TYPES, self._environment) is not None
        keys = "keys and text go through wtype, where the compositor takes them." if types else self._reason
        return f"a Wayland session: {keys} Windows and workspaces cannot be reached."


def without_keys(environment: Mapping[str, str]) -> str:
    """Why nothing can be typed, and what to do, by the desktop that it is."""
    desktops = environment.get("XDG_CURRENT_DESKTOP", "").casefold().split(":")
    known = next((title for name, title in _WITHOUT_WTYPE.items() if name in desktops), "")
    if known:
        return f"On Wayland, {known} lets no program type or press keys for others."
    return "On Wayland Sayso types and presses keys with the program wtype: install it."
