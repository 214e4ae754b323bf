"""Text made fit for labels. No Qt."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LONG = re.compile(r"\S{24,}")
_FIGURE = re.compile(r"(\d) (ms|s|min|h|MB|GB)\b")
_ZERO_WIDTH_SPACE = "\u200b"


def breakable(text: str) -> str:
    """Long unbroken runs (addresses, paths) with places where a line may break, so that no label widens its window."""
    return _LONG.sub(lambda found: _ZERO_WIDTH_SPACE.join(re.findall(r".{1,12}", found.group())), text)


def together(text: str) -> str:
    """Figures with their units on one line: “430 MB”, “2.1 s”."""
    return _FIGURE.sub("\\1\u00a0\\2", text)


def one_block(text: str) -> str:
    """Text without paragraph ends, which a document would take as the end of the utterance."""
    return text.replace("\r\n", "\n").translate({0x0A: "\u2028", 0x0D: "\u2028", 0x2029: "\u2028"})


def listed(names: Sequence[str]) -> str:
    """Names as a part of a sentence: “a”, “a and b”, “a, b and c”."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
