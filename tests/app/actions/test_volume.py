"""The volume of the real sound server changes as was said, and undo brings back what was."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from spoken_actions import Hands
from virtual_desktop import VirtualSound

from sayso.app.actions import ActionError, Receipt, create, volume

pytestmark = pytest.mark.desktop


@pytest.fixture
def speaker(hands: Hands) -> Iterator[VirtualSound]:
    sound = hands.desktop.sound
    assert sound is not None
    sound.volume = 0.4
    yield sound
    assert not sound.muted


@pytest.mark.parametrize(
    ("sentence", "percent"),
    [
        ("volume up", 50),
        ("turn the volume down", 30),
        ("Volume up by 25%.", 65),
        ("set the volume to thirty percent", 30),
        ("volume 75", 75),
        ("turn down the volume by ninety percent", 0),
        ("volume up by 100 percent", 100),
        ("half volume", 50),
        ("louder", 50),
    ],
)
async def test_the_volume_changes_and_undo_restores_it(
    hands: Hands, speaker: VirtualSound, sentence: str, percent: int
) -> None:
    outcome = await hands.do(sentence)

    assert round(speaker.volume * 100) == percent
    assert outcome.receipt is Receipt.VERIFIED
    assert outcome.detail == f"{percent} percent, was 40 percent"
    assert outcome.undo is not None
    await hands.performer.undo(outcome.undo)
    assert round(speaker.volume * 100) == 40


async def test_mute_and_unmute_keep_the_volume(hands: Hands, speaker: VirtualSound) -> None:
    await hands.do("mute")
    assert speaker.muted

    await hands.do("unmute the sound")
    assert not speaker.muted
    assert round(speaker.volume * 100) == 40


async def test_louder_ends_muting_and_undo_that_mutes_again(hands: Hands, speaker: VirtualSound) -> None:
    await hands.do("mute")
    louder = await hands.do("volume up")
    assert not speaker.muted

    assert (await hands.do("undo that")).undone == louder.undo
    assert speaker.muted
    await hands.do("undo that")
    assert not speaker.muted


async def test_a_sound_server_that_hangs_is_not_waited_for_and_changes_nothing_afterwards(
    hands: Hands, speaker: VirtualSound, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volume, "_ANSWER_S", 0.3)
    with speaker.hanging():
        with pytest.raises(ActionError) as refused:
            await hands.do("volume up")
        waiting = [thread for thread in threading.enumerate() if thread.name == "volume"]
        assert [thread.daemon for thread in waiting] == [True], "quitting would wait for it"
    for thread in waiting:
        await asyncio.to_thread(thread.join, 20)

    assert refused.value.code == "no_sound_server"
    assert round(speaker.volume * 100) == 40
    await hands.do("volume up")
    assert round(speaker.volume * 100) == 50


async def test_without_a_sound_server_it_says_so(hands: Hands) -> None:
    performer = create(environment=hands.desktop.environment | {"PULSE_SERVER": "unix:/nowhere/native"})
    try:
        with pytest.raises(ActionError) as refused:
            await performer.perform(hands.read("volume up"))
    finally:
        await performer.close()

    assert refused.value.code == "no_sound_server"
