"""Reads the windows of a virtual desktop as a screen reader does: through AT-SPI, over D-Bus. Calling thread.

The names, texts and states are those that a blind user is told, so a test that reads them sees what is on the screen,
word for word, and knows nothing of the program's inside.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from bounded import child, wait_for
from jeepney import DBusAddress, DBusErrorResponse, Properties, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from virtual_desktop import VirtualDesktop
from wayland_desktop import WaylandDesktop

_LAUNCHER = "/usr/libexec/at-spi-bus-launcher"
_ACCESSIBLE, _TEXT = "org.a11y.atspi.Accessible", "org.a11y.atspi.Text"
_ACTION, _COMPONENT, _EDITABLE = "org.a11y.atspi.Action", "org.a11y.atspi.Component", "org.a11y.atspi.EditableText"
_ROOT = "/org/a11y/atspi/accessible/root"
_REPLY_SECONDS = 10.0
# Numbers of the states in AT-SPI's list.
_STATES = {"checked": 4, "enabled": 8, "focused": 12, "sensitive": 24, "showing": 25, "visible": 30}


class GoneError(Exception):
    """The element is no longer there, or its program does not answer."""


@dataclass(frozen=True)
class Element:
    """A thing in a window: a button, a text, a list. Each question is answered from what is there now."""

    connection: DBusConnection
    program: str
    path: str

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self._property(_ACCESSIBLE, "Name"))

    @property
    def description(self) -> str:
        """What is told about it besides its name."""
        return str(self._property(_ACCESSIBLE, "Description"))

    @property
    def role(self) -> str:
        """What kind of thing it is: `push button`, `text`, `label`, …"""
        return str(self._ask(_ACCESSIBLE, "GetRoleName")[0])

    @property
    def text(self) -> str:
        """The text in it; its name when it has none."""
        if _TEXT not in self._ask(_ACCESSIBLE, "GetInterfaces")[0]:
            return self.name
        return str(self._ask(_TEXT, "GetText", "ii", (0, self._property(_TEXT, "CharacterCount")))[0])

    def has_state(self, state: str) -> bool:
        """Whether it is `checked`, `enabled`, `focused`, `sensitive`, `showing` or `visible`."""
        low, high = self._ask(_ACCESSIBLE, "GetState")[0]
        return bool((low | high << 32) >> _STATES[state] & 1)

    @property
    def children(self) -> list[Element]:
        found = self._ask(_ACCESSIBLE, "GetChildren")[0]
        return [Element(self.connection, program, path) for program, path in found]

    @property
    def centre(self) -> tuple[int, int]:
        """Where its middle is on the screen, in pixels."""
        left, top, width, height = self.extents
        return left + width // 2, top + height // 2

    @property
    def extents(self) -> tuple[int, int, int, int]:
        """Left and top on the screen, width and height; in pixels, or in those of the program's own scale."""
        left, top, width, height = self._ask(_COMPONENT, "GetExtents", "u", (0,))[0]
        return left, top, width, height

    @property
    def actions(self) -> list[str]:
        """What can be done with it: `Press`, `Toggle`, `SetFocus`, …"""
        return [
            str(self._ask(_ACTION, "GetName", "i", (each,))[0]) for each in range(self._property(_ACTION, "NActions"))
        ]

    def press(self) -> None:
        """Press it, as with a click."""
        assert self._ask(_ACTION, "DoAction", "i", (self.actions.index("Press"),))[0]

    def write(self, text: str) -> None:
        """Replace the text of a field."""
        assert self._ask(_EDITABLE, "SetTextContents", "s", (text,))[0]

    def walk(self) -> Iterator[Element]:
        """This element and all below it, from top to bottom."""
        yield self
        for each in self.children:
            yield from each.walk()

    def outline(self, depth: int = 0) -> str:
        """The names and texts of this element and all below it, one a line; what a failing test shows."""
        text = "" if self.text == self.name else f": {self.text!r}"
        mine = f"{'  ' * depth}[{self.role}] {self.name!r}{text}"
        return "\n".join([mine, *(each.outline(depth + 1) for each in self.children)])

    def _property(self, interface: str, name: str) -> Any:
        address = DBusAddress(self.path, self.program, interface)
        return _reply(self.connection, Properties(address).get(name))[0][1]

    def _ask(self, interface: str, method: str, signature: str | None = None, body: tuple[Any, ...] = ()) -> Any:
        address = DBusAddress(self.path, self.program, interface)
        return _reply(self.connection, new_method_call(address, method, signature, body))


@dataclass
class ScreenReader:
    """All windows of one virtual desktop."""

    connection: DBusConnection

    def programs(self) -> list[Element]:
        """The programs that show windows."""
        return Element(self.connection, "org.a11y.atspi.Registry", _ROOT).children

    def find(self, role: str = "", name: str = "", *, showing: bool = True) -> list[Element]:
        """Elements of this role whose name contains `name`; those on the screen only, unless `showing` is false."""

        def fits(element: Element) -> bool:
            if (role and element.role != role) or name not in element.name:
                return False
            return not showing or element.has_state("showing")

        with contextlib.suppress(GoneError):  # The window changed meanwhile; whoever waits asks again.
            return [each for program in self.programs() for each in program.walk() if fits(each)]
        return []

    def wait_for(self, role: str = "", name: str = "", seconds: float = 60.0) -> Element:
        """The first such element, as soon as it is on the screen."""
        what = f"{role or 'an element'} named {name!r}"
        try:
            return wait_for(lambda: self.find(role, name), what, seconds, pause=0.1)[0]
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.outline()}") from None

    def wait_until(self, condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
        """Return when the condition, which may read elements, is true."""

        def held() -> bool:
            with contextlib.suppress(GoneError, IndexError):
                return bool(condition())
            return False

        try:
            wait_for(held, what, seconds, pause=0.1)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.outline()}") from None

    def outline(self) -> str:
        """All that is shown, one element a line."""
        with contextlib.suppress(GoneError):
            return "\n".join(each.outline() for each in self.programs())
        return "(changing)"


@contextlib.contextmanager
def screen_reader(desktop: VirtualDesktop | WaylandDesktop) -> Iterator[ScreenReader]:
    """A screen reader on this desktop; programs started after it tell it what they show."""
    with contextlib.ExitStack() as stack:
        environment = desktop.environment
        log = desktop.folder / "at-spi.log"
        stack.enter_context(child([_LAUNCHER, "--launch-immediately"], environment, log))
        session = stack.enter_context(_connection(environment["DBUS_SESSION_BUS_ADDRESS"]))
        owned = partial(_reply, session, message_bus.NameHasOwner("org.a11y.Bus"))
        wait_for(lambda: owned()[0], "the accessibility bus")
        status = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Status")
        for name in ("IsEnabled", "ScreenReaderEnabled"):
            _reply(session, Properties(status).set(name, "b", True))
        bus = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
        address = _reply(session, new_method_call(bus, "GetAddress"))[0]
        yield ScreenReader(stack.enter_context(_connection(address)))


@contextlib.contextmanager
def _connection(address: str) -> Iterator[DBusConnection]:
    connection = open_dbus_connection(address)
    try:
        yield connection
    finally:
        connection.close()


def _reply(connection: DBusConnection, message: Any) -> Any:
    try:
        reply = connection.send_and_get_reply(message, timeout=_REPLY_SECONDS)
    except TimeoutError as error:
        raise GoneError("no answer") from error
    if reply.header.message_type.name == "error":
        raise GoneError(str(DBusErrorResponse(reply)))
    return reply.body
