"""Time, date and battery are told as they are."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from spoken_actions import BareHands

from sayso.app.actions import ActionError
from sayso.app.actions.base import Job
from sayso.app.actions.information import Information
from sayso.app.commands.matching import Match


@pytest.mark.parametrize(
    ("sentence", "answer"),
    [
        ("What time is it?", "It is 09:05"),
        ("tell me the time", "It is 09:05"),
        ("What's the date?", "It is Monday, 2 March 2026"),
        ("what day is it today", "It is Monday, 2 March 2026"),
    ],
)
def test_the_clock_is_read(said: Callable[[str], Match], sentence: str, answer: str) -> None:
    information = Information(Path("/nowhere"), lambda: datetime(2026, 3, 2, 9, 5))

    assert information.perform(Job(said(sentence), threading.Event())).detail == answer


def supply(hardware: Path, name: str, **values: str) -> None:
    folder = hardware / "power_supply" / name
    folder.mkdir(parents=True)
    for key, value in values.items():
        (folder / key).write_text(f"{value}\n")


async def test_the_battery_of_the_computer_is_told_and_not_that_of_its_mouse(
    bare_hands: BareHands, hardware: Path
) -> None:
    supply(hardware, "AC", type="Mains")
    supply(hardware, "BAT0", type="Battery", capacity="83", status="Discharging")
    supply(hardware, "hidpp_battery_0", type="Battery", scope="Device", capacity="12", status="Discharging")

    assert (await bare_hands.do("battery level")).detail == "83 percent, discharging"


async def test_a_computer_without_a_battery_says_so(bare_hands: BareHands, hardware: Path) -> None:
    supply(hardware, "AC", type="Mains")
    with pytest.raises(ActionError) as refused:
        await bare_hands.do("how much battery is left")

    assert refused.value.code == "no_battery"
