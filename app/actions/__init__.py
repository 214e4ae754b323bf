"""What commands do to the computer: one file for each family, run by the performer.

A new family is a file with an ``Action``, a line in ``create`` and its sentences in ``assets/commands``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from sayso.app.actions.applications import Applications
from sayso.app.actions.base import Action, Outcome, Receipt, UndoToken
from sayso.app.actions.desktop import Backend, detect
from sayso.app.actions.edit import Edit
from sayso.app.actions.errors import ActionError
from sayso.app.actions.keys import Keys
from sayso.app.actions.launch import Launcher
from sayso.app.actions.performer import TIMEOUT_S, Performer
from sayso.app.actions.placing import Placing
from sayso.app.actions.scrolling import Scrolling
from sayso.app.actions.shortcuts import Shortcuts
from sayso.app.actions.typing import Typing, Typist
from sayso.app.actions.undo import UndoLog
from sayso.app.actions.web import Web
from sayso.app.actions.windows import Windows
from sayso.app.actions.workspaces import WorkspaceActions

__all__ = ["ActionError", "Outcome", "Performer", "Receipt", "UndoToken", "create"]


def create(
    backend: Backend | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    own_pid: int | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Performer:
    """A performer with all families for this session.

    ``environment`` (``os.environ`` by default) is what started programs get and what tells the session, its
    applications, browser and sound server. ``own_pid`` marks our own windows, which are never typed into or closed.
    ``timeout_s`` is what one action may take.
    """
    variables = os.environ if environment is None else environment
    desktop = detect(variables) if backend is None else backend
    pid = os.getpid() if own_pid is None else own_pid
    launcher = Launcher(variables)
    typist = Typist(desktop, pid)
    undo = UndoLog()
    applications = Applications(desktop, launcher)
    actions: list[Action] = [
        applications,
        Web(launcher, applications),
        Typing(typist),
        Keys(desktop, typist),
        Windows(desktop, applications, pid),
        Edit(typist, undo),
        Placing(desktop, pid),
        WorkspaceActions(desktop, pid),
        Scrolling(desktop, typist),
        Shortcuts(desktop, typist),
    ]
    if sys.platform == "linux":
        from sayso.app.actions.volume import Volume  # Its library is for PulseAudio and PipeWire only.

        actions.append(Volume(_sound_server(variables)))
    return Performer(actions, desktop, typist, undo, pid, timeout_s)


def _sound_server(variables: Mapping[str, str]) -> str | None:
    """The sound server that the environment names, None for the session's default."""
    return variables.get("PULSE_SERVER") or None
