"""The desktop application: starts its server first, then Qt, then the window, and runs until it is asked to quit.

The engine loads while Qt is imported, which is why nothing of Qt is imported at the top. The event loop is Qt's and
asyncio's at once; every way of quitting only sets the assistant's quit event, and the loop ends when its task does.
"""

from __future__ import annotations

import asyncio
import linecache
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import platformdirs

from sayso.app import settings, single_instance
from sayso.app.audio.alsa import load_sound_servers_only
from sayso.app.control_server import ControlServer
from sayso.app.desktop_file import APPLICATION
from sayso.app.errors import AppError
from sayso.app.local_server import LocalServer
from sayso.app.memory_policy import server_limits
from sayso.app.single_instance import Instance
from sayso.app.snapshot import ServerKind
from sayso.ui.display import require_access, require_display, require_libraries
from sayso.ui.errors import UiError

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from sayso.app.assistant import Assistant


def main() -> int:
    """Runs the desktop until it is asked to quit; where one runs already, its window is shown.

    The exit status is 0 after quitting or showing, 1 when it cannot start, with one line that says why, and 130 when
    the keyboard interrupts it before it runs.
    """
    try:
        environment = dict(os.environ)
        instance = single_instance.claim_or_show(
            single_instance.folder(environment), single_instance.leave(environment)
        )
        if instance is not None:
            with instance:
                _start(environment, instance)
    except KeyboardInterrupt:
        return 130
    except (UiError, AppError) as error:
        print(f"sayso: {error}", file=sys.stderr)  # noqa: T201 - the one line for whoever started it
        return 1
    return 0


def _start(environment: Mapping[str, str], instance: Instance) -> None:
    load_sound_servers_only(os.environ, platformdirs.user_cache_path("sayso", appauthor=False) / "alsa")
    platforms = require_display(os.environ)
    loaded = settings.load()
    chosen = loaded.settings
    limits = server_limits(chosen.memory)
    local = LocalServer(model=chosen.model, device=chosen.device, threads=chosen.threads, limits=limits)
    if chosen.server is ServerKind.EMBEDDED:
        local.spawn()
    # Now, since Qt's import hook reads the source of every module that is imported after Qt.
    import sayso.app.composition  # noqa: F401

    try:
        require_access(platforms)
        require_libraries(platforms)
        _run(loaded, local, environment, instance)
    finally:
        asyncio.run(local.close())


def _run(loaded: settings.Loaded, local: LocalServer, environment: Mapping[str, str], instance: Instance) -> None:
    import qasync

    application = _application()
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(application)) as runner:
        runner.run(_desktop(application, loaded, local, environment, instance))


def _portal_knows_theme(environ: Mapping[str, str]) -> bool:
    """Whether the portal is asked for the theme: the other desktops on X11 have it in settings that Qt reads itself."""
    return "WAYLAND_DISPLAY" in environ or "GNOME" in environ.get("XDG_CURRENT_DESKTOP", "").split(":")


def _application() -> QApplication:
    from PySide6.QtWidgets import QApplication

    # Widgets paint in memory; without this Qt's X11 part would load the machine's OpenGL drivers, some 10 MB, unused.
    os.environ.setdefault("QT_XCB_GL_INTEGRATION", "none")
    if _portal_knows_theme(os.environ):
        # Without this Qt asks whether the desktop is dark on some desktops only, and on GNOME not at the start.
        os.environ.setdefault("QT_QPA_PLATFORMTHEME", "xdgdesktopportal")
    application = QApplication(sys.argv[:1])
    application.setApplicationName("sayso")
    application.setApplicationDisplayName("Sayso")
    application.setDesktopFileName(APPLICATION)
    # Qt must never end the loop by itself: tasks would be cut off in the middle.
    application.setQuitOnLastWindowClosed(False)
    return application


async def _desktop(
    application: QApplication,
    loaded: settings.Loaded,
    local: LocalServer,
    environment: Mapping[str, str],
    instance: Instance,
) -> None:
    from sayso.app.composition import compose
    from sayso.ui.publisher import Publisher
    from sayso.ui.views import Views

    # Signals may come while these are being built; they are looked at when the loop turns, and then all are there.
    assistant: Assistant
    views: Views
    _quit_on_signals(lambda: assistant.quit())

    publisher = Publisher(lambda snapshot: views.show_snapshot(snapshot))
    assistant = compose(publisher.publish, loaded, local, environment, own_has_keyboard=lambda: views.has_keyboard)
    views = Views(assistant, application)
    # What the hook has read is of no use any more.
    linecache.clearcache()
    views.window.show()
    showing = {"show": views.window.come_forward}
    control = ControlServer(_doings(assistant), showing, lambda: assistant.quitting)
    await control.start(instance)
    try:
        await assistant.run()
    finally:
        control.close()
        publisher.close()
        views.close()


def _quit_on_signals(quit_: Callable[[], None]) -> None:
    if sys.platform != "win32":
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, quit_)


def _doings(assistant: Assistant) -> dict[str, Callable[[], None]]:
    """What ``sayso start`` and its like have this process do."""
    return {
        "start": assistant.ways.start,
        "stop": assistant.ways.stop,
        "toggle": assistant.ways.toggle,
        "cancel": assistant.cancel,
        "quit": assistant.quit,
    }


if __name__ == "__main__":
    sys.exit(main())
