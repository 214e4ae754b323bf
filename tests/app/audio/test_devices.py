"""Which microphone is used."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from sayso.app.audio.devices import Device, choose, formats, selected
from sayso.app.audio.listener import is_other

BUILTIN = Device("alsa_input.pci", "Built-in", 48000, 2, True, 0, "alsa_input.pci")
HEADSET = Device("alsa_input.usb", "Headset", 44100, 1, False, 0, "alsa_input.usb")
MONITOR = Device("sink.monitor", "Monitor of Speakers", 48000, 2, True, 0, "sink.monitor", is_monitor=True)


@pytest.mark.parametrize("wanted", ["alsa_input.usb", "Headset"])
def test_a_device_is_found_by_name_and_by_label(wanted: str) -> None:
    assert choose([BUILTIN, HEADSET], wanted).device == HEADSET


def test_without_a_wish_the_default_is_used() -> None:
    choice = choose([HEADSET, BUILTIN], "")
    assert (choice.device, choice.detail) == (BUILTIN, "")


def test_a_device_that_is_away_is_replaced_and_that_is_said() -> None:
    choice = choose([BUILTIN], "Headset")
    assert choice.device == BUILTIN
    assert "Headset" in choice.detail
    assert "Built-in" in choice.detail


def test_without_a_default_any_microphone_is_used() -> None:
    assert choose([HEADSET], "").device == HEADSET


@pytest.mark.parametrize("wanted", ["", "Headset"])
def test_what_the_speakers_play_is_no_microphone_unless_it_is_named(wanted: str) -> None:
    assert choose([MONITOR], wanted).device is None
    assert choose([MONITOR, HEADSET], "").device == HEADSET
    assert choose([MONITOR], "Monitor of Speakers").device == MONITOR


def test_nothing_at_all_says_what_to_do() -> None:
    choice = choose([], "")
    assert choice.device is None
    assert "Connect one" in choice.detail


def test_a_muted_microphone_is_used_and_that_is_said() -> None:
    choice = choose([replace(BUILTIN, muted=True)], "")
    assert choice.device is not None
    assert "muted" in choice.detail


def test_a_microphone_that_gives_nothing_is_replaced_by_one_that_does_and_that_is_said() -> None:
    choice = choose([BUILTIN, HEADSET, MONITOR], "", {"alsa_input.pci"})
    assert choice.device == HEADSET
    assert choice.detail == "“Built-in” gives no sound; listening with “Headset” until it does."
    assert choose([BUILTIN, HEADSET], "Headset", {"alsa_input.pci"}) == choose([BUILTIN, HEADSET], "Headset")


def test_when_none_gives_anything_the_one_that_is_wanted_is_used() -> None:
    blocked = {"alsa_input.pci", "alsa_input.usb"}
    assert choose([BUILTIN, HEADSET, MONITOR], "Headset", blocked).device == HEADSET


def test_the_sound_server_is_told_the_source_only_while_a_stream_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_SOURCE", "the user's own")
    with selected(HEADSET):
        assert os.environ["PULSE_SOURCE"] == "alsa_input.usb"
    assert os.environ["PULSE_SOURCE"] == "the user's own"
    with selected(replace(HEADSET, source="")):
        assert os.environ["PULSE_SOURCE"] == "the user's own"


def test_another_device_is_used_when_it_is_another_or_there_is_none() -> None:
    assert not is_other(BUILTIN, BUILTIN)
    assert is_other(HEADSET, BUILTIN)
    assert is_other(None, BUILTIN)
    assert is_other(replace(BUILTIN, rate=44100), BUILTIN)


def test_a_sound_server_that_does_not_answer_is_no_reason_to_change() -> None:
    assert not is_other(Device("pulse", "pulse", 44100, 1, True, 0), BUILTIN)


def test_a_device_that_refuses_its_own_format_is_tried_with_usual_ones_each_once() -> None:
    tried = [(each.rate, each.channels) for each in formats(replace(HEADSET, rate=384_000, channels=2))]
    assert tried[0] == (384_000, 2)
    assert tried[1] == (48_000, 2)
    assert (44_100, 1) in tried
    assert len(set(tried)) == len(tried)
    assert {each.source for each in formats(HEADSET)} == {HEADSET.source}
