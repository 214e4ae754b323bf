"""Players on the bus are told what was said, and what they did is looked at."""

from __future__ import annotations

from typing import Any

import pytest
from played_service import PlayedService, played
from spoken_actions import BareHands

from sayso.app.actions import ActionError, Receipt, create

_PLAYER = "org.mpris.MediaPlayer2.Player"


class PlayedPlayer(PlayedService):
    """A media player with three songs."""

    def __init__(self, name: str, status: str = "Playing") -> None:
        super().__init__(on_call=self._do)
        self._song = 1
        self.properties |= {
            ("org.mpris.MediaPlayer2", "Identity"): ("s", name),
            (_PLAYER, "PlaybackStatus"): ("s", status),
            (_PLAYER, "CanGoNext"): ("b", True),
            (_PLAYER, "CanGoPrevious"): ("b", True),
        }
        self._show()

    @property
    def status(self) -> str:
        return str(self.properties[_PLAYER, "PlaybackStatus"][1])

    def _do(self, method: str, body: tuple[Any, ...]) -> None:
        if method in ("Play", "Pause"):
            self.properties[_PLAYER, "PlaybackStatus"] = ("s", {"Play": "Playing", "Pause": "Paused"}[method])
        self._song += {"Next": 1, "Previous": -1}.get(method, 0)
        self._show()

    def _show(self) -> None:
        track = {"mpris:trackid": ("o", f"/song/{self._song}"), "xesam:title": ("s", f"Song {self._song}")}
        self.properties[_PLAYER, "Metadata"] = ("a{sv}", track)


async def test_pause_and_play_and_undo(bare_hands: BareHands, bus: str) -> None:
    player = PlayedPlayer("Jukebox")
    with played(bus, "org.mpris.MediaPlayer2.jukebox", player):
        outcome = await bare_hands.do("pause the music")
        assert player.status == "Paused"
        assert outcome.receipt is Receipt.VERIFIED
        assert outcome.detail == "Jukebox is paused"

        assert outcome.undo is not None
        await bare_hands.performer.undo(outcome.undo)
        assert player.status == "Playing"

        with pytest.raises(ActionError) as refused:
            await bare_hands.do("play music")
        assert refused.value.code == "already_so"


async def test_next_and_previous_song_tell_the_title(bare_hands: BareHands, bus: str) -> None:
    player = PlayedPlayer("Jukebox")
    with played(bus, "org.mpris.MediaPlayer2.jukebox", player):
        following = await bare_hands.do("next song")
        before = await bare_hands.do("previous track")

    assert (following.detail, before.detail) == ("Jukebox plays “Song 2”", "Jukebox plays “Song 1”")
    assert following.receipt is Receipt.VERIFIED
    assert [name for name, _ in player.calls] == ["Next", "Previous"]


@pytest.mark.parametrize("names", [("one", "two"), ("two", "one")])
async def test_the_player_that_plays_is_meant_and_afterwards_the_same_one(
    bare_hands: BareHands, bus: str, names: tuple[str, str]
) -> None:
    silent, loud = PlayedPlayer("Silent", "Paused"), PlayedPlayer("Loud")
    first, second = (f"org.mpris.MediaPlayer2.{name}" for name in names)
    with played(bus, first, silent), played(bus, second, loud):
        await bare_hands.do("pause the video")
        await bare_hands.do("play")

    assert silent.calls == []
    assert [name for name, _ in loud.calls] == ["Pause", "Play"]


async def test_a_player_that_answers_nothing_leaves_the_others_alone(bare_hands: BareHands, bus: str) -> None:
    broken, player = PlayedService(), PlayedPlayer("Jukebox")
    with played(bus, "org.mpris.MediaPlayer2.a_broken", broken), played(bus, "org.mpris.MediaPlayer2.jukebox", player):
        await bare_hands.do("pause the music")

    assert player.status == "Paused"


@pytest.mark.parametrize("sentence", ["next song", "pause the music"])
async def test_a_player_that_only_takes_note_gives_no_false_receipt(
    bare_hands: BareHands, bus: str, monkeypatch: pytest.MonkeyPatch, sentence: str
) -> None:
    monkeypatch.setattr("sayso.app.actions.bus._EFFECT_S", 0.2)
    player = PlayedPlayer("Deaf")
    player.on_call = lambda method, body: None
    with played(bus, "org.mpris.MediaPlayer2.deaf", player):
        outcome = await bare_hands.do(sentence)

    assert outcome.receipt is Receipt.SENT
    assert outcome.detail == "told Deaf"


async def test_without_a_next_song_or_a_player_it_says_so(bare_hands: BareHands, bus: str) -> None:
    player = PlayedPlayer("Jukebox")
    player.properties[_PLAYER, "CanGoNext"] = ("b", False)
    with played(bus, "org.mpris.MediaPlayer2.jukebox", player), pytest.raises(ActionError) as no_track:
        await bare_hands.do("next song")
    with pytest.raises(ActionError) as no_player:
        await bare_hands.do("next song")

    assert no_track.value.code == "no_track"
    assert no_player.value.code == "no_player"


@pytest.mark.parametrize("address", ["", "disabled:", "unix:path=/nowhere/bus"])
async def test_without_a_bus_it_says_so(bare_hands: BareHands, address: str) -> None:
    performer = create(environment={"DBUS_SESSION_BUS_ADDRESS": address})
    try:
        with pytest.raises(ActionError) as refused:
            await performer.perform(bare_hands.read("pause the music"))
    finally:
        await performer.close()

    assert refused.value.code == "no_bus"
