"""Settings on a real disk: saved whole, and a broken file is set aside. Keys are readable by their owner only."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import keyring
import keyring.backend
import keyring.backends.fail
import pytest

from sayso.app.remote_server_view import KeyPlace
from sayso.app.settings import KeyStore, Loaded, Settings, SettingsError, load, save
from sayso.app.snapshot import Mode, ServerKind

CHOSEN = Settings("USB microphone", Mode.DICTATION, ServerKind.REMOTE, "ws://example.org/v1/realtime", "voxtral")


class MemoryKeyring(keyring.backend.KeyringBackend):
    """A keyring that keeps its passwords in memory."""

    priority = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.passwords: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        return self.passwords.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._unlock()
        self.passwords[service, username] = password

    def _unlock(self) -> None:
        if self.locked:
            raise keyring.errors.KeyringLocked("dismissed")

    def delete_password(self, service: str, username: str) -> None:
        self._unlock()
        if self.passwords.pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError("not there")


@pytest.fixture(autouse=True)
def the_users_keyring_is_put_back():  # type: ignore[no-untyped-def]
    before = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.fail.Keyring())
    yield
    keyring.set_keyring(before)


def test_without_a_file_there_are_defaults_and_no_warning(tmp_path: Path) -> None:
    loaded = load(tmp_path / "none")
    assert loaded.settings == Settings(guided=False)
    assert loaded.warning == ""


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    save(CHOSEN, tmp_path / "new folder")
    assert load(tmp_path / "new folder").settings == CHOSEN


@pytest.mark.parametrize("content", [b"", b"{", b'{"mode": "shouting"}', b'{"microphone": 7}', b"\xff\xfe", b"[]"])
def test_a_broken_file_is_set_aside_with_a_warning(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "settings.json").write_bytes(content)
    loaded = load(tmp_path)
    assert loaded.settings == Settings()
    aside = tmp_path / "settings.broken.json"
    assert str(aside) in loaded.warning
    assert aside.read_bytes() == content
    save(CHOSEN, tmp_path)
    assert load(tmp_path).settings == CHOSEN


@pytest.mark.parametrize("content", [b"{", b'{"mode": "shouting", "microphone": "USB"}'])
def test_a_broken_file_that_cannot_be_set_aside_is_no_reason_not_to_start(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "settings.json").write_bytes(content)
    (tmp_path / "settings.broken.json").mkdir()
    loaded = load(tmp_path)
    assert loaded.settings.microphone == ("USB" if b"USB" in content else "")
    assert "stays as it is" in loaded.warning
    assert (tmp_path / "settings.json").read_bytes() == content


def test_settings_of_a_newer_version_are_understood(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"microphone": "USB", "from_the_future": true}')
    assert load(tmp_path).settings == Settings(microphone="USB")


def test_one_bad_value_does_not_reset_the_others(tmp_path: Path) -> None:
    content = b'{"microphone": "USB", "mode": "shouting", "threads": "four", "device": "cpu", "of_tomorrow": [1]}'
    (tmp_path / "settings.json").write_bytes(content)
    loaded = load(tmp_path)
    assert loaded.settings == Settings(microphone="USB", device="cpu")
    assert "reset: mode, threads." in loaded.warning
    assert (tmp_path / "settings.broken.json").read_bytes() == content
    assert load(tmp_path) == Loaded(Settings(microphone="USB", device="cpu"))
    assert json.loads((tmp_path / "settings.json").read_bytes())["of_tomorrow"] == [1]


def test_what_a_newer_version_has_written_survives_a_change(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"microphone": "USB", "from_the_future": {"deep": [1, 2]}}')
    save(CHOSEN, tmp_path)
    assert load(tmp_path).settings == CHOSEN
    assert json.loads((tmp_path / "settings.json").read_bytes())["from_the_future"] == {"deep": [1, 2]}


def test_a_folder_that_cannot_be_written_is_an_error_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(SettingsError) as caught:
        save(CHOSEN, tmp_path / "file")
    assert caught.value.code == "settings_unwritable"


def test_text_that_no_file_can_hold_is_an_error_with_its_reason(tmp_path: Path) -> None:
    save(CHOSEN, tmp_path)
    with pytest.raises(SettingsError, match="sign that is none"):
        save(Settings(wake_phrase="hey \ud800"), tmp_path)
    assert load(tmp_path).settings == CHOSEN


def test_nothing_is_left_beside_the_file(tmp_path: Path) -> None:
    save(CHOSEN, tmp_path)
    save(Settings(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


def test_without_a_keyring_keys_are_in_a_file_for_the_user_alone_and_that_is_said(tmp_path: Path) -> None:
    keys = KeyStore(tmp_path)
    warning = keys.set("ws://one", "secret")
    assert str(tmp_path / "keys.json") in warning
    assert stat.S_IMODE((tmp_path / "keys.json").stat().st_mode) == 0o600
    assert keys.get("ws://one") == "secret"
    assert keys.get("ws://other") == ""
    assert keys.place("ws://one") is KeyPlace.FILE
    assert keys.set("ws://one", "") == ""
    assert keys.get("ws://one") == ""
    assert keys.place("ws://one") is KeyPlace.NONE


def test_a_keyring_is_used_where_there_is_one_and_the_file_is_cleared(tmp_path: Path) -> None:
    keys = KeyStore(tmp_path)
    keys.set("ws://one", "old")
    keyring.set_keyring(MemoryKeyring())
    assert keys.set("ws://one", "secret") == ""
    assert keys.get("ws://one") == "secret"
    assert keys.place("ws://one") is KeyPlace.KEYRING
    assert b"ws://one" not in (tmp_path / "keys.json").read_bytes()
    keys.set("ws://one", "")
    assert keys.get("ws://one") == ""
    assert keys.set("ws://never", "") == ""


@pytest.mark.parametrize("key", ["another", ""])
def test_a_keyring_that_stays_locked_is_told_and_nothing_else_is_kept(tmp_path: Path, key: str) -> None:
    keys, ring = KeyStore(tmp_path), MemoryKeyring()
    keyring.set_keyring(ring)
    keys.set("ws://one", "secret")
    ring.locked = True
    with pytest.raises(SettingsError) as told:
        keys.set("ws://one", key)
    assert told.value.code == "keyring_locked"
    assert not (tmp_path / "keys.json").exists()
    ring.locked = False
    assert keys.get("ws://one") == "secret"


def test_the_settings_hold_no_key() -> None:
    assert not any("key" in name for name in Settings.__struct_fields__)
