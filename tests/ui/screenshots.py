"""Pictures of the real widgets in their states, for the documentation and for the eye.

    python tests/ui/screenshots.py docs/screenshots            the pictures of the documentation, at 100 and 150 %
    python tests/ui/screenshots.py DIRECTORY --all [--size 480x600]

A picture is named SCENE-light.png or SCENE-dark.png, and SCENE-light-150.png at 150 %. Qt draws on the platform it
finds; QT_QPA_PLATFORM=offscreen needs no display, QT_SCALE_FACTOR=1.5 shows another scale.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import guide_scenes
import history_scenes
import overlay_scenes
import scenes
import settings_scenes
from PIL import Image
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication, QWidget

from sayso.app.commands.own import OwnCommand
from sayso.app.commands_view import Problems
from sayso.app.memory_policy import Preset
from sayso.app.snapshot import Mode, Snapshot
from sayso.ui.engine_page import EnginePage
from sayso.ui.main_window import MainWindow
from sayso.ui.memory_page import MemoryPage
from sayso.ui.overlay import Overlay
from sayso.ui.own_command_dialog import OwnCommandDialog
from sayso.ui.server_page import ServerPage
from sayso.ui.theme import Theme

DOCUMENTED = (
    *("listening", "empty", "starting", "idle", "question", "troubles", "no-microphone", "microphone-taken"),
    *("reconnecting", "long-text"),
    *settings_scenes.DOCUMENTED,
    *("overlay-hearing", "overlay-question", "overlay-failed"),
    *("guide-microphone", "guide-server", "guide-model", "guide-commands"),
    *("history", "history-search", "history-off", "own-command", "own-command-refused"),
)
LARGE = (
    *("listening", "question", "troubles", "overlay-hearing", "guide-microphone", "guide-commands", "history"),
    *("own-command", "settings-memory-custom"),
    *(name for name in settings_scenes.DOCUMENTED if name.count("-") == 1),
)
"""Documented at 150 % as well."""


class Silent:
    """Intents of a window that is only looked at."""

    @property
    def options(self) -> Silent:
        return self

    @property
    def ways(self) -> Silent:
        return self

    @property
    def commands(self) -> Silent:
        return self

    def __init__(self) -> None:
        self.history: object = self

    def rows(self, *what: object) -> None: ...
    def find(self, *what: object) -> None: ...
    @property
    def actions(self) -> Silent:
        return self

    @property
    def memory(self) -> Silent:
        return self

    def use_preset(self, preset: Preset) -> None: ...
    def set_control(self, name: str, value: float) -> None: ...
    def free_now(self) -> None: ...
    def close_session(self, session: str) -> None: ...
    def put_away(self, *what: object) -> None: ...

    def use_microphone(self, name: str) -> None: ...
    def look_for_microphones(self) -> None: ...
    def set_wait_ms(self, wait_ms: int) -> None: ...
    def set_listens_at_start(self, on: bool) -> None: ...
    def set_overlay(self, on: bool) -> None: ...
    def place_overlay(self, place: object) -> None: ...
    def tell(self, text: str) -> None: ...
    def use_way(self, way: object) -> None: ...
    def use_key(self, text: str) -> None: ...
    def listen_for_key(self, on: bool) -> None: ...
    def set_phrase(self, phrase: str) -> None: ...
    def ask_phrase(self, on: bool) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def toggle(self) -> None: ...
    @property
    def engine(self) -> Silent:
        return self

    def watch(self, on: bool) -> None: ...
    def use_model(self, name: str) -> None: ...
    def use_device(self, device: str) -> None: ...
    def use_threads(self, threads: int) -> None: ...
    def fetch(self, name: str) -> None: ...
    @property
    def guide(self) -> Silent:
        return self

    def open(self) -> None: ...
    def forward(self) -> None: ...
    def back(self) -> None: ...
    def close(self) -> None: ...
    def obtain(self, name: str) -> None: ...
    def measure(self, name: str) -> None: ...
    def measure_all(self, names: Sequence[str]) -> None: ...
    def add_folder(self, typed: str) -> None: ...
    def remove(self, name: str) -> None: ...
    def stop_work(self) -> None: ...
    def use_embedded(self) -> None: ...
    @property
    def servers(self) -> Silent:
        return self

    @property
    def check(self) -> Silent:
        return self

    def start_check(self) -> None: ...
    def stop_check(self) -> None: ...
    def try_server(self, address: str, key: str, model: str) -> None: ...
    def stop_trial(self) -> None: ...
    def look_for_key(self, address: str) -> None: ...
    def remove_key(self, address: str) -> None: ...
    def use_remote(self, url: str, key: str, model: str | None = None) -> None: ...
    def set_mode(self, mode: Mode) -> None: ...
    def undo(self, item_id: int) -> None: ...
    def confirm(self, item_id: int) -> None: ...
    def refuse(self, item_id: int) -> None: ...
    def insert(self, text: str) -> None: ...
    def forget_session(self) -> None: ...
    def dismiss(self, notice_code: str) -> None: ...
    def retreated(self) -> None: ...
    def set_close_to_tray(self, on: bool) -> None: ...
    def set_start_with_session(self, on: bool) -> None: ...
    def quit(self) -> None: ...


def photograph(theme: Theme, snapshot: Snapshot, size: QSize, target: Path) -> None:
    window = MainWindow(Silent(), theme)
    window.resize(size)
    window.show_snapshot(snapshot)
    window.show()
    _save(window, target)
    _leave(window)


def photograph_settings(theme: Theme, scene: settings_scenes.SettingsScene, size: QSize | None, target: Path) -> None:
    window = MainWindow(Silent(), theme)
    window.show_snapshot(scene.snapshot)
    window.open_settings(scene.page)
    assert window.settings is not None
    # The size of the window itself is bounded by the screen, which differs from platform to platform.
    window.settings.resize(size or QSize(theme.spacing.times(200), theme.spacing.times(scene.height)))
    if scene.typed:
        window.settings.show_page("Server")
        assert isinstance(window.settings.shown, ServerPage)
        window.settings.shown.form.address.setText(scene.typed)
        window.settings.shown.form.address.textEdited.emit(scene.typed)
        window.settings.shown.form.key.setText("of the pictures")
        window.settings.show_page(scene.page)
    if scene.search:
        window.settings.index.search.setText(scene.search)
    else:
        window.settings.index.list.setFocus()
    if scene.session:
        assert isinstance(window.settings.shown, MemoryPage)
        sessions = window.settings.shown.sessions
        sessions.setCurrentIndex(sessions.rows.index(scene.session, 0))
    if scene.folder or scene.model:
        assert isinstance(window.settings.shown, EnginePage)
        models = window.settings.shown.list
        window.settings.shown.folder.path.setText(scene.folder)
        models.setCurrentIndex(models.model().index(scene.model, 0))
    _save(window.settings, target)
    _leave(window)


def photograph_guide(theme: Theme, snapshot: Snapshot, target: Path) -> None:
    window = MainWindow(Silent(), theme)
    window.show()
    window.show_snapshot(snapshot)
    assert window.guide is not None
    _save(window.guide, target)
    _leave(window)


def photograph_overlay(theme: Theme, snapshot: Snapshot, target: Path) -> None:
    overlay = Overlay(theme, is_watched=lambda: False)
    overlay.show_snapshot(overlay_scenes.BEFORE)
    overlay.show_snapshot(snapshot)
    assert overlay.isVisible()
    _save(overlay, target)
    overlay.hide()
    overlay.deleteLater()


def photograph_history(theme: Theme, scene: history_scenes.HistoryScene, size: QSize | None, target: Path) -> None:
    intents = Silent()
    intents.history = scene
    window = MainWindow(intents, theme)
    window.show_snapshot(scene.snapshot)
    window.open_history()
    assert window.history is not None
    window.history.resize(size or QSize(theme.spacing.times(240), theme.spacing.times(140)))
    window.history.search.setText(scene.search)
    window.history.look()
    _save(window.history, target)
    _leave(window)


def photograph_own_command(theme: Theme, own: OwnCommand, problems: Problems, target: Path) -> None:
    window = MainWindow(Silent(), theme)
    window.show()
    dialog = OwnCommandDialog(theme, window, lambda command: problems, lambda command: None, own)
    dialog.phrase.textEdited.emit(own.phrase)
    dialog.value.textEdited.emit(own.value)
    dialog.open()
    _save(dialog, target)
    _leave(window)


def _save(widget: QWidget, target: Path) -> None:
    for _ in range(3):
        QApplication.processEvents()
    widget.grab().save(str(target))
    # A palette of 256 colours looks the same and takes a third of the space in the repository.
    with Image.open(target) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)
    print(target)


def _leave(window: MainWindow) -> None:
    window.hide()
    window.deleteLater()
    QApplication.processEvents()


def _be_nobodys_machine() -> None:
    """Show made-up folders and a made-up system instead of those of whoever takes the pictures."""
    os.environ.update(XDG_CONFIG_HOME="/home/ada/.config", XDG_CACHE_HOME="/home/ada/.cache")
    os.environ.update(XDG_SESSION_TYPE="x11", XDG_CURRENT_DESKTOP="GNOME", LANG="en_GB.UTF-8")
    platform.platform = lambda aliased=False, terse=False: "Linux-6.12-x86_64-with-glibc2.41"


def pictures(theme: Theme, size: QSize | None) -> dict[str, Callable[[Path], None]]:
    """What takes the picture of each scene, by its name; ``size`` is that of the windows that can have any."""
    usual = size or QSize(960, 680)
    taken: dict[str, Callable[[Path], None]] = {}
    for name, main in scenes.ALL.items():
        taken[name] = partial(photograph, theme, main(), usual)
    for name, settings in settings_scenes.ALL.items():
        taken[name] = partial(photograph_settings, theme, settings(), size)
    for name, overlay in overlay_scenes.ALL.items():
        taken[name] = partial(photograph_overlay, theme, overlay)
    for name, guide in guide_scenes.ALL.items():
        taken[name] = partial(photograph_guide, theme, guide())
    for name, history in history_scenes.ALL.items():
        taken[name] = partial(photograph_history, theme, history(), size)
    for name, (own, problems) in history_scenes.OWN_COMMANDS.items():
        taken[name] = partial(photograph_own_command, theme, own, problems)
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--all", action="store_true", help="every scene in both palettes")
    parser.add_argument("--size", help="WIDTHxHEIGHT in device-independent pixels")
    options = parser.parse_args()
    size = QSize(*(int(part) for part in options.size.split("x"))) if options.size else None
    application = QApplication(sys.argv[:1])
    theme = Theme(application)
    options.directory.mkdir(parents=True, exist_ok=True)
    _be_nobodys_machine()
    percent = round(100 * application.devicePixelRatio())
    scale = "" if percent == 100 else f"-{percent}"
    wanted = DOCUMENTED if percent == 100 else LARGE
    for name, scheme in (("light", Qt.ColorScheme.Light), ("dark", Qt.ColorScheme.Dark)):
        theme.use_scheme(scheme)
        for scene, take in pictures(theme, size).items():
            if options.all or scene in wanted:
                take(options.directory / f"{scene}-{name}{scale}.png")
    if not options.all and percent == 100:
        # A program has one scale from its start to its end.
        environment = {**os.environ, "QT_SCALE_FACTOR": "1.5"}
        return subprocess.run([sys.executable, __file__, options.directory], env=environment, check=False).returncode
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
