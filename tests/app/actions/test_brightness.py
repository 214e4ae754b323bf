"""The screen's light changes through logind, is read back, and undo sets what was before."""

from __future__ import annotations

from pathlib import Path

import pytest
from played_notebook import LOGIND, backlight, logind
from played_service import played
from spoken_actions import BareHands

from sayso.app.actions import ActionError, Receipt


@pytest.fixture
def light(hardware: Path) -> Path:
    """A kernel's backlight at 400 of 1000."""
    return backlight(hardware)


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("brightness up", 500),
        ("turn down the brightness by twenty percent", 200),
        ("brighter", 500),
        ("dim the screen", 300),
        ("set the brightness to seventy five percent", 750),
        ("full brightness", 1000),
        ("set brightness to 0", 10),
    ],
)
async def test_the_light_changes_and_undo_restores_it(
    bare_hands: BareHands, bus: str, hardware: Path, light: Path, sentence: str, value: int
) -> None:
    with played(bus, LOGIND, logind(hardware)) as service:
        outcome = await bare_hands.do(sentence)
        assert (light / "brightness").read_text().strip() == str(value)
        assert outcome.receipt is Receipt.VERIFIED
        assert outcome.detail == f"{value // 10} percent, was 40 percent"

        assert outcome.undo is not None
        await bare_hands.performer.undo(outcome.undo)
        assert (light / "brightness").read_text().strip() == "400"
    assert service.called("SetBrightness")[0] == ("backlight", "intel_backlight", value)


async def test_the_firmware_is_trusted_before_the_raw_device(
    bare_hands: BareHands, bus: str, hardware: Path, light: Path
) -> None:
    firmware = backlight(hardware, "z_firmware", "firmware")
    with played(bus, LOGIND, logind(hardware)):
        await bare_hands.do("brightness up")

    assert (firmware / "brightness").read_text().strip() == "500"
    assert (light / "brightness").read_text().strip() == "400"


async def test_the_lowest_of_few_steps_is_still_some_light(
    bare_hands: BareHands, bus: str, hardware: Path, light: Path
) -> None:
    (light / "max_brightness").write_text("7\n")
    (light / "brightness").write_text("1\n")
    with played(bus, LOGIND, logind(hardware)):
        outcome = await bare_hands.do("brightness down")

    assert (light / "brightness").read_text().strip() == "1"
    assert outcome.receipt is Receipt.VERIFIED


async def test_a_screen_without_such_a_light_is_refused(bare_hands: BareHands) -> None:
    with pytest.raises(ActionError) as refused:
        await bare_hands.do("brightness up")

    assert refused.value.code == "no_backlight"


async def test_without_logind_or_its_leave_it_says_so(
    bare_hands: BareHands, bus: str, hardware: Path, light: Path
) -> None:
    with pytest.raises(ActionError) as absent:
        await bare_hands.do("brightness up")
    service = logind(hardware)
    service.refuses["SetBrightness"] = "org.freedesktop.DBus.Error.AccessDenied"
    with played(bus, LOGIND, service), pytest.raises(ActionError) as forbidden:
        await bare_hands.do("brightness up")

    assert absent.value.code == "service_absent"
    assert forbidden.value.code == "not_allowed"
    assert (light / "brightness").read_text().strip() == "400"
