"""Text from tokens while they come. Pure; one for a whole session, since a character may span steps and chunks."""

from __future__ import annotations

import codecs
from collections.abc import Callable


class Detokenizer:
    """Joins the bytes of tokens and gives out whole characters only."""

    def __init__(self, piece: Callable[[int], bytes]) -> None:
        self._piece = piece
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """The characters that this token completes; bytes that can never be one become U+FFFD."""
        return self._decoder.decode(self._piece(token))

    def finish(self) -> str:
        """What is left at the end of the session: a character that was never completed becomes U+FFFD."""
        return self._decoder.decode(b"", final=True)
