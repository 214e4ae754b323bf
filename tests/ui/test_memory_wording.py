"""Figures, times and states as a person reads them."""

from __future__ import annotations

import memory_scenes
import pytest

from sayso.app.memory_policy import PRESETS, Preset
from sayso.app.memory_view import MemoryView, Sample, Source
from sayso.ui import memory_wording as wording

MB = 1_000_000


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(0, "0 MB"), (620_000, "0.6 MB"), (23 * MB, "23 MB"), (999 * MB, "999 MB"), (1_340 * MB, "1.3 GB")],
)
def test_an_amount_of_memory_has_as_many_digits_as_matter(nbytes: int, text: str) -> None:
    assert wording.size(nbytes) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (10, "10 seconds"),
        (60, "1 minute"),
        (90, "1 minute 30 seconds"),
        (3600, "1 hour"),
        (5400, "1 hour 30 minutes"),
        (0.5, "0.5 seconds"),
    ],
)
def test_a_time_to_choose_is_said_in_full(seconds: float, text: str) -> None:
    assert wording.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(-3, "0 s"), (59.9, "59 s"), (65, "1 min 05 s"), (1210, "20 min"), (7800, "2 h 10 min")]
)
def test_a_time_that_runs_is_short(seconds: float, text: str) -> None:
    assert wording.clock(seconds) == text


@pytest.mark.parametrize("source", list(Source))
@pytest.mark.parametrize("server", ["", "host:8000"])
def test_every_source_but_the_usual_one_is_explained(source: Source, server: str) -> None:
    words = wording.source_words(MemoryView(source=source, server=server))
    assert bool(words) == (source is not Source.LOCAL)


def test_over_the_engines_controls_stands_whose_they_are_and_what_cannot_work() -> None:
    assert wording.engine_note(MemoryView()) == ""
    assert "host:8000" in wording.engine_note(MemoryView(server="host:8000"))
    assert "how scarce memory is" in wording.engine_note(MemoryView(scarcity_unknown=True))


def test_what_did_not_change_is_not_said_to_have_come_back() -> None:
    before = Sample(1, 128 * MB, 80 * MB, 400 * MB)
    told = wording.freed_words(MemoryView(freed=(before, Sample(2, 128 * MB, 0, 0))))
    assert told == "480 MB came back: server 80 MB → 0 MB, engine 400 MB → 0 MB."
    assert "Nothing" in wording.freed_words(MemoryView(freed=(before, before)))


@pytest.mark.parametrize("scene", memory_scenes.ALL)
def test_every_state_has_words_for_its_graph(scene: str) -> None:
    assert wording.graph_words(memory_scenes.ALL[scene]().memory.samples).endswith(".")


def test_what_the_presets_say_is_what_they_do() -> None:
    balanced, everything = PRESETS[Preset.BALANCED], PRESETS[Preset.EVERYTHING_BACK]
    said = wording.PRESET_WORDS[Preset.BALANCED]
    assert f"unloaded after {wording.duration(balanced.unload_after_s)}" in said
    assert f"ends after {balanced.end_after_s / 60:g};" in said
    assert everything.close_after_s == everything.end_after_s == 60
    assert "After a minute" in wording.PRESET_WORDS[Preset.EVERYTHING_BACK]
