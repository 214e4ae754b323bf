"""Words by how they sound, and how alike two of them are: pure, any thread.

A recogniser that mishears a short command writes other words with much the same sounds: “kill swindle” for “close
window”. ``phones`` writes words as they are spoken, a letter for each sound, and ``alike`` compares two of them sound
by sound: those that are easily taken for each other, and those that are easily missed, count less. ``classes`` is
coarser, for finding the candidates among thousands. The spelling rules are English; most words need them right.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate, product

_SPELLINGS = (
    *(("tch", "C"), ("sch", "sk"), ("ought", "ot"), ("aught", "ot"), ("ight", "It"), ("igh", "I"), ("ough", "o")),
    *(("ph", "f"), ("th", "T"), ("sh", "S"), ("ch", "C"), ("ck", "k"), ("dge", "j"), ("wh", "w"), ("qu", "kw")),
    *(("x", "ks"), ("ce", "se"), ("ci", "si"), ("cy", "sy"), ("tion", "Sn"), ("ng", "N"), ("oo", "u"), ("ee", "i")),
    *(("ea", "i"), ("ow", "O"), ("ou", "O"), ("c", "k"), ("'", "")),
)
"""Letters that are one sound together, rewritten from the first pair to the last; capitals are sounds of their own."""
_SILENT = re.compile(r"^k(?=n)|^w(?=r)|(?<=[^aeiou])e$")
_AGAIN = re.compile(r"(.)\1+")
_VOWELS = frozenset("aeiouyIO")
_FAINT = "hrw"
_CONFUSED = (
    *(("pb", 0.3), ("td", 0.3), ("kg", 0.3), ("fv", 0.3), ("sz", 0.3), ("SCj", 0.3), ("mnN", 0.3)),
    *(("tTd", 0.4), ("fT", 0.4), ("sSCz", 0.5), ("jd", 0.5), ("lrw", 0.6), ("bvm", 0.6), ("hy", 0.6)),
    *(("ptk", 0.7), ("bdg", 0.7)),
)
"""Sounds that are taken for each other, with what that costs; any other two cost 1."""
_OTHER_VOWEL, _MISSED_VOWEL, _MISSED_FAINT, _MISSED = 0.35, 0.45, 0.35, 0.8
_COSTS = {
    pair: cost for sounds, cost in reversed(_CONFUSED) for pair in product(sounds, repeat=2) if pair[0] != pair[1]
} | {pair: _OTHER_VOWEL for pair in product(_VOWELS, repeat=2) if pair[0] != pair[1]}
_MISSING = dict.fromkeys(_VOWELS, _MISSED_VOWEL) | dict.fromkeys(_FAINT, _MISSED_FAINT)
_CLASSES = str.maketrans(
    dict.fromkeys(_VOWELS, "a")
    | {"b": "p", "d": "t", "T": "t", "g": "k", "v": "f", "m": "n", "N": "n", "h": None}
    | dict.fromkeys("jzSC", "s")
)


def phones(text: str) -> str:
    """Normalised words as they sound, spaces left out: where a word ends is among the first things to be misheard."""
    return _AGAIN.sub(r"\1", "".join(_word(word) for word in text.split()))


def classes(spoken: str) -> str:
    """Phones with one letter for all that are easily confused."""
    return _AGAIN.sub(r"\1", spoken.translate(_CLASSES))


def alike(heard: str, meant: str) -> float:
    """How alike two texts of phones are, of 100: the cheapest way from one to the other, for each sound."""
    missed = [_MISSING.get(sound, _MISSED) for sound in meant]
    row = [0.0, *accumulate(missed)]
    for sound in heard:
        added = _MISSING.get(sound, _MISSED)
        before, row[0] = row[0], row[0] + added
        for at, other in enumerate(meant, start=1):
            taken = before + (0.0 if sound == other else _COSTS.get((sound, other), 1.0))
            before, row[at] = row[at], min(taken, row[at] + added, row[at - 1] + missed[at - 1])
    return 100.0 * (1.0 - row[-1] / max(len(heard), len(meant), 1))


@lru_cache(maxsize=4096)
def _word(word: str) -> str:
    word = _SILENT.sub("", word)
    for written, spoken in _SPELLINGS:
        word = word.replace(written, spoken)
    return word
