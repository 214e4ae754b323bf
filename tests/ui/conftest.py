"""Fixtures for the window: Qt without a display, recorded intents, and a window that has been shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

os.environ["QT_QPA_PLATFORM"] = "offscreen"
sys.path.insert(0, str(Path(__file__).parent))

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sayso.app.memory_policy import Preset
from sayso.app.memory_view import Place
from sayso.app.snapshot import Mode
from sayso.app.ways_view import OverlayPlace, Way
from sayso.ui.main_window import MainWindow
from sayso.ui.memory_page import MemoryPage
from sayso.ui.settings_page import SettingsPage
from sayso.ui.settings_window import SettingsWindow
from sayso.ui.theme import Theme


class RecordedIntents:
    """Intents that only write down what they were asked, as tuples of name and arguments."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.options = self
        self.ways = self
        self.servers = self
        self.check = self
        self.actions = self
        self.commands: object = None
        self.history: object = None
        """For a test that has one."""
        self.memory = self

    def use_microphone(self, name: str) -> None:
        self.calls.append(("use_microphone", name))

    def look_for_microphones(self) -> None:
        self.calls.append(("look_for_microphones",))

    def set_wait_ms(self, wait_ms: int) -> None:
        self.calls.append(("set_wait_ms", wait_ms))

    def set_listens_at_start(self, on: bool) -> None:
        self.calls.append(("set_listens_at_start", on))

    def use_preset(self, preset: Preset) -> None:
        self.calls.append(("use_preset", preset))

    def set_control(self, name: str, value: float) -> None:
        self.calls.append(("set_control", name, value))

    def free_now(self) -> None:
        self.calls.append(("free_now",))

    def close_session(self, session: str) -> None:
        self.calls.append(("close_session", session))

    def put_away(self, session: str, place: Place) -> None:
        self.calls.append(("put_away", session, place))

    def set_overlay(self, on: bool) -> None:
        self.calls.append(("set_overlay", on))

    def place_overlay(self, place: OverlayPlace) -> None:
        self.calls.append(("place_overlay", place))

    def tell(self, text: str) -> None:
        self.calls.append(("tell", text))

    def use_way(self, way: Way) -> None:
        self.calls.append(("use_way", way))

    def use_key(self, text: str) -> None:
        self.calls.append(("use_key", text))

    def listen_for_key(self, on: bool) -> None:
        self.calls.append(("listen_for_key", on))

    def set_phrase(self, phrase: str) -> None:
        self.calls.append(("set_phrase", phrase))

    def ask_phrase(self, on: bool) -> None:
        self.calls.append(("ask_phrase", on))

    def start(self) -> None:
        self.calls.append(("start",))

    def stop(self) -> None:
        self.calls.append(("stop",))

    def toggle(self) -> None:
        self.calls.append(("toggle",))

    @property
    def engine(self) -> RecordedIntents:
        return self

    def watch(self, on: bool) -> None:
        self.calls.append(("watch", on))

    def use_model(self, name: str) -> None:
        self.calls.append(("use_model", name))

    def use_device(self, device: str) -> None:
        self.calls.append(("use_device", device))

    def use_threads(self, threads: int) -> None:
        self.calls.append(("use_threads", threads))

    def fetch(self, name: str) -> None:
        self.calls.append(("fetch", name))

    def obtain(self, name: str) -> None:
        self.calls.append(("obtain", name))

    @property
    def guide(self) -> RecordedIntents:
        return self

    def open(self) -> None:
        self.calls.append(("open",))

    def forward(self) -> None:
        self.calls.append(("forward",))

    def back(self) -> None:
        self.calls.append(("back",))

    def close(self) -> None:
        self.calls.append(("close",))

    def measure(self, name: str) -> None:
        self.calls.append(("measure", name))

    def measure_all(self, names: Sequence[str]) -> None:
        self.calls.append(("measure_all", *names))

    def add_folder(self, typed: str) -> None:
        self.calls.append(("add_folder", typed))

    def remove(self, name: str) -> None:
        self.calls.append(("remove", name))

    def stop_work(self) -> None:
        self.calls.append(("stop_work",))

    def use_embedded(self) -> None:
        self.calls.append(("use_embedded",))

    def use_remote(self, url: str, key: str, model: str | None = None) -> None:
        self.calls.append(("use_remote", url, key) if model is None else ("use_remote", url, key, model))

    def try_server(self, address: str, key: str, model: str) -> None:
        self.calls.append(("try_server", address, key, model))

    def start_check(self) -> None:
        self.calls.append(("start_check",))

    def stop_check(self) -> None:
        self.calls.append(("stop_check",))

    def stop_trial(self) -> None:
        self.calls.append(("stop_trial",))

    def look_for_key(self, address: str) -> None:
        self.calls.append(("look_for_key", address))

    def remove_key(self, address: str) -> None:
        self.calls.append(("remove_key", address))

    def set_mode(self, mode: Mode) -> None:
        self.calls.append(("set_mode", mode))

    def undo(self, item_id: int) -> None:
        self.calls.append(("undo", item_id))

    def confirm(self, item_id: int) -> None:
        self.calls.append(("confirm", item_id))

    def refuse(self, item_id: int) -> None:
        self.calls.append(("refuse", item_id))

    def insert(self, text: str) -> None:
        self.calls.append(("insert", text))

    def forget_session(self) -> None:
        self.calls.append(("forget_session",))

    def dismiss(self, notice_code: str) -> None:
        self.calls.append(("dismiss", notice_code))

    def retreated(self) -> None:
        self.calls.append(("retreated",))

    def set_close_to_tray(self, on: bool) -> None:
        self.calls.append(("set_close_to_tray", on))

    def set_start_with_session(self, on: bool) -> None:
        self.calls.append(("set_start_with_session", on))

    def quit(self) -> None:
        self.calls.append(("quit",))


PageT = TypeVar("PageT", bound=SettingsPage)
TITLES: dict[type, str] = {MemoryPage: "Sessions and memory"}


def turn(settings: SettingsWindow, kind: type[PageT]) -> PageT:
    """Turn the settings to the page of this class."""
    settings.show_page(TITLES.get(kind, kind.__name__.removesuffix("Page")))
    QApplication.processEvents()
    assert isinstance(settings.shown, kind)
    return settings.shown


@pytest.fixture
def intents() -> RecordedIntents:
    return RecordedIntents()


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    yield Theme(qapp)
    qapp.setStyleSheet("")


@pytest.fixture
def window(qtbot: QtBot, theme: Theme, intents: RecordedIntents) -> Iterator[MainWindow]:
    window = MainWindow(intents, theme)
    window.resize(960, 680)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    yield window
    window.hide()
    window.deleteLater()
