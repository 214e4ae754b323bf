"""Passing messages reach the desktop's notification service, each in the place of the one before."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest
from played_service import PlayedService, played, private_bus

from sayso.app.messages import Messages


class Made:
    def __init__(self, address: str) -> None:
        self.tasks: list[asyncio.Task[None]] = []
        self.messages = Messages({"DBUS_SESSION_BUS_ADDRESS": address}, self.spawn)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    async def settle(self) -> None:
        async with asyncio.timeout(10):
            await asyncio.gather(*self.tasks)


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with private_bus(tmp_path_factory.mktemp("bus")) as address:
        yield address


async def test_each_takes_the_place_of_the_one_before_and_only_the_newest_waits(bus: str) -> None:
    made = Made(bus)
    with played(
        bus, "org.freedesktop.Notifications", PlayedService(on_call=lambda method, body: ("u", (7,)))
    ) as service:
        for text in ("first", "second", "third"):
            made.messages.tell(text)
            # The first one is on its way when the others come.
            await asyncio.sleep(0)
        await made.settle()
        made.messages.tell("fourth")
        await made.settle()
    shown = [(body[3], body[1]) for body in service.called("Notify")]
    assert shown == [("first", 0), ("third", 7), ("fourth", 7)]
    hints = service.called("Notify")[0][6]
    assert (hints["urgency"], hints["transient"]) == (("y", 1), ("b", True))


async def test_a_desktop_without_messages_does_no_harm(bus: str) -> None:
    for address in (bus, ""):
        made = Made(address)
        made.messages.tell("nobody sees this")
        await made.settle()
