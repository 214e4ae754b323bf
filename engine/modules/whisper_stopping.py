"""When a decoder that goes round in circles has to stop, and how much of what it said is to be kept.

A phrase that follows upon itself is no proof: people say "no, no, no". It is one when the attention did not move on in
the sound between the two (then the same sound was written down twice). Pure functions over words and attention.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence

import numpy as np
import torch

from sayso.engine.modules.whisper_alignment import relevance

_ENDLESS = 6
"""A phrase that came so often needs no further proof."""
_FORWARD_POSITIONS = 5
_LONGEST_PHRASE = 12
_LONGEST_TOKENS = 4


class Stopping:
    """The rule for one batch; ``sounds`` holds the number of positions with sound of every row."""

    def __init__(self, decode: Callable[[Sequence[int]], str], sounds: Sequence[int]) -> None:
        self._decode, self._sounds = decode, sounds

    def keep(self, tokens: Sequence[int], known: int, row: int, attention: Callable[[], torch.Tensor]) -> int | None:
        """How many of a row's new tokens to keep when it must stop now, else None (see ``Rules.keep``)."""
        endless = _endless(tokens)
        if endless is not None:
            return endless
        size = repeated_tail(_plain_words(self._decode(tokens)))
        if size == 0:
            return None
        second = len(tokens) - self._tokens_of_tail(tokens, size)
        first = second - self._tokens_of_tail(tokens[:second], size)
        scores = relevance(attention(), self._sounds[row])
        round_again = went_round(scores, slice(known + first, known + second), slice(known + second, None))
        return second if round_again else None

    def _tokens_of_tail(self, tokens: Sequence[int], size: int) -> int:
        """Number of tokens that hold the last ``size`` words."""
        for count in range(1, len(tokens) + 1):
            if len(_plain_words(self._decode(tokens[-count:]))) >= size and self._starts_word(tokens[-count]):
                return count
        return len(tokens)

    def _starts_word(self, token: int) -> bool:
        return self._decode([token]).startswith(" ")


def _plain_words(text: str) -> list[str]:
    return re.sub(r"[^\w' ]+", " ", text.lower()).split()


def _endless(tokens: Sequence[int]) -> int | None:
    """Where a run of the same few tokens may end when it came too often, else None."""
    for size in range(1, _LONGEST_TOKENS + 1):
        if times_repeated(tokens, size) >= _ENDLESS:
            return len(tokens) - (_ENDLESS - 1) * size
    return None


def repeated_tail(words: Sequence[str]) -> int:
    """How many words at the end repeat those right before them; 0 if none do."""
    for size in range(1, min(_LONGEST_PHRASE, len(words) // 2) + 1):
        if words[-size:] == words[-2 * size : -size]:
            return size
    return 0


def times_repeated(items: Sequence[object], size: int) -> int:
    """How often in a row the last ``size`` items stand at the end."""
    times, tail = 1, list(items[-size:])
    while list(items[-(times + 1) * size : -times * size]) == tail:
        times += 1
    return times


def went_round(scores: np.ndarray, first: slice, second: slice) -> bool:
    """Whether the second phrase's tokens were heard no later than the first's.

    ``scores`` [tokens, positions] says how much each token listened to each position of the sound.
    """
    peaks = scores.argmax(1)
    return float(np.median(peaks[second])) < float(np.median(peaks[first])) + _FORWARD_POSITIONS


def compression_ratio(text: str) -> float:
    """Length of the text over its length when compressed; far above 2 for a text that repeats itself."""
    raw = text.encode()
    return len(raw) / len(zlib.compress(raw)) if raw else 0.0
