"""Fixtures for actions: a performer on a private desktop that has only the applications a test installs."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from played_service import private_bus
from spoken_actions import ApplicationFolder, BareHands, Hands
from virtual_desktop import Terminal, VirtualDesktop, virtual_desktop

from sayso.app.actions import create
from sayso.app.alarms import Alarms
from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, match


@pytest.fixture(scope="session")
def said() -> Callable[[str], Match]:
    """The command in a sentence."""
    grammar = Grammar.load()

    def read(sentence: str) -> Match:
        found = match(grammar, sentence)
        assert isinstance(found, Match), f"{sentence!r} is no command"
        return found

    return read


@pytest.fixture(scope="module")
def desktop(request: pytest.FixtureRequest) -> Iterator[VirtualDesktop]:
    """The private desktop, with a sound server only where a test module is about sound."""
    with virtual_desktop(sound=request.module.__name__.endswith("volume"), session_bus=False) as started:
        yield started


@pytest.fixture
def bare_desktop(desktop: VirtualDesktop, tmp_path: Path) -> VirtualDesktop:
    """The desktop with an environment of its own in which no application and no browser is installed."""
    environment = {name: value for name, value in desktop.environment.items() if name != "BROWSER"}
    environment |= {"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_DATA_DIRS": str(tmp_path / "shared")}
    return replace(desktop, environment=environment)


@pytest.fixture
def applications(bare_desktop: VirtualDesktop) -> ApplicationFolder:
    return ApplicationFolder(Path(bare_desktop.environment["XDG_DATA_HOME"]) / "applications")


@pytest.fixture
async def hands(bare_desktop: VirtualDesktop, said: Callable[[str], Match]) -> AsyncIterator[Hands]:
    performer = create(environment=bare_desktop.environment, own_pid=os.getpid())
    yield Hands(performer, said, bare_desktop)
    await performer.close()


@pytest.fixture
def terminal(desktop: VirtualDesktop) -> Iterator[Terminal]:
    with desktop.terminal() as opened:
        yield opened


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a D-Bus of its own, which stands for the session's and the system's."""
    with private_bus(tmp_path_factory.mktemp("bus")) as address:
        yield address


@pytest.fixture
def hardware(tmp_path: Path) -> Path:
    """The kernel's folder of devices; empty until a test puts some in."""
    return tmp_path / "class"


@pytest.fixture
async def bare_hands(
    bus: str, hardware: Path, tmp_path: Path, said: Callable[[str], Match]
) -> AsyncIterator[BareHands]:
    """A performer without a display, with a D-Bus, a home and devices of its own."""
    environment = {"DBUS_SESSION_BUS_ADDRESS": bus, "DBUS_SYSTEM_BUS_ADDRESS": bus, "HOME": str(tmp_path)}
    environment |= {"PATH": os.environ["PATH"], "XDG_DATA_HOME": str(tmp_path / "data"), "XDG_DATA_DIRS": ""}
    performer = create(environment=environment, alarms=Alarms(), hardware=hardware)
    yield BareHands(performer, said)
    await performer.close()


@pytest.fixture
def no_opener(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Programs of the machine that might show a file or a folder are out of reach."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "mv"):
        (tools / name).symlink_to(f"/bin/{name}")
    monkeypatch.setitem(os.environ, "PATH", str(tools))
