"""What the user has chosen, and where it is kept. Reading and writing block: at start-up, or on a worker thread.

The file is JSON in the user's configuration folder, written whole or not at all. A file that cannot be read is set
aside and what can be understood of it is kept; what a newer version has written stays in the file. Keys are not in it:
they are in the system's keyring, or where there is none in a file that only the user can read.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import platformdirs

from sayso.app.commands.own import OwnCommand
from sayso.app.errors import AppError
from sayso.app.history.view import FOREVER, OFF
from sayso.app.memory_policy import PRESETS, Controls, Preset
from sayso.app.memory_view import StartTimes
from sayso.app.remote_server_view import KeyPlace
from sayso.app.snapshot import Mode, ServerKind
from sayso.app.ways_view import OverlayPlace, Way

SHORTEST_WAIT_MS, LONGEST_WAIT_MS = 300, 1500
"""Shorter pauses are inside of sentences; longer ones make whoever speaks wait."""

_FILE = "settings.json"
_KEYS_FILE = "keys.json"
_SERVICE = "sayso"


class SettingsError(AppError):
    """Codes: settings_unreadable, settings_unwritable, keys_unwritable, keyring_locked."""


class Settings(msgspec.Struct, frozen=True):
    """``microphone`` empty follows the system's default; ``model`` empty takes the server's own.
    ``model_folders`` are the user's own folders with models, which are listed beside the others.

    ``wait_ms`` is the pause that ends an utterance. ``told_of_tray`` is whether the user has read once that Sayso goes
    on there, ``guided`` that the first-run guide was finished or skipped. ``memory`` is when memory is given back,
    ``starts`` how long the engine took to come back from that. ``history_days`` is how long utterances are kept, 0 for
    not at all. ``own_commands`` are the user's own, and ``off_commands`` the intents that are not understood.

    ``way`` is the way to listen; each has its key, of which only that way's is taken. ``wake_phrase`` wakes after “stop
    listening” (empty: none does), and with ``asks_phrase`` nothing is done without it. ``overlay`` is whether what is
    heard is shown over other windows, at ``overlay_place``.
    """

    microphone: str = ""
    mode: Mode = Mode.COMMANDS
    server: ServerKind = ServerKind.EMBEDDED
    remote_url: str = ""
    remote_model: str = ""
    model: str = "auto"
    model_folders: tuple[str, ...] = ()
    device: str = "auto"
    threads: int = 0
    close_to_tray: bool = True
    told_of_tray: bool = False
    wait_ms: Annotated[int, msgspec.Meta(ge=SHORTEST_WAIT_MS, le=LONGEST_WAIT_MS)] = 550
    listens_at_start: bool = True
    history_days: Annotated[int, msgspec.Meta(ge=OFF, le=FOREVER)] = OFF
    way: Way = Way.HANDS_FREE
    hold_shortcut: str = "Ctrl+Alt+Space"
    toggle_shortcut: str = "Ctrl+Alt+Space"
    sleep_shortcut: str = ""
    wake_phrase: str = "hey sayso"
    asks_phrase: bool = False
    overlay: bool = True
    overlay_place: OverlayPlace = OverlayPlace.BOTTOM
    memory: Controls = PRESETS[Preset.BALANCED]
    starts: StartTimes = StartTimes()
    own_commands: tuple[OwnCommand, ...] = ()
    off_commands: tuple[str, ...] = ()
    guided: bool = True


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, and a line for people when the file had to be set aside."""

    settings: Settings
    warning: str = ""


def folder() -> Path:
    """The user's configuration folder for Sayso."""
    return platformdirs.user_config_path("sayso", appauthor=False)


def load(where: Path | None = None) -> Loaded:
    """Read the settings; defaults when there are none. Raises nothing but for a folder that cannot be used at all."""
    path = (where or folder()) / _FILE
    try:
        content = path.read_bytes()
        try:
            return Loaded(msgspec.json.decode(content, type=Settings))
        except msgspec.DecodeError as error:
            return _salvage(path, content, error)
    except FileNotFoundError:
        return Loaded(Settings(guided=False))
    except OSError as error:
        raise SettingsError("settings_unreadable", f"{path} cannot be read: {error.strerror}.") from error


