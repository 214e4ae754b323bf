"""Messages reach the desktop's notification service, and one without it does no harm."""

from __future__ import annotations

import pytest
from played_service import PlayedService, played
from spoken_actions import BareHands

from sayso.app.actions import ActionError
from sayso.app.actions.bus import Bus
from sayso.app.actions.notification import notify

_NAME = "org.freedesktop.Notifications"


async def test_a_message_is_shown_until_it_is_dismissed(bare_hands: BareHands, bus: str) -> None:
    with played(bus, _NAME, PlayedService(on_call=lambda method, body: ("u", (1,)))) as service:
        await bare_hands.performer.announce("The timer of 5 minutes is over")

    ((sender, _, _, title, _, _, hints, timeout),) = service.called("Notify")
    assert (sender, title, timeout) == ("Sayso", "The timer of 5 minutes is over", 0)
    assert hints["urgency"] == ("y", 2)


async def test_a_desktop_without_notifications_does_no_harm(bare_hands: BareHands, bus: str) -> None:
    await bare_hands.performer.announce("The timer is over")
    with pytest.raises(ActionError) as refused:
        notify(Bus(bus), "The timer is over")

    assert refused.value.code == "service_absent"
