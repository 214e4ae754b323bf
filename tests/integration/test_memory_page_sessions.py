"""What the page about sessions and memory does to sessions that hold something: real window, real server, real engine.

Another client keeps a turn open, whose keys and values lie in the model. The quick test puts it away by itself; the
long one waits for what each control makes happen, in the least time that can be chosen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from memory_desktop import Desktop, children, started
from memory_window import Shown, shown_window
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from served_days import files_below, private_cache
from session_callers import REPLY_S, Caller
from speech import pcm16
from tiny_voxtral import ROOMY, TINY, Sizes, build, warbling

from sayso.app.local_server import LocalServer
from sayso.app.memory_policy import PRESETS, Preset, server_limits
from sayso.app.memory_view import Place, SessionRow
from sayso.app.server_reports import ServerReports
from sayso.app.settings import Settings

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

SPOKEN = pcm16(warbling(1.5))
LONG_S = 7.7
LEAST_BYTES = 64_000_000
"""The least bound that can be chosen."""
MOST_CALLERS = 24
KEYS = {Place.HOST: Qt.Key.Key_P, Place.DISK: Qt.Key.Key_H, Place.DROPPED: Qt.Key.Key_D}


@asynccontextmanager
async def window(tmp_path: Path, application: QApplication, sizes: Sizes = TINY) -> AsyncIterator[Shown]:
    settings = Settings(memory=PRESETS[Preset.KEEP_READY])
    model = str(build(tmp_path / "model", sizes))
    local = LocalServer(model, threads=1, limits=server_limits(settings.memory))
    async with started(Desktop(tmp_path / "settings", settings, local=local)) as here:
        with shown_window(here, application) as made:
            await here.ready(REPLY_S)
            yield made


async def speaker(shown: Shown, *, seconds: float = 1.5) -> Caller:
    """Somebody with an open turn, who falls silent."""
    endpoint = shown.here.local.running
    assert endpoint is not None
    caller = Caller(endpoint.url, "auto", endpoint.key)
    await caller.connect()
    await caller.start()
    await caller.speak(pcm16(warbling(seconds)))
    return caller


def row_of(shown: Shown, caller: Caller) -> SessionRow | None:
    return next((row for row in shown.here.view.sessions if row.id == caller.session), None)


async def until_row(shown: Shown, caller: Caller, matches: Callable[[SessionRow], object]) -> None:
    def there() -> bool:
        row = row_of(shown, caller)
        return row is not None and bool(matches(row))

    await shown.here.until(there, REPLY_S)


async def until_quiet(shown: Shown, caller: Caller) -> None:
    """All that was said is heard, and what that takes is on the device."""
    endpoint = shown.here.local.running
    assert endpoint is not None
    async with asyncio.timeout(REPLY_S):
        while True:
            reports = await ServerReports(endpoint).sessions()
            (own,) = [each for each in reports if each.id == caller.session]
            if own.held.kv and own.engine_state == "waiting":
                break
            await asyncio.sleep(0.1)
    await until_row(shown, caller, lambda row: row.device)


def choose(shown: Shown, caller: Caller) -> None:
    """Go to the caller's row with the arrow keys."""
    table = shown.page.sessions
    shown.press(table, Qt.Key.Key_Home)
    while (row := table.chosen()) is None or row.id != caller.session:
        assert table.currentIndex().row() < table.rows.rowCount() - 1
        shown.press(table, Qt.Key.Key_Down)


def open_menu() -> QMenu:
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def by_table_menu(shown: Shown) -> None:
    """The table's own menu, at the chosen row, as the menu key opens it."""
    table = shown.page.sessions
    place = table.visualRect(table.currentIndex()).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, table.mapToGlobal(QPoint(place)))
    QApplication.sendEvent(table, event)


