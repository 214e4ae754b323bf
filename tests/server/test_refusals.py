"""What clients are told when something cannot be done."""

from __future__ import annotations

from sayso.server import refusals
from sayso.server.protocol.intents import Served


def test_a_model_that_is_not_served_is_named_beside_those_that_are() -> None:
    trouble = refusals.unknown_model("large", Served(frozenset({"tiny.en", "auto"}), certain=True))
    assert (trouble.code, trouble.turn_lost) == ("model_not_found", False)
    assert "`large`" in trouble.message
    assert "auto, tiny.en" in trouble.message


def test_audio_that_waits_for_the_engine_says_so() -> None:
    assert "not ready (loading)" in refusals.inbox_full(600, "loading").message
    assert "engine" not in refusals.inbox_full(600, "").message


def test_lengths_are_told_in_units_that_people_use() -> None:
    assert "6 hours" in refusals.turn_too_long(6 * 3600).message
    assert "1.5 seconds" in refusals.audio_lost(1500).message
