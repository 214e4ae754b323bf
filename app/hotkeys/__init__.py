"""Keys that work whichever program has the focus: ``shortcut`` names them, one module for each kind of desktop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from sayso.app.hotkeys.base import Hotkeys, KeyEvent
from sayso.app.hotkeys.none import NoHotkeys

__all__ = ["choose"]


def choose(environment: Mapping[str, str], on_event: Callable[[KeyEvent], None]) -> Hotkeys:
    """The keys of the session that this environment tells of; on Wayland X11's would be heard in X11 programs only."""
    if sys.platform != "linux":
        return NoHotkeys()
    wayland = environment.get("XDG_SESSION_TYPE") == "wayland" or bool(environment.get("WAYLAND_DISPLAY"))
    if wayland:
        from sayso.app.hotkeys.portal import PortalHotkeys

        return PortalHotkeys(environment.get("DBUS_SESSION_BUS_ADDRESS", ""), on_event)
    if environment.get("DISPLAY"):
        from sayso.app.hotkeys.x11 import X11Hotkeys

        return X11Hotkeys(environment["DISPLAY"], on_event)
    return NoHotkeys()
