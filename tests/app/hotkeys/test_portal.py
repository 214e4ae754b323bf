"""A key from the desktop's portal: a real bus and real messages, with a played portal at the other end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jeepney import DBusAddress, new_signal
from played_service import Answer, PlayedService, played, private_bus

from sayso.app.hotkeys import choose
from sayso.app.hotkeys.base import HotkeyError, KeyEvent, KeysFound, KeysLost, Pressed, Released
from sayso.app.hotkeys.portal import PortalHotkeys, trigger
from sayso.app.hotkeys.shortcut import Shortcut

PORTAL = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
SESSION = f"{PATH}/session/1_2/sayso"
TALK = Shortcut(("Ctrl", "Alt"), "Space")


class Portal:
    """A portal whose user accepts, refuses or gives another key."""

    def __init__(self) -> None:
        self.service = PlayedService(on_call=self._on_call)
        self.code = 0
        self.at_once = False
        """Whether it gives the key with the session, as Plasma 5.27 does."""
        self.given: list[tuple[str, dict[str, Any]]] = [("talk", {"trigger_description": ("s", "Ctrl+Alt+Space")})]

    def _on_call(self, method: str, body: tuple[Any, ...]) -> Answer | None:
        if method not in ("CreateSession", "BindShortcuts"):
            return None
        token = body[-1]["handle_token"][1]
        sender = self.service.senders[method].removeprefix(":").replace(".", "_")
        path = f"{PATH}/request/{sender}/{token}"
        created = method == "CreateSession"
        results: dict[str, Any] = {"session_handle": ("s", SESSION)} if created else {}
        if not created or self.at_once:
            results["shortcuts"] = ("a(sa{sv})", self.given)
        self.send("org.freedesktop.portal.Request", "Response", "ua{sv}", (0 if created else self.code, results), path)
        return "o", (path,)

    def send(self, interface: str, name: str, signature: str, body: tuple[Any, ...], path: str = PATH) -> None:
        self.service.signals.put(new_signal(DBusAddress(path, interface=interface), name, signature, body))

    def key(self, name: str, session: str = SESSION, shortcut: str = "talk") -> None:
        self.send(SHORTCUTS, name, "osta{sv}", (session, shortcut, 1, {}))


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with private_bus(tmp_path_factory.mktemp("bus")) as address:
        yield address


@pytest.fixture
def portal(bus: str) -> Iterator[Portal]:
    made = Portal()
    with played(bus, PORTAL, made.service):
        yield made


class Keys:
    def __init__(self, address: str) -> None:
        self.events: list[KeyEvent] = []
        self.hotkeys = PortalHotkeys(address, self.events.append)

    async def until(self, holds: Callable[[], bool]) -> None:
        for _ in range(1500):
            if holds():
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"waited in vain; told so far: {self.events}")


@pytest.fixture
async def keys(bus: str) -> AsyncIterator[Keys]:
    made = Keys(bus)
    yield made
    made.hotkeys.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Ctrl+Alt+Space", "CTRL+ALT+space"), ("Super+V", "LOGO+v"), ("Pause", "Pause"), ("Shift+PgUp", "SHIFT+Prior")],
)
def test_a_key_is_proposed_as_the_portal_writes_it(text: str, expected: str) -> None:
    shortcut = Shortcut.read(text)
    assert shortcut is not None
    assert trigger(shortcut) == expected


async def test_the_key_is_asked_for_with_its_purpose_and_told_when_it_goes_down_and_up(
    keys: Keys, portal: Portal
) -> None:
    told = await keys.hotkeys.use(TALK, "Hold to talk")
    assert "Ctrl+Alt+Space" in told
    assert portal.service.called("Register") == [("sayso.Desktop", {})]
    session, shortcuts, parent, _ = portal.service.called("BindShortcuts")[0]
    assert (session, parent) == (SESSION, "")
    assert shortcuts == [("talk", {"description": ("s", "Hold to talk"), "preferred_trigger": ("s", "CTRL+ALT+space")})]
    portal.key("Activated", session="/somebody/else")
    portal.key("Activated", shortcut="another")
    for name in ("Activated", "Activated", "Deactivated", "Deactivated"):
        portal.key(name)
    portal.key("Activated")
    await keys.until(lambda: len(keys.events) >= 3)
    assert keys.events == [Pressed(), Released(), Pressed()]


async def test_a_desktop_that_refuses_is_told(keys: Keys, portal: Portal) -> None:
    portal.code = 1
    with pytest.raises(HotkeyError, match=r"or you, did not allow a key .* “sayso toggle”"):
        await keys.hotkeys.use(TALK, "Hold to talk")
    portal.code, portal.given = 0, []
    with pytest.raises(HotkeyError, match="did not give Sayso a key"):
        await keys.hotkeys.use(TALK, "Hold to talk")


async def test_a_desktop_that_gives_the_key_with_the_session_is_not_asked_twice(keys: Keys, portal: Portal) -> None:
    portal.at_once = True
    assert await keys.hotkeys.use(TALK, "Hold to talk") == "Ctrl+Alt+Space"
    ((options,),) = portal.service.called("CreateSession")
    assert options["shortcuts"][1][0][0] == "talk"
    assert portal.service.called("BindShortcuts") == []
    portal.at_once, portal.given = True, []
    with pytest.raises(HotkeyError, match="did not give Sayso a key"):
        await keys.hotkeys.use(TALK, "Hold to talk")


@pytest.mark.parametrize("missing", ["Register", "CreateSession"])
async def test_a_desktop_that_lacks_a_part_of_it(keys: Keys, portal: Portal, missing: str) -> None:
    portal.service.refuses[missing] = "org.freedesktop.DBus.Error.UnknownMethod"
    if missing == "Register":
        await keys.hotkeys.use(TALK, "Hold to talk")
        return
    with pytest.raises(HotkeyError, match="gives programs no keys"):
        await keys.hotkeys.use(TALK, "Hold to talk")


async def test_a_desktop_that_does_not_know_the_program_is_told_how_it_gets_to_know_it(
    keys: Keys, portal: Portal
) -> None:
    portal.service.refuses |= {
        "Register": "org.freedesktop.portal.Error.InvalidArgument",
        "CreateSession": "org.freedesktop.portal.Error.NotAllowed",
    }
    with pytest.raises(HotkeyError, match="sayso desktop-file --install"):
        await keys.hotkeys.use(TALK, "Hold to talk")


async def test_without_a_portal_or_a_bus_the_commands_are_named(keys: Keys, tmp_path: Path) -> None:
    for address in (keys.hotkeys._address, "", f"unix:path={tmp_path}/none"):
        hotkeys = PortalHotkeys(address, keys.events.append)
        with pytest.raises(HotkeyError, match="sayso toggle"):
            await hotkeys.use(TALK, "Hold to talk")
        hotkeys.close()
    assert keys.events == []


async def test_a_session_that_the_desktop_closes_is_told_and_ends_the_hold(keys: Keys, portal: Portal) -> None:
    await keys.hotkeys.use(TALK, "Hold to talk")
    portal.key("Activated")
    portal.send("org.freedesktop.portal.Session", "Closed", "a{sv}", ({},), SESSION)
    await keys.until(lambda: len(keys.events) >= 3)
    assert keys.events[:2] == [Pressed(), Released(seen=False)]
    assert isinstance(keys.events[2], KeysLost)


async def test_a_portal_that_ends_is_told_and_the_next_one_is_asked_again(keys: Keys, bus: str) -> None:
    first, second = Portal(), Portal()
    with contextlib.ExitStack() as stack:
        stack.enter_context(played(bus, PORTAL, first.service))
        await keys.hotkeys.use(TALK, "Hold to talk")
        first.key("Activated")
        await keys.until(lambda: bool(keys.events))
        await asyncio.to_thread(stack.close)
        await keys.until(lambda: len(keys.events) == 3)
        assert keys.events[:2] == [Pressed(), Released(seen=False)]
        assert isinstance(keys.events[2], KeysLost)
        stack.enter_context(played(bus, PORTAL, second.service))
        await keys.until(lambda: len(keys.events) == 4)
        second.key("Activated")
        await keys.until(lambda: len(keys.events) == 5)
        assert keys.events[3:] == [KeysFound("Ctrl+Alt+Space"), Pressed()]
        await asyncio.to_thread(stack.close)


async def test_a_portal_that_comes_up_late_is_asked_then(keys: Keys, bus: str) -> None:
    with pytest.raises(HotkeyError):
        await keys.hotkeys.use(TALK, "Hold to talk")
    made = Portal()
    with contextlib.ExitStack() as stack:
        stack.enter_context(played(bus, PORTAL, made.service))
        await keys.until(lambda: bool(keys.events))
        assert keys.events == [KeysFound("Ctrl+Alt+Space")]
        await asyncio.to_thread(stack.close)


async def test_a_bus_that_ends_is_told(keys: Keys, portal: Portal) -> None:
    await keys.hotkeys.use(TALK, "Hold to talk")
    assert keys.hotkeys._bus is not None
    keys.hotkeys._bus._connection.reader.feed_eof()
    await keys.until(lambda: bool(keys.events))
    assert isinstance(keys.events[0], KeysLost)


async def test_no_key_is_nothing_to_ask_for(keys: Keys, portal: Portal) -> None:
    await keys.hotkeys.use(TALK, "Hold to talk")
    assert await keys.hotkeys.use(None, "") == ""
    portal.key("Activated")
    await asyncio.sleep(0)
    assert keys.events == []


def test_on_wayland_the_portal_is_asked_also_where_there_is_an_x_display() -> None:
    for environment in ({"XDG_SESSION_TYPE": "wayland", "DISPLAY": ":0"}, {"WAYLAND_DISPLAY": "wayland-0"}):
        assert isinstance(choose(environment, [].append), PortalHotkeys)
