"""Text made fit for labels. No Qt."""

from __future__ import annotations

import re

_LONG = re.compile(r"\S{24,}")
_ZERO_WIDTH_SPACE = "\u200b"


def breakable(text: str) -> str:
    """Long unbroken runs (addresses, paths) with places where a line may break, so that no label widens its window."""
    return _LONG.sub(lambda found: _ZERO_WIDTH_SPACE.join(re.findall(r".{1,12}", found.group())), text)


def one_block(text: str) -> str:
    """Text without paragraph ends, which a document would take as the end of the utterance."""
    return text.replace("\r\n", "\n").translate({0x0A: "\u2028", 0x0D: "\u2028", 0x2029: "\u2028"})
