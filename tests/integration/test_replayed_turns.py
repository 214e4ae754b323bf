"""The real recogniser, or the connection to it, lost at any moment of a turn: no word is doubled or lost."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from replayed_turns import LostConnection, LostTurn, torn
from speech import pcm16, recording

from sayso.engine import messages as m
from sayso.engine.loading import Loaded, load

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

MINUTES = float(os.environ.get("SOAK_MINUTES", "60"))
RATE = m.SAMPLE_RATE
SILENCE = np.zeros(3 * RATE, np.float32)


@pytest.fixture(scope="module")
def loaded() -> Iterator[Loaded]:
    threads = torch.get_num_threads()
    yield load(m.Load("tiny.en", "cpu", 1))
    torch.set_num_threads(threads)


def cut(samples: np.ndarray, start_s: float, end_s: float) -> np.ndarray:
    """A part that begins and ends in pauses near these times: a recogniser guesses how a sentence goes on that is cut
    off, and that text depends on when it looks.
    """
    first, last = (_pause_near(samples, second) for second in (start_s, end_s))
    return samples[first:last]


def _pause_near(samples: np.ndarray, second: float) -> int:
    frame = RATE // 5
    starts = range(max(0, int((second - 1.5) * RATE)), min(len(samples) - frame, int((second + 1.5) * RATE)), 160)
    return min(starts, key=lambda at: float(np.square(samples[at : at + frame]).sum())) + frame // 2


def clips() -> dict[str, bytes]:
    beckett, cities = recording("beckett"), recording("two_cities")
    sentence = cut(cities, 0.0, 5.0)
    return {
        "without pauses": pcm16(cut(cities, 0.0, 20.0)),
        "further on": pcm16(cut(cities, 9.0, 26.0)),
        "few words": pcm16(beckett),
        "long pauses": pcm16(np.concatenate([beckett, SILENCE, sentence, SILENCE, SILENCE, SILENCE, beckett])),
    }


@pytest.mark.parametrize("lost", [LostTurn, LostConnection])
def test_words_behind_a_long_pause_and_those_before_it_are_there_once(
    loaded: Loaded, lost: type[LostTurn | LostConnection]
) -> None:
    sentence, beckett = cut(recording("two_cities"), 0.0, 5.0), recording("beckett")
    pcm = pcm16(np.concatenate([sentence, SILENCE, SILENCE, cut(beckett, 0.0, 5.0)]))
    expected = lost(loaded, 0, 0).said(pcm)
    assert len(expected) > 15
    for seed in (3, 5):
        assert not torn(expected, lost(loaded, seed, 2).said(pcm))


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("lost", [LostTurn, LostConnection])
def test_wherever_it_is_lost_no_words_are_doubled_or_lost(
    loaded: Loaded, lost: type[LostTurn | LostConnection]
) -> None:
    spoken = clips()
    expected = {name: lost(loaded, 0, 0).said(pcm) for name, pcm in spoken.items()}
    until, seed, bad = time.monotonic() + 60 * min(15.0, MINUTES), 0, list[str]()
    while time.monotonic() < until:
        seed += 1
        name = list(spoken)[seed % len(spoken)]
        found = lost(loaded, seed, 1 + seed % 3).said(spoken[name])
        bad += [f"seed {seed}, {name}: {place}" for place in torn(expected[name], found)]
    print(f"{seed} turns")
    assert not bad, "\n".join(bad)
