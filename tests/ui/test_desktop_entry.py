"""The desktop as a process: it says in one line why it cannot start, and every way of ending it ends it cleanly."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from played_service import PlayedService, played, private_bus

START_S = 40
"""A bound, not an expectation: a busy machine may take long to import Qt."""


@pytest.fixture
def remote() -> Iterator[socket.socket]:
    """Where a server would be; the desktop connecting to it tells that the desktop runs."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(START_S)
        yield listening


def environment(folder: Path, **changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    kept.pop("QT_QPA_PLATFORM", None)
    return {**kept, "XDG_CONFIG_HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), **changes}


def test_without_a_display_it_says_so_in_one_line_and_fails(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sayso.app"], env=environment(tmp_path), capture_output=True, text=True, timeout=START_S
    )
    assert done.returncode == 1
    assert done.stderr.startswith("sayso: Sayso needs a desktop session")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_cleanly_while_it_waits_for_a_server(
    tmp_path: Path, remote: socket.socket, number: signal.Signals
) -> None:
    url = f"ws://127.0.0.1:{remote.getsockname()[1]}/v1/realtime"
    (tmp_path / "sayso").mkdir()
    (tmp_path / "sayso" / "settings.json").write_text(json.dumps({"server": "remote", "remote_url": url}))
    desktop = subprocess.Popen(
        [sys.executable, "-m", "sayso.app"],
        env=environment(tmp_path, QT_QPA_PLATFORM="offscreen"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        connection, _ = remote.accept()
        with connection:
            desktop.send_signal(number)
            _, complaints = desktop.communicate(timeout=START_S)
    finally:
        desktop.kill()
    assert desktop.returncode == 0, complaints
    assert "Traceback" not in complaints


STARTED = """
from sayso.app.__main__ import _application
from PySide6.QtCore import QTimer
application = _application()
hints = application.styleHints()
QTimer.singleShot(10_000, application.quit)
hints.colorSchemeChanged.connect(application.quit)
if hints.colorScheme().name != "Dark":
    application.exec()
print(hints.colorScheme().name)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no portal tells")
def test_a_desktop_that_is_dark_at_the_start_is_followed(tmp_path: Path) -> None:
    dark = {"org.freedesktop.appearance": {"color-scheme": ("u", 1)}}
    portal = PlayedService(on_call=lambda method, body: ("a{sa{sv}}", (dark,)) if method == "ReadAll" else None)
    with private_bus(tmp_path) as bus, played(bus, "org.freedesktop.portal.Desktop", portal):
        own = {"DBUS_SESSION_BUS_ADDRESS": bus, "QT_QPA_PLATFORM": "offscreen", "XDG_CURRENT_DESKTOP": "ubuntu:GNOME"}
        environment = {**os.environ, **own}
        run = subprocess.run(
            [sys.executable, "-c", STARTED],
            env=environment,
            capture_output=True,
            text=True,
            timeout=START_S,
            check=False,
        )
    assert run.stdout == "Dark\n", run.stderr
