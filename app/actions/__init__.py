"""What commands do to the computer: one file for each family, run by the performer.

A new family is a file with an ``Action``, a line in ``create`` and its sentences in ``assets/commands``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.app.actions.applications import Applications
from sayso.app.actions.base import Action, Outcome, Receipt, UndoToken
from sayso.app.actions.calculator import Calculator
from sayso.app.actions.desktop import Backend, detect
from sayso.app.actions.edit import Edit
from sayso.app.actions.errors import ActionError
from sayso.app.actions.fields import Fields, UnknownFields
from sayso.app.actions.files import Files
from sayso.app.actions.folders import Folders
from sayso.app.actions.information import Information
from sayso.app.actions.keys import Keys
from sayso.app.actions.launch import Launcher
from sayso.app.actions.opening import Opener
from sayso.app.actions.own import OwnCommands
from sayso.app.actions.performer import TIMEOUT_S, Performer
from sayso.app.actions.placing import Placing
from sayso.app.actions.screenshot import Screenshot
from sayso.app.actions.scrolling import Scrolling
from sayso.app.actions.shortcuts import Shortcuts
from sayso.app.actions.timers import Timers
from sayso.app.actions.typing import Typing, Typist
from sayso.app.actions.undo import UndoLog
from sayso.app.actions.web import Web
from sayso.app.actions.windows import Windows
from sayso.app.actions.workspaces import WorkspaceActions
from sayso.app.alarms import Alarms

if TYPE_CHECKING:
    from sayso.app.actions.bus import Bus

HARDWARE = Path("/sys/class")

__all__ = ["HARDWARE", "ActionError", "Outcome", "Performer", "Receipt", "UndoToken", "create"]


def create(
    backend: Backend | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    own_pid: int | None = None,
    timeout_s: float = TIMEOUT_S,
    alarms: Alarms | None = None,
    hardware: Path = HARDWARE,
    own_has_keyboard: Callable[[], bool] = lambda: False,
) -> Performer:
    """A performer with all families for this session.

    ``environment`` (``os.environ`` by default) is what started programs get and what tells the session, its
    applications, browser and sound server. ``own_pid`` marks our own windows, which are never typed into or closed.
    ``timeout_s`` is what one action may take. ``alarms`` take the timers that are set; without them nothing waits for
    these. ``hardware`` is the kernel's folder of device classes. ``own_has_keyboard`` is what ``detect`` takes.
    """
    variables = os.environ if environment is None else environment
    desktop = detect(variables, own_has_keyboard) if backend is None else backend
    pid = os.getpid() if own_pid is None else own_pid
    typist, undo = Typist(desktop, pid, _fields(variables)), UndoLog()
    actions = _everywhere(desktop, variables, pid, typist, undo)
    actions.append(Information(hardware / "power_supply"))
    if alarms is not None:
        actions.append(Timers(alarms))
    if sys.platform != "linux":
        return Performer(actions, desktop, typist, undo, pid, timeout_s)
    actions += _on_linux(variables, hardware)
    return Performer(actions, desktop, typist, undo, pid, timeout_s, _announcer(variables))


def _everywhere(
    desktop: Backend, variables: Mapping[str, str], pid: int, typist: Typist, undo: UndoLog
) -> list[Action]:
    """The families that need nothing but the desktop, its programs and its files."""
    launcher = Launcher(variables)
    applications = Applications(desktop, launcher)
    web, opener = Web(launcher, applications), Opener(launcher, applications)
    return [
        applications,
        web,
        OwnCommands(desktop, typist, launcher, web),
        Typing(typist),
        Keys(desktop, typist),
        Windows(desktop, applications, pid),
        Edit(typist, undo),
        Placing(desktop, pid),
        WorkspaceActions(desktop, pid),
        Scrolling(desktop, typist),
        Shortcuts(desktop, typist),
        Screenshot(desktop, variables),
        Folders(opener, variables),
        Files(opener, variables),
        Calculator(),
    ]


def _on_linux(variables: Mapping[str, str], hardware: Path) -> list[Action]:
    """What is done through the sound server and over D-Bus, whose libraries come with Linux only."""
    from sayso.app.actions.brightness import Brightness
    from sayso.app.actions.bus import SYSTEM, Bus
    from sayso.app.actions.media import Media
    from sayso.app.actions.power import Power
    from sayso.app.actions.volume import Volume

    system = Bus(variables.get("DBUS_SYSTEM_BUS_ADDRESS") or SYSTEM)
    volume, light = Volume(_sound_server(variables)), Brightness(system, hardware / "backlight")
    return [volume, Media(_session_bus(variables)), light, Power(system)]


def _fields(variables: Mapping[str, str]) -> Fields:
    if sys.platform != "linux":
        return UnknownFields()
    from sayso.app.actions.focused_field import ToldFields

    return ToldFields(_session_bus(variables))


def _announcer(variables: Mapping[str, str]) -> Callable[[str], None]:
    from sayso.app.actions.notification import notify

    return lambda title: notify(_session_bus(variables), title)


def _session_bus(variables: Mapping[str, str]) -> Bus:
    from sayso.app.actions.bus import Bus

    return Bus(variables.get("DBUS_SESSION_BUS_ADDRESS", ""))


def _sound_server(variables: Mapping[str, str]) -> str | None:
    """The sound server that the environment names, None for the session's default."""
    return variables.get("PULSE_SERVER") or None
