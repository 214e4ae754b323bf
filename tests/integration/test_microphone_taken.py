"""While another program has a microphone for itself, another one hears, and then the first again."""

from __future__ import annotations

from pathlib import Path

import pytest
from listening import listening
from virtual_sound import VirtualSound

pytestmark = pytest.mark.desktop


def test_another_microphone_is_used_until_the_one_that_is_taken_gives_sound_again(
    sound: VirtualSound, tmp_path: Path
) -> None:
    other = sound.plug_microphone(name="builtin")
    taken = sound.plug_microphone(name="headset")
    try:
        with taken.room_noise(), listening(sound, tmp_path) as heard:
            heard.until_state("ready", "headset")
            with sound.taken(taken):
                ready = heard.until(
                    lambda line: (
                        line["event"] == "microphone" and "builtin" in line["name"] and line["state"] != "opening"
                    ),
                    "the other microphone",
                )
                assert ready["detail"] == "“headset” gives no sound; listening with “builtin” until it does."
            heard.until_state("ready", "headset")
            assert heard.lines[-1]["detail"] == ""
    finally:
        sound.unplug(other)
        sound.unplug(taken)
