"""One Sayso for each user: who is first holds a lock and a socket, whoever comes later asks the first one over it.

Both lie in a folder that only the user can enter. The kernel frees the lock with the process, however that ends, so a
socket that is there without a lock is stale and may be replaced. Everything here blocks: before the event loop runs,
or in the command line. ``control_server`` answers on the socket.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
import stat
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from sayso.app.errors import AppError

DONE, CLOSING = b"done\n", b"closing\n"
"""What the running Sayso answers when it did as asked, and while it ends; anything else is a refusal."""
LONGEST_LINE = 256
"""Bytes of a question or an answer, line end included."""

_ANSWER_S = 20.0
"""One that is just starting listens already, and answers when its windows are built."""
_CLOSING_S = 30.0
_LOOK_AGAIN_S = 0.1
_WAITING_CONNECTIONS = 8


class ControlError(AppError):
    """Codes: no_private_folder, not_running, no_answer, refused, closing."""


class Instance:
    """That this process is the user's running Sayso. ``listening`` is where others ask, from the first moment on."""

    def __init__(self, lock: int, path: Path, listening: socket.socket) -> None:
        self._lock = lock
        self._path = path
        self.listening = listening

    def __enter__(self) -> Instance:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let another one run."""
        self.listening.close()
        with contextlib.suppress(OSError):
            self._path.unlink()
        os.close(self._lock)


def folder(environment: Mapping[str, str]) -> Path:
    """A folder for the lock and the socket that only this user can enter; made when it is not there.

    Raises ControlError ``no_private_folder``.
    """
    user = os.getuid()
    session = environment.get("XDG_RUNTIME_DIR") or f"/run/user/{user}"
    for path in (Path(session) / "sayso", Path(tempfile.gettempdir()) / f"sayso-{user}"):
        if _is_private(path):
            return path
    raise ControlError("no_private_folder", f"{path} is not yours alone. Remove it, or set XDG_RUNTIME_DIR.")


def _is_private(path: Path) -> bool:
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return False
        path.chmod(0o700)
        return os.access(path, os.W_OK | os.X_OK)
    except OSError:
        return False


def claim(where: Path) -> Instance | None:
    """Be the user's running Sayso; None when another one is. Raises ControlError ``no_private_folder``."""
    try:
        lock = os.open(where / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return Instance(lock, where / "control", _listen(where / "control"))
        except BlockingIOError:
            os.close(lock)
            return None
        except OSError:
            os.close(lock)
            raise
    except OSError as error:
        message = f"{where} cannot be used: {error.strerror or error}. Set XDG_RUNTIME_DIR to another folder of yours."
        raise ControlError("no_private_folder", message) from error


def _listen(path: Path) -> socket.socket:
    # We hold the lock, so whoever made a socket that is here no longer runs.
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(path))
        listening.listen(_WAITING_CONNECTIONS)
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    return listening


def leave(environment: Mapping[str, str]) -> str:
    """The leave to be in front that the desktop gave this process, or nothing; one that we cannot hand on is none."""
    token = environment.get("XDG_ACTIVATION_TOKEN", "")
    return token if re.fullmatch(rf"[!-~]{{1,{LONGEST_LINE // 2}}}", token) else ""


def claim_or_show(where: Path, leave: str = "") -> Instance | None:
    """Be the running Sayso, or have the one that runs show its window, which gives None. Waits for one that ends.

    ``leave`` is ours to be in front, which the one that runs is to use.

    Raises ControlError.
    """
    deadline = time.monotonic() + _CLOSING_S
    while (instance := claim(where)) is None:
        try:
            ask(where, "show", leave)
            return None
        except ControlError as error:
            # Not running though the lock is held: it is just about to listen, or has just stopped.
            if error.code not in ("closing", "not_running") or time.monotonic() > deadline:
                raise
            time.sleep(_LOOK_AGAIN_S)
    return instance


def ask(where: Path, word: str, leave: str = "") -> None:
    """Have the running Sayso do what ``word`` says: start, stop, toggle, cancel, show or quit. Raises ControlError.

    ``leave`` is the leave to be in front, for what shows something.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_ANSWER_S)
            connection.connect(str(where / "control"))
            connection.sendall(f"{word} {leave}".rstrip().encode() + b"\n")
            with connection.makefile("rb") as answers:
                answer = answers.readline(LONGEST_LINE)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise ControlError("not_running", "Sayso is not running. Start it with “sayso”.") from error
    except OSError as error:
        raise ControlError(
            "no_answer", "Sayso runs, but does not answer. Try again, or end it and start it."
        ) from error
    # Nothing at all: it ended before it came to us.
    if answer in (CLOSING, b""):
        raise ControlError("closing", "Sayso is closing. Try again in a moment.")
    if answer != DONE:
        raise ControlError("refused", f"The running Sayso does not know “{word}”. Restart it if it was updated.")
