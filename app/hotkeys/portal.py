"""A key from the desktop itself: the portal org.freedesktop.portal.GlobalShortcuts, over D-Bus. Runs on the event loop.

The desktop asks the user which key it is and may remember another one than we propose; it tells the key going down and
going up, and nothing else of the keyboard. This is the only way to a key on Wayland.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from sayso.app.desktop_file import APPLICATION
from sayso.app.errors import report_failure
from sayso.app.hotkeys.base import BY_COMMAND, HotkeyError, KeyEvent, KeysFound, KeysLost, Pressed, Released
from sayso.app.hotkeys.portal_bus import Body, BusLostError, PortalBus, PortalError
from sayso.app.hotkeys.shortcut import Shortcut

_SHORTCUT = "talk"
_SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
_SESSION = "org.freedesktop.portal.Session"
_REGISTRY = "org.freedesktop.host.portal.Registry"
_ASK_S = 30.0
"""How long a portal may take that is only started by the question, as after logging in."""
_USER_S = 180.0
"""How long the user may look at the desktop's question."""
_UNKNOWN = (
    "This desktop gives keys only to programs that are among its applications. "
    f"Run “sayso desktop-file --install” and choose the key again. {BY_COMMAND}"
)
_MODIFIERS = {"Ctrl": "CTRL", "Alt": "ALT", "Shift": "SHIFT", "Super": "LOGO"}


def trigger(shortcut: Shortcut) -> str:
    """The key as the portal's specification of shortcuts writes it: “CTRL+ALT+space”."""
    return "+".join([*(_MODIFIERS[name] for name in shortcut.modifiers), shortcut.keysym])


class PortalHotkeys:
    """See ``base.Hotkeys``. A portal that is restarted, or comes up late, is asked again by itself."""

    tells_escape = False

    def __init__(self, address: str, on_event: Callable[[KeyEvent], None]) -> None:
        """``address`` is the session bus's; an empty one is a session without it."""
        self._address = address
        self._on_event = on_event
        self._bus: PortalBus | None = None
        self._session = ""
        self._held = False
        self._wanted: tuple[Shortcut, str] | None = None
        self._asking = False
        self._again: asyncio.Task[None] | None = None

    async def use(self, shortcut: Shortcut | None, purpose: str) -> str:
        self.close()
        if shortcut is None:
            return ""
        self._wanted = shortcut, purpose
        return await self._take(shortcut, purpose)

    def close(self) -> None:
        """The desktop takes the key back when the connection ends."""
        self._wanted = None
        if self._again is not None:
            self._again.cancel()
            self._again = None
        self._drop()

    def _drop(self) -> None:
        bus, self._bus, self._session = self._bus, None, ""
        self._up(seen=False)
        if bus is not None:
            bus.close()

    async def _take(self, shortcut: Shortcut, purpose: str) -> str:
        """Ask for the key, or raise HotkeyError; then the connection stays only to see another portal come."""
        self._asking = True
        try:
            return await self._bind(shortcut, purpose)
        except (PortalError, BusLostError, TimeoutError) as error:
            self._session = ""
            raise _refused(error) from error
        except HotkeyError:
            self._session = ""
            raise
        except asyncio.CancelledError:
            self._drop()
            raise
        finally:
            self._asking = False

    async def _bind(self, shortcut: Shortcut, purpose: str) -> str:
        """Plasma 5.27 wants the key with the session, and shows its settings to who asks for it afterwards."""
        wanted = [(_SHORTCUT, {"description": ("s", purpose), "preferred_trigger": ("s", trigger(shortcut))})]
        async with asyncio.timeout(_ASK_S):
            bus = self._bus = await PortalBus.connect(self._address, self._signal, self._lost, self._found)
            # Desktops without this service know a program by its unit or window; they manage without.
            with contextlib.suppress(PortalError):
                await bus.call(_REGISTRY, "Register", "sa{sv}", (APPLICATION, {}))
            options = {"session_handle_token": ("s", "sayso"), "shortcuts": ("a(sa{sv})", wanted)}
            created = await bus.ask(_SHORTCUTS, "CreateSession", "a{sv}", lambda: (options,))
            self._session = str(created.get("session_handle", ("s", ""))[1])
        if (named := _given(created)) is None:
            async with asyncio.timeout(_USER_S):
                bound = await bus.ask(
                    _SHORTCUTS, "BindShortcuts", "oa(sa{sv})sa{sv}", lambda: (self._session, wanted, "", {})
                )
            named = _given(bound)
        if named is None:
            raise HotkeyError("keys_refused", f"The desktop did not give Sayso a key. {BY_COMMAND}")
        return named

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
        if self._session:
            self._session = ""
            self._up(seen=False)
            self._on_event(KeysLost(f"The desktop has taken the key back. {BY_COMMAND}"))

    def _found(self) -> None:
        """Another portal is there; while the first one is asked, the question itself has started it."""
        if self._wanted is not None and not self._asking:
            self._again = asyncio.get_running_loop().create_task(self._take_again(*self._wanted), name="key again")
            self._again.add_done_callback(report_failure)

    async def _take_again(self, shortcut: Shortcut, purpose: str) -> None:
        self._drop()
        # What is wrong now was told when the key was lost.
        with contextlib.suppress(HotkeyError):
            self._on_event(KeysFound(await self._take(shortcut, purpose)))


def _given(results: dict[str, Any]) -> str | None:
    """What the desktop calls our key, perhaps nothing; None where it gave none."""
    shortcuts = dict(results.get("shortcuts", ("a(sa{sv})", []))[1])
    return str(shortcuts[_SHORTCUT].get("trigger_description", ("s", ""))[1]) if _SHORTCUT in shortcuts else None


def _refused(error: Exception) -> HotkeyError:
    code = error.code if isinstance(error, PortalError) else ""
    if code == "declined":
        return HotkeyError("keys_refused", f"The desktop, or you, did not allow a key for Sayso. {BY_COMMAND}")
    if code == "unknown_program":
        return HotkeyError("keys_refused", _UNKNOWN)
    return HotkeyError("keys_unavailable", f"This desktop gives programs no keys. {BY_COMMAND}")
