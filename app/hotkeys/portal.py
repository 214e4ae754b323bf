"""A key from the desktop itself: the portal org.freedesktop.portal.GlobalShortcuts, over D-Bus. Runs on the event loop.

The desktop asks the user which key it is and may remember another one than we propose; it tells the key going down and
going up, and nothing else of the keyboard. This is the only way to a key on Wayland.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from sayso.app.hotkeys.base import BY_COMMAND, HotkeyError, KeyEvent, KeysLost, Pressed, Released
from sayso.app.hotkeys.portal_bus import Body, BusLostError, PortalBus, PortalError
from sayso.app.hotkeys.shortcut import Shortcut

APPLICATION = "sayso"
"""The name of our desktop file, by which a desktop remembers the key."""
_SHORTCUT = "talk"
_SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
_SESSION = "org.freedesktop.portal.Session"
_REGISTRY = "org.freedesktop.host.portal.Registry"
_ASK_S = 10.0
_USER_S = 180.0
"""How long the user may look at the desktop's question."""
_MODIFIERS = {"Ctrl": "CTRL", "Alt": "ALT", "Shift": "SHIFT", "Super": "LOGO"}


def trigger(shortcut: Shortcut) -> str:
    """The key as the portal's specification of shortcuts writes it: “CTRL+ALT+space”."""
    return "+".join([*(_MODIFIERS[name] for name in shortcut.modifiers), shortcut.keysym])


class PortalHotkeys:
    """See ``base.Hotkeys``."""

    tells_escape = False

    def __init__(self, address: str, on_event: Callable[[KeyEvent], None]) -> None:
        """``address`` is the session bus's; an empty one is a session without it."""
        self._address = address
        self._on_event = on_event
        self._bus: PortalBus | None = None
        self._session = ""
        self._held = False

    async def use(self, shortcut: Shortcut | None, purpose: str) -> str:
        self.close()
        if shortcut is None:
            return ""
        try:
            return await self._bind(shortcut, purpose)
        except (PortalError, BusLostError, TimeoutError) as error:
            self.close()
            raise HotkeyError("keys_unavailable", f"This desktop gives programs no keys. {BY_COMMAND}") from error
        except (HotkeyError, asyncio.CancelledError):
            self.close()
            raise

    def close(self) -> None:
        """The desktop takes the key back when the connection ends."""
        bus, self._bus, self._session = self._bus, None, ""
        self._up(seen=False)
        if bus is not None:
            bus.close()

    async def _bind(self, shortcut: Shortcut, purpose: str) -> str:
        async with asyncio.timeout(_ASK_S):
            bus = self._bus = await PortalBus.connect(self._address, self._signal, self._lost)
            # Desktops without this service know a program by its unit or window; they manage without.
            with contextlib.suppress(PortalError):
                await bus.call(_REGISTRY, "Register", "sa{sv}", (APPLICATION, {}))
            token = ("s", APPLICATION)
            created = await bus.ask(_SHORTCUTS, "CreateSession", "a{sv}", lambda: ({"session_handle_token": token},))
            self._session = str(created.get("session_handle", ("s", ""))[1])
        wanted = [(_SHORTCUT, {"description": ("s", purpose), "preferred_trigger": ("s", trigger(shortcut))})]
        async with asyncio.timeout(_USER_S):
            bound = await bus.ask(
                _SHORTCUTS, "BindShortcuts", "oa(sa{sv})sa{sv}", lambda: (self._session, wanted, "", {})
            )
        given = dict(bound.get("shortcuts", ("a(sa{sv})", []))[1])
        if _SHORTCUT not in given:
            raise HotkeyError("keys_refused", f"The desktop did not give Sayso a key. {BY_COMMAND}")
        named = str(given[_SHORTCUT].get("trigger_description", ("s", ""))[1])
        return f"The desktop gave “{named}”; its keyboard settings change it." if named else ""

    def _signal(self, interface: str, name: str, body: Body) -> None:
        session = body[0] if body else ""
        if interface == _SESSION and name == "Closed":
            self._lost()
        elif interface == _SHORTCUTS and session == self._session and body[1] == _SHORTCUT:
            if name == "Activated" and not self._held:
                self._held = True
                self._on_event(Pressed())
            elif name == "Deactivated":
                self._up(seen=True)

    def _up(self, *, seen: bool) -> None:
        if self._held:
            self._held = False
            self._on_event(Released(seen))

    def _lost(self) -> None:
        if self._bus is not None and self._session:
            self.close()
            self._on_event(KeysLost(f"The desktop has taken the key back. {BY_COMMAND}"))