async def test_one_session_is_parked_hibernated_and_dropped_by_itself_and_goes_on(
    tmp_path: Path, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    hibernated = private_cache(tmp_path / "cache", monkeypatch.setenv)
    async with window(tmp_path, qapp) as shown:
        caller = await speaker(shown)
        await until_quiet(shown, caller)
        choose(shown, caller)
        button = shown.page.session_actions.put_away
        held: dict[Place, Callable[[SessionRow], object]] = {
            Place.HOST: lambda row: row.host and not row.device,
            Place.DISK: lambda row: row.disk and not row.host,
            Place.DROPPED: lambda row: row.state == "dropped" and not row.disk,
        }
        for place, key in KEYS.items():
            shown.press(button, Qt.Key.Key_Space)
            QTest.keyClick(open_menu(), key)
            await until_row(shown, caller, held[place])
            assert len(files_below(hibernated)) == (place is Place.DISK)
        assert not button.isEnabled()
        await caller.speak(SPOKEN)
        await until_quiet(shown, caller)
        by_table_menu(shown)
        QTest.keyClick(open_menu(), Qt.Key.Key_D)
        await until_row(shown, caller, held[Place.DROPPED])
        assert shown.here.view.session_fault == ""
        await caller.speak(SPOKEN)
        QTest.mouseClick(shown.page.session_actions.close_session, Qt.MouseButton.LeftButton)
        assert await caller.text()
        assert await caller.closed() == 1000
        await shown.here.until(lambda: row_of(shown, caller) is None)


@pytest.mark.soak
async def test_every_control_does_what_it_says_in_its_least_time(
    tmp_path: Path, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    private_cache(tmp_path / "cache", monkeypatch.setenv)
    async with window(tmp_path, qapp, ROOMY) as shown:
        here, boxes = shown.here, shown.boxes
        caller = await speaker(shown)
        await until_quiet(shown, caller)
        effects: dict[str, Callable[[SessionRow], object]] = {
            "park_after_s": lambda row: row.host,
            "hibernate_after_s": lambda row: row.disk,
            "drop_after_s": lambda row: row.state == "dropped",
        }
        for name, happened in effects.items():
            shown.press(boxes[name], Qt.Key.Key_Home, Qt.Key.Key_Down)
            assert boxes[name].currentData() == 10
            await until_row(shown, caller, happened)
        for name in effects:
            shown.press(boxes[name], Qt.Key.Key_Home)
        await caller.end()
        await caller.leave()
        await bounds(shown)

        (engine,) = [psutil.Process(pid) for pid in children(here.local)]
        full = engine.memory_info().rss
        shown.press(boxes["unload_after_s"], Qt.Key.Key_Home, Qt.Key.Key_Down)
        await until_status(here, "idle")
        assert engine.is_running()
        print(f"engine {full / 1e6:.0f} MB, {engine.memory_info().rss / 1e6:.0f} without its model")
        shown.press(boxes["end_after_s"], Qt.Key.Key_Home, Qt.Key.Key_Down)
        await here.until(lambda: not engine.is_running(), REPLY_S)
        shown.press(boxes["close_after_s"], Qt.Key.Key_Home, Qt.Key.Key_Down)
        shown.press(shown.page.own.end_server, Qt.Key.Key_Space)
        await here.until(lambda: here.local.pid is None, REPLY_S)


async def bounds(shown: Shown) -> None:
    """Sessions that hold more than can be chosen at most, on the device and then in main memory."""

    def held(tier: str) -> int:
        return sum(getattr(row, tier) for row in shown.here.view.sessions)

    crowd: list[Caller] = []
    while held("device") < 1.1 * LEAST_BYTES:
        crowd.append(await speaker(shown, seconds=LONG_S))
        await until_row(shown, crowd[-1], lambda row: row.device > 0.5 * LEAST_BYTES / MOST_CALLERS)
        assert len(crowd) < MOST_CALLERS
    boxes = shown.boxes
    shown.press(boxes["device_mb"], Qt.Key.Key_Home, Qt.Key.Key_Down)
    await shown.here.until(lambda: held("host") and held("device") <= LEAST_BYTES, REPLY_S)
    shown.press(boxes["park_after_s"], Qt.Key.Key_Home, Qt.Key.Key_Down)
    await shown.here.until(lambda: not held("device") and held("host") > LEAST_BYTES, REPLY_S)
    shown.press(boxes["host_mb"], Qt.Key.Key_Home, Qt.Key.Key_Down)
    await shown.here.until(lambda: held("host") <= LEAST_BYTES, REPLY_S)
    for caller in crowd:
        await caller.leave()


async def until_status(here: Desktop, status: str) -> None:
    """The server's word for its engine; bounded."""
    endpoint = here.local.running
    assert endpoint is not None
    await here.until(lambda: here.view.engine == status, REPLY_S)
    assert (await ServerReports(endpoint).health()).status == status
