"""Locking and suspending are asked of logind, and nothing is claimed that was not seen."""

from __future__ import annotations

from typing import Any

import pytest
from played_service import Answer, PlayedService, played
from spoken_actions import BareHands

from sayso.app.actions import ActionError, Receipt
from sayso.app.commands.policy import Confirm, decide
from sayso.app.question import Question, Surroundings
from sayso.app.snapshot import Mode

LOGIND = "org.freedesktop.login1"
_HINT = (f"{LOGIND}.Session", "LockedHint")


def logind(can_suspend: str = "yes", locks: bool = True) -> PlayedService:
    def do(method: str, body: tuple[Any, ...]) -> Answer | None:
        if method == "Lock" and locks:
            service.properties[_HINT] = ("b", True)
        return ("s", (can_suspend,)) if method.startswith("Can") else None

    service = PlayedService({_HINT: ("b", False)}, do)
    return service


async def test_the_session_is_locked_and_that_is_seen(bare_hands: BareHands, bus: str) -> None:
    with played(bus, LOGIND, logind()):
        outcome = await bare_hands.do("lock the screen")

    assert outcome.receipt is Receipt.VERIFIED
    assert outcome.detail == "the session is locked"


async def test_a_session_without_a_locker_gets_no_false_receipt(bare_hands: BareHands, bus: str) -> None:
    with played(bus, LOGIND, logind(locks=False)) as service:
        outcome = await bare_hands.do("lock the computer")

    assert service.called("Lock") == [()]
    assert outcome.receipt is Receipt.SENT
    assert "not known" in outcome.detail


async def test_suspending_is_asked_for_first_and_then_done(bare_hands: BareHands, bus: str) -> None:
    match = bare_hands.read("put the computer to sleep")
    question = decide(match, Mode.COMMANDS, heard="put the computer to sleep")
    assert isinstance(question, Confirm)
    assert question.question == "Suspend the computer?"

    with played(bus, LOGIND, logind()) as service:
        outcome = await bare_hands.performer.perform(match)

    assert service.called("Suspend") == [(True,)]
    assert outcome.receipt is Receipt.SENT


async def test_a_computer_that_cannot_suspend_is_not_asked_to(bare_hands: BareHands, bus: str) -> None:
    with played(bus, LOGIND, logind(can_suspend="na")) as service, pytest.raises(ActionError) as refused:
        await bare_hands.do("suspend the computer")

    assert refused.value.code == "cannot_suspend"
    assert service.called("Suspend") == []


@pytest.mark.parametrize(
    ("sentence", "method", "answer", "yes"),
    [
        ("shut down the computer", "PowerOff", [(True,)], "yes, shut down"),
        ("turn the computer off", "PowerOff", [(True,)], "yes, shut down"),
        ("reboot", "Reboot", [(True,)], "yes, restart"),
        ("log me out", "Terminate", [()], "yes, log out"),
    ],
)
async def test_what_loses_work_is_asked_for_by_its_name_and_then_done(
    bare_hands: BareHands, bus: str, sentence: str, method: str, answer: list[tuple[bool, ...]], yes: str
) -> None:
    match = bare_hands.read(sentence)
    assert isinstance(decide(match, Mode.COMMANDS, heard=sentence), Confirm)
    assert Question(1, match, Surroundings()).yes == yes

    with played(bus, LOGIND, logind()) as service:
        outcome = await bare_hands.performer.perform(match)

    assert service.called(method) == answer
    assert outcome.receipt is Receipt.SENT


@pytest.mark.parametrize("sentence", ["restart the computer", "shut down"])
async def test_a_computer_that_may_not_be_shut_down_is_not_asked_to(
    bare_hands: BareHands, bus: str, sentence: str
) -> None:
    with played(bus, LOGIND, logind(can_suspend="no")) as service, pytest.raises(ActionError) as refused:
        await bare_hands.do(sentence)

    assert refused.value.code in ("cannot_restart", "cannot_shut_down")
    assert service.called("PowerOff") == service.called("Reboot") == []


@pytest.mark.parametrize("sentence", ["lock the screen", "suspend the computer", "shut down", "log out"])
async def test_without_logind_it_says_so(bare_hands: BareHands, sentence: str) -> None:
    with pytest.raises(ActionError) as refused:
        await bare_hands.do(sentence)

    assert refused.value.code == "service_absent"
