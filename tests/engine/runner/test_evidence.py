"""What counts as speech; the figures are those of the packaged model on real sounds."""

from dataclasses import replace

import pytest

from sayso.engine.runner.evidence import Evidence, Standards, is_speech

COMMAND = Evidence(voice=0.95, voiced_ms=600.0, no_speech=0.05, mean_logprob=-0.4, words=2)


def test_a_clear_command_and_a_mumbled_one_are_speech() -> None:
    assert is_speech(COMMAND, Standards())
    assert is_speech(replace(COMMAND, mean_logprob=-1.1, no_speech=0.2), Standards())


@pytest.mark.parametrize(
    "change",
    [
        {"no_speech": 0.93, "mean_logprob": -0.64, "words": 1},
        {"no_speech": 0.82, "mean_logprob": -1.02},
        {"mean_logprob": -1.5},
        {"voice": 0.4},
        {"voiced_ms": 32.0},
        {"voiced_ms": 160.0, "mean_logprob": -1.2},
    ],
)
def test_any_one_witness_against_it_is_enough(change: dict[str, float]) -> None:
    assert not is_speech(replace(COMMAND, **change), Standards())
