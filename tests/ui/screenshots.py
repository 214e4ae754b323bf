"""Pictures of the real widgets in their states, for the documentation and for the eye.

    python tests/ui/screenshots.py docs/screenshots            the two pictures of the documentation
    python tests/ui/screenshots.py DIRECTORY --all [--size 480x600]

Qt draws on the platform it finds; QT_QPA_PLATFORM=offscreen needs no display, QT_SCALE_FACTOR=1.5 shows another scale.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import scenes
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from sayso.app.memory_policy import Preset
from sayso.app.snapshot import Mode, Snapshot
from sayso.ui.main_window import MainWindow
from sayso.ui.theme import Theme

DOCUMENTED = {"light": "listening", "dark": "listening"}


class Silent:
    """Intents of a window that is only looked at."""

    @property
    def options(self) -> Silent:
        return self

    @property
    def history(self) -> Silent:
        return self

    def rows(self, *what: object) -> None: ...
    def find(self, *what: object) -> None: ...
    @property
    def actions(self) -> Silent:
        return self

    @property
    def memory(self) -> Silent:
        return self

    def watch(self, on: bool) -> None: ...
    def use_preset(self, preset: Preset) -> None: ...
    def set_control(self, name: str, value: float) -> None: ...
    def free_now(self) -> None: ...
    def close_session(self, session: str) -> None: ...

    def use_microphone(self, name: str) -> None: ...
    def look_for_microphones(self) -> None: ...
    def set_wait_ms(self, wait_ms: int) -> None: ...
    def set_listens_at_start(self, on: bool) -> None: ...
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
    def measure(self, name: str) -> None: ...
    def measure_all(self, names: Sequence[str]) -> None: ...
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
    def dismiss(self, notice_code: str) -> None: ...
    def retreated(self) -> None: ...
    def set_close_to_tray(self, on: bool) -> None: ...
    def set_start_with_session(self, on: bool) -> None: ...
    def quit(self) -> None: ...


def photograph(theme: Theme, snapshot: Snapshot, size: tuple[int, int], target: Path) -> None:
    window = MainWindow(Silent(), theme)
    window.resize(*size)
    window.show_snapshot(snapshot)
    window.show()
    for _ in range(3):
        QApplication.processEvents()
    window.grab().save(str(target))
    window.hide()
    window.deleteLater()
    QApplication.processEvents()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--all", action="store_true", help="every scene in both palettes")
    parser.add_argument("--size", default="960x680", help="WIDTHxHEIGHT in device-independent pixels")
    options = parser.parse_args()
    width, height = (int(part) for part in options.size.split("x"))
    application = QApplication(sys.argv[:1])
    theme = Theme(application)
    options.directory.mkdir(parents=True, exist_ok=True)
    for name, scheme in (("light", Qt.ColorScheme.Light), ("dark", Qt.ColorScheme.Dark)):
        theme.use_scheme(scheme)
        shown = scenes.ALL if options.all else {DOCUMENTED[name]: scenes.ALL[DOCUMENTED[name]]}
        for scene, make in shown.items():
            target = options.directory / f"{scene}-{name}.png"
            photograph(theme, make(), (width, height), target)
            print(target)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
