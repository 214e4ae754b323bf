"""How positions, samples and tokens of one Voxtral turn belong together. Pure numbers.

A position is 80 ms: 1280 samples in, one token out. The turn begins with ``left_pad`` positions of silence; text for
a sound comes ``delay`` positions after it, and the first token comes when the prompt of ``1 + left_pad + delay``
positions is through. Samples count from the turn's start, so those of the padding are negative.
"""

from __future__ import annotations

from dataclasses import dataclass

POSITION_SAMPLES = 1280
BEFORE, AFTER = 200, 40
"""Samples around a position's own that its features need."""
LONG_WORD_POSITIONS = 10
"""Positions after the last delayed one in which a long last word is still written out."""
DELAYS_MS = (*range(80, 1201, 80), 2400)
"""The delays that the model was trained with."""
POSITION_MS = 80


@dataclass(frozen=True)
class Timeline:
    """``left_pad`` and ``delay`` in positions."""

    left_pad: int
    delay: int

    @property
    def first_token(self) -> int:
        """The position whose output is the first token of the text."""
        return self.left_pad + self.delay

    def window(self, position: int, count: int) -> tuple[int, int]:
        """The samples from and to which ``count`` positions need."""
        start = (position - self.left_pad) * POSITION_SAMPLES
        return start - BEFORE, start + count * POSITION_SAMPLES + AFTER

    def complete(self, samples: int) -> int:
        """How many positions can be computed when the turn has so many samples, and more may follow."""
        return max(0, self.left_pad + (samples - AFTER) // POSITION_SAMPLES)

    def total(self, samples: int) -> int:
        """How many positions a turn of so many samples has in all: the audio, the delay and the last word."""
        audio = -(-samples // POSITION_SAMPLES)
        return self.left_pad + audio + self.delay + LONG_WORD_POSITIONS

    def said(self, index: int) -> tuple[int, int]:
        """The samples to which the text token number ``index`` belongs."""
        return index * POSITION_SAMPLES, (index + 1) * POSITION_SAMPLES


def nearest_delay_ms(wanted: int) -> int:
    """The trained delay that is nearest to a wished one; the longer one when two are as near."""
    return min(DELAYS_MS, key=lambda delay: (abs(delay - wanted), -delay))
