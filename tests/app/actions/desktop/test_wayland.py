"""Wayland sessions: what goes through the programs and the portal that are there, and what is refused, and why.

The programs need a compositor, so scripts stand for them here; the integration test has the real ones.
"""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from jeepney import DBusAddress, new_signal
from played_service import Answer, PlayedService, played
from spoken_actions import BareHands

from sayso.app.actions import ActionError, Receipt, create
from sayso.app.actions.desktop import detect
from sayso.app.commands.matching import Match

PORTAL = "org.freedesktop.portal.Desktop"
PNG = b"\x89PNG\r\n\x1a\nand so on"


class Session:
    """A Wayland session with programs that write down what they are given."""

    def __init__(self, folder: Path, bus: str, said: Callable[[str], Match]) -> None:
        self.folder = folder
        self.own_has_keyboard = False
        self.environment = {
            "WAYLAND_DISPLAY": "wayland-0",
            "DISPLAY": ":0",
            "PATH": f"{folder}:{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder),
            "DBUS_SESSION_BUS_ADDRESS": bus,
        }
        self.performer = create(environment=self.environment, own_has_keyboard=lambda: self.own_has_keyboard)
        self.hands = BareHands(self.performer, said)

    def install(self, name: str, script: str = 'echo "$*" >> {name}.told; cat >> {name}.text') -> None:
        program = self.folder / name
        program.write_text(f"#!/bin/sh\ncd {self.folder}\n{script.format(name=name)}\n", encoding="utf-8")
        program.chmod(0o755)

    def told(self, name: str) -> list[str]:
        return (self.folder / f"{name}.told").read_text(encoding="utf-8").splitlines()

    def text(self, name: str) -> str:
        return (self.folder / f"{name}.text").read_text(encoding="utf-8")

    async def refusal(self, sentence: str) -> ActionError:
        with pytest.raises(ActionError) as refused:
            await self.hands.do(sentence)
        return refused.value


@pytest.fixture
async def session(tmp_path: Path, bus: str, said: Callable[[str], Match]) -> AsyncIterator[Session]:
    made = Session(tmp_path, bus, said)
    yield made
    await made.performer.close()


async def test_text_is_typed_through_a_pipe_into_whatever_is_in_front(session: Session) -> None:
    session.install("wtype")
    for text in ("naïve 日本,\n and more than thirty-two characters", "again"):
        outcome = await session.performer.type(text)
        assert (outcome.receipt, outcome.undo) == (Receipt.SENT, None)
        assert "the window in front" in outcome.detail
    # A terminal may be in front, where a line end would run what was said. Arguments can be read by everybody.
    assert session.text("wtype") == "naïve 日本, and more than thirty-two characters again"
    assert not any("naïve" in told for told in session.told("wtype"))
    assert (await session.refusal("scratch that")).code == "window_unseen"


async def test_keys_are_pressed_and_the_keys_of_some_programs_are_not_guessed(session: Session) -> None:
    session.install("wtype")
    await session.hands.do("press control shift t")
    await session.hands.do("press tab two times")
    await session.hands.do("new line")
    assert session.told("wtype") == [
        "-s 80 -M ctrl -M shift -k t -m shift -m ctrl",
        "-s 80 -k Tab -k Tab",
        "-s 80 -k Return",
    ]
    # In a terminal Control+C would stop the program.
    assert (await session.refusal("copy that")).code == "window_unseen"
    assert "page down" in str(await session.refusal("scroll down"))


async def test_nothing_is_typed_into_sayso_itself(session: Session) -> None:
    session.install("wtype")
    session.install("wl-copy")
    session.own_has_keyboard = True
    outcome = await session.performer.type("hello")
    assert outcome.receipt is Receipt.ON_CLIPBOARD
    assert "Sayso's own window" in outcome.detail
    assert session.text("wl-copy") == "hello"
    assert (await session.refusal("press enter")).code == "own_window"
    assert not (session.folder / "wtype.told").exists()


async def test_a_compositor_that_takes_no_keys_leaves_the_text_on_the_clipboard(session: Session) -> None:
    session.install("wtype", "exit 1")
    session.install("wl-copy")
    outcome = await session.performer.type("hello")
    assert outcome.receipt is Receipt.ON_CLIPBOARD
    assert "lets no program type" in outcome.detail
    assert (await session.refusal("press enter")).code == "no_keys"


@pytest.mark.parametrize(
    ("desktop", "told"),
    [("ubuntu:GNOME", "GNOME lets no program"), ("KDE", "KDE Plasma lets no program"), ("sway", "wtype: install it")],
)
def test_why_nothing_is_typed_is_told_by_the_desktop(desktop: str, told: str, tmp_path: Path) -> None:
    backend = detect({"XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": desktop, "PATH": str(tmp_path)})
    with pytest.raises(ActionError, match=told):
        backend.active_window()


