"""Whether a hypothesis is speech or the model's invention over noise. Pure: it weighs numbers, not phrases.

Whisper says something about everything it hears. Four witnesses are asked: the voice detector (how sure, how long),
the model's own probability that there is no speech, the mean log-probability of the words, and whether the text fits
into the time. Text over speech passes all of them; an invention fails at least one.
"""

from __future__ import annotations

from dataclasses import dataclass

from sayso.engine.options import SAMPLES_PER_MS


@dataclass(frozen=True)
class Evidence:
    """What is known about a stretch of audio and the text for it."""

    voice: float
    """Mean probability of the voice detector over the frames that counted as speech."""
    voiced_ms: float
    no_speech: float
    """The model's probability that there is no speech."""
    mean_logprob: float
    words: int


@dataclass(frozen=True)
class Standards:
    """What text must meet."""

    no_speech: float = 0.6
    sure_logprob: float = -0.4
    """Words as probable as this count even when the model doubts that there is speech."""
    least_logprob: float = -1.3
    least_voice: float = 0.6
    least_voiced_ms: float = 60.0
    short_ms: float = 250.0
    short_logprob: float = -1.0
    """Very short sounds must give more probable words."""


def is_speech(evidence: Evidence, standards: Standards) -> bool:
    """Whether the text may be shown."""
    if evidence.voiced_ms < standards.least_voiced_ms or evidence.voice < standards.least_voice:
        return False
    if evidence.mean_logprob < standards.least_logprob:
        return False
    if evidence.no_speech > standards.no_speech and evidence.mean_logprob < standards.sure_logprob:
        return False
    return evidence.voiced_ms >= standards.short_ms or evidence.mean_logprob >= standards.short_logprob


FRAME_MS = 512 // SAMPLES_PER_MS