def _salvage(path: Path, content: bytes, error: msgspec.DecodeError) -> Loaded:
    """What can be understood of a file that cannot be understood whole, which is set aside as it was.

    Where nothing can be written, as on a full disk, it stays, and what was understood is in force all the same.
    """
    fields = _fields(content)
    settings, bad = (Settings(), []) if fields is None else _understood(fields)
    aside = path.with_suffix(".broken.json")
    try:
        _write(aside, content)
        if fields is None:
            path.unlink()
        else:
            save(settings, path.parent)
        where = f"The old file is {aside}."
    except (OSError, SettingsError) as fault:
        reason = fault if isinstance(fault, SettingsError) else f"{aside} cannot be written: {fault.strerror}."
        where = f"The file stays as it is. {reason}"
    if fields is None:
        return Loaded(settings, f"The settings could not be read ({error}) and were reset. {where}")
    return Loaded(settings, f"These settings could not be read and were reset: {', '.join(bad)}. {where}")


def _understood(fields: dict[str, msgspec.Raw]) -> tuple[Settings, list[str]]:
    """The settings that these fields give, and the names of those that were not understood."""
    good, bad = {}, []
    for field in msgspec.structs.fields(Settings):
        if field.name in fields:
            try:
                good[field.name] = msgspec.json.decode(fields[field.name], type=field.type)
            except msgspec.DecodeError:
                bad.append(field.name.replace("_", " "))
    return Settings(**good), bad


def _fields(content: bytes) -> dict[str, msgspec.Raw] | None:
    try:
        return msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return None


def save(settings: Settings, where: Path | None = None) -> None:
    """Write the settings, whole or not at all. Raises SettingsError ``settings_unwritable``."""
    path = (where or folder()) / _FILE
    try:
        known = _fields(msgspec.json.encode(settings)) or {}
        _write(path, msgspec.json.format(msgspec.json.encode({**known, **_unknown(path)}), indent=2))
    except OSError as error:
        raise SettingsError("settings_unwritable", f"{path} cannot be written: {error.strerror}.") from error
    except UnicodeEncodeError as error:
        told = f"{path} cannot be written: some text in the settings has a sign that is none. Write that text anew."
        raise SettingsError("settings_unwritable", told) from error


def _unknown(path: Path) -> dict[str, msgspec.Raw]:
    """What a newer version has written and this one does not know; the newer one finds it again."""
    try:
        fields = _fields(path.read_bytes()) or {}
    except FileNotFoundError:
        return {}
    return {name: value for name, value in fields.items() if name not in Settings.__struct_fields__}


class KeyStore:
    """API keys by server address. A keyring may ask the user to unlock it, so call this on a worker thread."""

    def __init__(self, where: Path | None = None) -> None:
        self._path = (where or folder()) / _KEYS_FILE

    def get(self, url: str) -> str:
        """The key for this server; empty when there is none."""
        return self._in_keyring(url) or self._in_file().get(url, "")

    def place(self, url: str) -> KeyPlace:
        """Where the key for this server is kept."""
        if self._in_keyring(url):
            return KeyPlace.KEYRING
        return KeyPlace.FILE if self._in_file().get(url) else KeyPlace.NONE

    def set(self, url: str, key: str) -> str:
        """Keep the key (empty removes it); gives a line for people when it could only be kept in a file.

        Raises SettingsError ``keyring_locked`` or ``keys_unwritable``.
        """
        if self._to_keyring(url, key):
            if url in self._in_file():
                self._to_file(url, "")
            return ""
        self._to_file(url, key)
        return f"No system keyring was found: the key is kept in {self._path}, readable by you only." if key else ""

    def _in_keyring(self, url: str) -> str:
        try:
            import keyring
            from keyring.errors import KeyringError
        except ImportError:
            return ""
        try:
            return keyring.get_password(_SERVICE, url) or ""
        except (KeyringError, RuntimeError):
            return ""

    def _to_keyring(self, url: str, key: str) -> bool:
        try:
            import keyring
            from keyring.errors import KeyringError, KeyringLocked, PasswordDeleteError
        except ImportError:
            return False
        try:
            if key:
                keyring.set_password(_SERVICE, url, key)
            else:
                with contextlib.suppress(PasswordDeleteError):
                    keyring.delete_password(_SERVICE, url)
        except KeyringLocked as error:
            # What is in there would count again as soon as it is unlocked.
            told = "The system's keyring is locked, so the key in it is as before. Unlock it and try again."
            raise SettingsError("keyring_locked", told) from error
        except (KeyringError, RuntimeError):
            return False
        return True

    def _in_file(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, str])
        except (OSError, msgspec.DecodeError):
            return {}

    def _to_file(self, url: str, key: str) -> None:
        keys = {**self._in_file(), url: key}
        try:
            _write(self._path, msgspec.json.encode({url: key for url, key in keys.items() if key}))
        except OSError as error:
            raise SettingsError("keys_unwritable", f"{self._path} cannot be written: {error.strerror}.") from error


def _write(path: Path, content: bytes) -> None:
    """Replace the file in one step, readable by the user only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
