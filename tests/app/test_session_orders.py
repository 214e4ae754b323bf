"""Putting a session away, over a real socket: what came of it is seen in the server's list, or told to be nothing."""

from __future__ import annotations

import pytest
from running_server import client, eventually_shown, server
from same_answer import answering

from sayso.app.memory_view import Place, SessionRow
from sayso.app.realtime.endpoint import remote
from sayso.app.server_reports import HeldBytes, ReportError, ServerReports, SessionReport
from sayso.app.session_orders import KeptError, SessionOrders, session_row


@pytest.mark.parametrize("place", list(Place))
async def test_a_session_is_put_away_when_the_list_shows_it(place: Place) -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        await c.start()
        await c.audio(0.5)
        (row,) = await eventually_shown(url, lambda rows: rows[0]["state"] == "streaming")
        reports = ServerReports(remote(url))
        await SessionOrders(lambda: reports).put_away(row["id"], place)
        (row,) = await eventually_shown(url, lambda rows: rows[0]["tier"] == place)
        assert row["bytes"]["kv"] == 0


@pytest.mark.parametrize("place", list(Place))
async def test_a_session_that_keeps_what_it_holds_is_told_as_such(place: Place) -> None:
    async with answering(b'{"data": [{"id": "sess-a", "bytes": {"kv": 5}}]}') as reports:
        with pytest.raises(KeptError, match="it has work just now"):
            await SessionOrders(lambda: reports, patience_s=0.1).put_away("sess-a", place)


@pytest.mark.parametrize("content", [b'{"data": []}', b'{"data": [{"id": "sess-a", "bytes": {"kv_disk": 5}}]}'])
async def test_a_session_that_is_gone_or_deeper_is_as_well_as_there(content: bytes) -> None:
    async with answering(content) as reports:
        await SessionOrders(lambda: reports).put_away("sess-a", Place.HOST)


async def test_what_the_server_refuses_is_told_in_its_words() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        (row,) = await eventually_shown(url, bool)
        reports = ServerReports(remote(url))
        orders = SessionOrders(lambda: reports)
        with pytest.raises(ReportError, match="holds nothing"):
            await orders.put_away(row["id"], Place.HOST)
        with pytest.raises(ReportError, match="no such session"):
            await orders.put_away("sess-none", Place.HOST)
        with pytest.raises(ReportError, match="no such session"):
            await orders.close("sess-none")


async def test_without_a_server_there_is_nothing_to_do() -> None:
    orders = SessionOrders(lambda: None)
    await orders.close("sess-a")
    await orders.put_away("sess-a", Place.HOST)


@pytest.mark.parametrize(
    ("held", "deeper"),
    [
        (HeldBytes(), []),
        (HeldBytes(audio=9, features=9, server=9), []),
        (HeldBytes(kv=1), [Place.HOST, Place.DISK, Place.DROPPED]),
        (HeldBytes(kv_host=1), [Place.DISK, Place.DROPPED]),
        (HeldBytes(kv_disk=1), [Place.DROPPED]),
    ],
)
def test_what_a_session_holds_can_only_go_deeper(held: HeldBytes, deeper: list[Place]) -> None:
    assert list(session_row(SessionReport("sess-a", held=held), own=False).deeper) == deeper


@pytest.mark.parametrize(
    ("report", "state"),
    [
        (SessionReport("a", "ready", engine_state="waiting"), "ready"),
        (SessionReport("a", "streaming", engine_state="hibernated"), "hibernated"),
        (SessionReport("a", "streaming", engine_state="dropped", connected=False), "disconnected"),
    ],
)
def test_a_session_is_called_after_what_matters_most(report: SessionReport, state: str) -> None:
    row = session_row(report, own=True)
    assert row == SessionRow("a", state, 0.0, 0.0, own=True)
