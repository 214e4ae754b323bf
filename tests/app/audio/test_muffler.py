"""What is said while a microphone is checked goes nowhere; level and state go on."""

from __future__ import annotations

import numpy as np

from sayso.app.audio.level import Level
from sayso.app.audio.listener import (
    ListenerEvent,
    MicrophoneChanged,
    SpeechAudio,
    SpeechEnded,
    SpeechMissed,
    SpeechStarted,
)
from sayso.app.audio.muffler import Muffler
from sayso.app.snapshot import MicrophoneState

START, AUDIO, END = SpeechStarted(1.0), SpeechAudio(np.zeros(160, np.float32)), SpeechEnded(2.0)
LEVEL, CLOSED = Level(-20.0, False), MicrophoneChanged(MicrophoneState.CLOSED)


def made() -> tuple[Muffler, list[ListenerEvent]]:
    heard: list[ListenerEvent] = []
    return Muffler(heard.append, clock=lambda: 9.0), heard


def feed(muffler: Muffler, *events: ListenerEvent) -> None:
    for event in events:
        muffler(event)


def test_without_a_check_everything_goes_on() -> None:
    muffler, heard = made()
    feed(muffler, START, AUDIO, LEVEL, END, CLOSED)
    assert heard == [START, AUDIO, LEVEL, END, CLOSED]


def test_during_a_check_only_level_and_state_go_on() -> None:
    muffler, heard = made()
    muffler.muffle(True)
    feed(muffler, START, AUDIO, LEVEL, END, CLOSED)
    assert heard == [LEVEL, CLOSED]


def test_an_open_utterance_ends_when_the_check_begins_and_only_once() -> None:
    muffler, heard = made()
    feed(muffler, START, AUDIO)
    muffler.muffle(True)
    feed(muffler, AUDIO, END)
    assert heard == [START, AUDIO, SpeechEnded(9.0)]


def test_an_utterance_that_began_during_the_check_is_dropped_whole_and_the_next_is_heard() -> None:
    muffler, heard = made()
    muffler.muffle(True)
    feed(muffler, START, AUDIO)
    muffler.muffle(False)
    feed(muffler, AUDIO, END)
    assert heard == []
    feed(muffler, START, AUDIO, END)
    assert heard == [START, AUDIO, END]


def test_what_was_missed_during_a_check_is_missed_by_nobody() -> None:
    muffler, heard = made()
    muffler.muffle(True)
    feed(muffler, SpeechMissed(2.0))
    assert heard == []
    muffler.muffle(False)
    feed(muffler, SpeechMissed(2.0))
    assert heard == [SpeechMissed(2.0)]