@pytest.mark.parametrize(
    ("sentence", "what"),
    [
        ("next window", "windows of others"),
        ("close window", "windows of others"),
        ("maximize window", "windows of others"),
        ("next workspace", "change workspaces"),
        ("show desktop", "change workspaces"),
    ],
)
async def test_what_wayland_has_no_way_for_is_refused_with_what_to_do(
    session: Session, sentence: str, what: str
) -> None:
    session.install("wtype")
    refused = await session.refusal(sentence)
    assert refused.code == "needs_x11"
    assert what in str(refused)
    assert "your desktop's own keys" in str(refused)


def screenshots(file: Path | None, code: int = 0) -> PlayedService:
    """A portal that answers with this file, or with a refusal."""

    def answer(method: str, body: tuple[Any, ...]) -> Answer | None:
        sender = service.senders[method].removeprefix(":").replace(".", "_")
        path = f"/org/freedesktop/portal/desktop/request/{sender}/{body[-1]['handle_token'][1]}"
        results = {} if file is None else {"uri": ("s", file.as_uri())}
        place = DBusAddress(path, interface="org.freedesktop.portal.Request")
        service.signals.put(new_signal(place, "Response", "ua{sv}", (code, results)))
        return "o", (path,)

    service = PlayedService(on_call=answer)
    return service


def pictures(session: Session) -> list[bytes]:
    return [file.read_bytes() for file in (session.folder / "Pictures").glob("*.png")]


async def test_a_picture_comes_from_the_portal_and_its_file_goes(session: Session, bus: str) -> None:
    given = session.folder / "of the portal.png"
    given.write_bytes(PNG)
    with played(bus, PORTAL, screenshots(given)) as service:
        outcome = await session.hands.do("take a screenshot")
    assert service.called("Screenshot")[0][0] == ""
    assert pictures(session) == [PNG]
    assert outcome.receipt is Receipt.VERIFIED
    assert not given.exists()


async def test_a_picture_that_the_user_does_not_allow_is_none(session: Session, bus: str) -> None:
    session.install("grim", f"printf '{PNG[:4].decode('latin-1')}'")
    with played(bus, PORTAL, screenshots(None, code=1)):
        assert (await session.refusal("take a screenshot")).code == "portal_refused"
    with played(bus, PORTAL, screenshots(session.folder / "missing.png")):
        assert (await session.refusal("take a screenshot")).code == "no_picture"
    assert pictures(session) == []


async def test_without_a_portal_grim_takes_the_picture(session: Session) -> None:
    assert "xdg-desktop-portal" in str(await session.refusal("take a screenshot"))
    (session.folder / "given").write_bytes(PNG)
    session.install("grim", "cat given")
    await session.hands.do("take a screenshot")
    assert pictures(session) == [PNG]


async def test_a_picture_is_no_longer_waited_for_when_it_is_cancelled(tmp_path: Path, bus: str) -> None:
    backend = detect({"WAYLAND_DISPLAY": "wayland-0", "DBUS_SESSION_BUS_ADDRESS": bus, "PATH": str(tmp_path)})
    halt = threading.Event()
    halt.set()
    silent = PlayedService(on_call=lambda method, body: ("o", ("/somewhere",)))
    with played(bus, PORTAL, silent), pytest.raises(ActionError, match="Cancelled"):
        backend.picture(halt)


async def test_dictation_goes_to_the_clipboard_and_says_why(tmp_path: Path) -> None:
    # Stands for wl-clipboard's program, which needs a compositor: takes the text from its input and ends.
    program = tmp_path / "wl-copy"
    program.write_text(f"#!/bin/sh\ncat > {tmp_path}/copied\n", encoding="utf-8")
    program.chmod(0o755)
    environment = {"WAYLAND_DISPLAY": "wayland-0", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    performer = create(environment=environment)

    outcome = await performer.type("naïve 日本")
    await performer.close()

    assert outcome.receipt is Receipt.ON_CLIPBOARD
    assert "Wayland" in outcome.detail
    assert (tmp_path / "copied").read_text(encoding="utf-8") == "naïve 日本"


@pytest.mark.parametrize("failing", ["missing", "refuses"])
async def test_without_such_a_program_dictation_is_refused_with_what_to_do(tmp_path: Path, failing: str) -> None:
    if failing == "refuses":
        program = tmp_path / "wl-copy"
        program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        program.chmod(0o755)
    performer = create(environment={"WAYLAND_DISPLAY": "wayland-0", "PATH": str(tmp_path)})

    with pytest.raises(ActionError) as refused:
        await performer.type("naïve")
    await performer.close()

    assert refused.value.code == "needs_x11"
    assert ("wl-clipboard" if failing == "missing" else "did not take") in str(refused.value)


def test_a_copy_that_never_ends_is_cancelled(tmp_path: Path) -> None:
    program = tmp_path / "wl-copy"
    program.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    program.chmod(0o755)
    backend = detect({"WAYLAND_DISPLAY": "wayland-0", "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    halt = threading.Event()
    halt.set()

    with pytest.raises(ActionError) as refused:
        backend.copy("x", halt)

    assert refused.value.code == "cancelled"
