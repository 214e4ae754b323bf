"""Desktop sessions: one backend for each kind, chosen by ``detect``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from sayso.app.actions.desktop.base import Backend, Chord, Window
from sayso.app.actions.desktop.none import NO_DISPLAY, Refusing

__all__ = ["Backend", "Chord", "Window", "detect"]


def detect(
    environment: Mapping[str, str] | None = None, own_has_keyboard: Callable[[], bool] = lambda: False
) -> Backend:
    """The backend for the session that the environment (``os.environ`` by default) tells of. Connects to nothing yet.

    ``own_has_keyboard`` tells whether one of our own windows has the keyboard, where the session tells only us; it is
    called from the worker thread.

    A Wayland session usually sets DISPLAY as well, for old programs; keys sent there reach only those, so it counts as
    Wayland.
    """
    variables = os.environ if environment is None else environment
    if variables.get("WAYLAND_DISPLAY") or variables.get("XDG_SESSION_TYPE") == "wayland":
        from sayso.app.actions.desktop.wayland import Wayland

        return Wayland(variables, own_has_keyboard)
    if display := variables.get("DISPLAY"):
        from sayso.app.actions.desktop.x11 import X11  # X libraries are loaded in X sessions only.

        return X11(display)
    return Refusing("none", NO_DISPLAY)
