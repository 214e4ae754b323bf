"""The user's own commands: keys, text, a web address or a program for a phrase. One worker thread at a time."""

from __future__ import annotations

import threading

from sayso.app.actions.base import Done, Family, Job, Receipt
from sayso.app.actions.desktop.base import MODIFIERS, Backend, Chord, check
from sayso.app.actions.errors import ActionError
from sayso.app.actions.launch import Launcher
from sayso.app.actions.typing import Typist, typed_as_done
from sayso.app.actions.web import Web
from sayso.app.commands.key_names import read_keys
from sayso.app.commands.own import FAMILY, OwnCommand, OwnKind, command_line

_FAILS_WITHIN_S = 1.0
"""A program that cannot run ends at once; one that runs on was started."""


class OwnCommands(Family):
    """What a command does is in the match itself, so that a change of the settings never meets an old one."""

    family = FAMILY

    def __init__(self, backend: Backend, typist: Typist, launcher: Launcher, web: Web) -> None:
        self._backend = backend
        self._typist = typist
        self._launcher = launcher
        self._web = web

    def perform(self, job: Job) -> Done:
        own = job.match.command.own
        if own is None:
            raise ActionError("not_an_action", "This command is not one of your own any more.")
        match own.kind:
            case OwnKind.KEYS:
                return self._press(own, job)
            case OwnKind.TEXT:
                return typed_as_done(self._typist, self._typist.type(own.value, job.target, job.halt))
            case OwnKind.ADDRESS:
                self._web.show(own.value.strip(), job.halt)
                return Done("handed to the browser", Receipt.SENT)
            case OwnKind.PROGRAM:
                return self._run(own, job.halt)

    def _press(self, own: OwnCommand, job: Job) -> Done:
        presses = read_keys(own.value)
        if presses is None:
            raise ActionError("bad_keys", f"“{own.value}” are no keys. Correct them in the settings.")
        window = self._typist.bring_forward(job.target, job.halt)
        # Where the cursor is afterwards is the application's affair.
        self._typist.forget()
        for press in presses:
            check(job.halt)
            chord = Chord(tuple(name for name in MODIFIERS if name in press.modifiers), press.key)
            self._backend.press(chord, 1, window.id, job.halt)
        return Done(f"sent to {window.title or window.application or 'the window in front'}", Receipt.SENT)

    def _run(self, own: OwnCommand, halt: threading.Event) -> Done:
        try:
            command = command_line(own.value)
        except ValueError as error:
            raise ActionError("bad_program", "Its quotes do not match. Correct it in the settings.") from error
        if not command:
            raise ActionError("bad_program", "There is no program to run. Correct it in the settings.")
        child = self._launcher.start(command, command[0])
        status = self._launcher.wait_for_exit(child, _FAILS_WITHIN_S, halt)
        if status:
            raise ActionError("program_ended", f"{command[0]} ended at once with status {status}.")
        return Done("started" if status is None else "", Receipt.SENT if status is None else Receipt.VERIFIED)
