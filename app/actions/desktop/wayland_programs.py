"""What other programs do on Wayland: wtype presses keys, wl-copy copies, grim takes pictures. One worker thread.

They speak protocols that Qt does not; text goes to them through a pipe, since arguments can be read by everybody.
"""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Mapping

from sayso.app.actions.desktop.base import Chord, check
from sayso.app.actions.errors import ActionError

TYPES, COPIES, PICTURES = "wtype", "wl-copy", "grim"
_COPY_S = 3.0
_PICTURE_S = 5.0
_TYPE_S = 5.0
_KEY_S = 0.05
"""What wtype may take for all, and for each key besides."""
_MODIFIERS = {"control": "ctrl", "shift": "shift", "alt": "alt", "super": "logo"}
_FIRST = ("-s", "80")
"""Milliseconds before the first key: a program in front has to take notice of wtype's keyboard, which is a new one."""
_BETWEEN_MS = "2"
"""Between two keys; programs that are busy lose some where there is nothing between them."""


def program(name: str, environment: Mapping[str, str]) -> str | None:
    """The path of a program in the session's PATH, if it is installed."""
    return shutil.which(name, path=environment.get("PATH", ""))


def type_text(text: str, environment: Mapping[str, str], halt: threading.Event) -> None:
    """Type into whatever window has the keyboard, on a keyboard that has these characters; ActionError “no_keys”."""
    _wtype(["-d", _BETWEEN_MS, "-"], text, environment, halt)


def press_keys(chord: Chord, times: int, environment: Mapping[str, str], halt: threading.Event) -> None:
    """Press and release a chord some times; ActionError “no_keys”. Its end gives back what it holds."""
    held = [word for name in chord.modifiers for word in ("-M", _MODIFIERS[name])]
    freed = [word for name in reversed(chord.modifiers) for word in ("-m", _MODIFIERS[name])]
    _wtype([*held, *(["-k", chord.key] * times), *freed], "", environment, halt)


def _wtype(arguments: list[str], text: str, environment: Mapping[str, str], halt: threading.Event) -> None:
    path = program(TYPES, environment)
    if path is None:
        raise ActionError("no_keys", "The program wtype, which presses keys on Wayland, is not installed any more.")
    seconds = _TYPE_S + _KEY_S * max(len(text), len(arguments))
    status = _run([path, *_FIRST, *arguments], text, environment, halt, seconds)
    if status is None:
        raise ActionError("no_keys", f"The keys were not taken within {seconds:.0f} seconds; some may have arrived.")
    if status:
        raise ActionError("no_keys", "This desktop lets no program type or press keys for others on Wayland.")


def copy(text: str, environment: Mapping[str, str], halt: threading.Event) -> None:
    """Put ``text`` on the clipboard, where wl-copy keeps it in the background until something else is copied."""
    path = program(COPIES, environment)
    if path is None:
        raise ActionError(
            "no_clipboard",
            "Install wl-clipboard to get the text on the clipboard; until then copy it from the transcript.",
        )
    if _run([path, "--type", "text/plain;charset=utf-8"], text, environment, halt, _COPY_S) != 0:
        raise ActionError(
            "no_clipboard", "The session did not take the text for its clipboard; copy it from the transcript."
        )


def picture(environment: Mapping[str, str]) -> bytes | None:
    """What is on the screen, as a PNG file, where grim is installed and the compositor lets it."""
    path = program(PICTURES, environment)
    if path is None:
        return None
    silent = subprocess.DEVNULL
    try:
        done = subprocess.run(
            [path, "-"],
            env=dict(environment),
            stdin=silent,
            stdout=subprocess.PIPE,
            stderr=silent,
            timeout=_PICTURE_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def _run(
    command: list[str], text: str, environment: Mapping[str, str], halt: threading.Event, seconds: float
) -> int | None:
    """Hand the text over and wait for the end; the status, or None where it did not come and was brought about."""
    until = time.monotonic() + seconds
    silent = subprocess.DEVNULL
    remaining: bytes | None = text.encode()
    with subprocess.Popen(
        command, env=dict(environment), stdin=subprocess.PIPE, stdout=silent, stderr=silent
    ) as process:
        try:
            while True:
                try:
                    process.communicate(remaining, timeout=0.05)
                except subprocess.TimeoutExpired:
                    check(halt)
                    remaining = None
                    if time.monotonic() > until:
                        return None
                    continue
                return process.returncode
        finally:
            process.kill()
