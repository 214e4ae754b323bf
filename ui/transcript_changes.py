"""What has to be repainted when one list of transcript lines follows another. Pure values, no Qt.

A snapshot holds every line, yet between two snapshots only the last one or two differ. Lines are compared in runs
at the speed of tuple comparison, so ten thousand unchanged lines cost microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from sayso.app.snapshot import Line

_RUN = 256


@dataclass(frozen=True, slots=True)
class Changes:
    """First drop ``dropped`` lines from the front, then set the lines of ``changed``, then cut to ``length``.

    ``changed`` pairs the index after the drop with the line; an index that does not exist yet appends.
    """

    dropped: int
    changed: tuple[tuple[int, Line], ...]
    length: int


def changes(old: tuple[Line, ...], new: tuple[Line, ...]) -> Changes:
    """The least work that turns ``old`` into ``new``; lines are told apart by their identifiers."""
    dropped = _dropped(old, new)
    kept = old[dropped:] if dropped else old
    changed: list[tuple[int, Line]] = []
    for start in range(0, max(len(kept), len(new)), _RUN):
        before, after = kept[start : start + _RUN], new[start : start + _RUN]
        if before == after:
            continue
        for offset, (was, line) in enumerate(zip_longest(before, after)):
            if line is not None and line != was:
                changed.append((start + offset, line))
    return Changes(dropped, tuple(changed), len(new))


def _dropped(old: tuple[Line, ...], new: tuple[Line, ...]) -> int:
    if not old or not new or old[0].id == new[0].id:
        return 0
    first = new[0].id
    return next((index for index, line in enumerate(old) if line.id == first), len(old))


def common_prefix(a: str, b: str) -> int:
    """How many leading characters two texts share."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
