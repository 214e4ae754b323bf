"""From Voxtral's tokens to pieces of text with times: one piece for each token that completes a character. Pure.

Control tokens ("nothing to say", word marker, end of sequence) have no text; the marker begins a word, and the end of
sequence ends nothing. A piece continues the word before it unless it starts with a space.
"""

from __future__ import annotations

from sayso.engine.modules.tekken import Tekken, Utf8Text
from sayso.engine.runner.base import Piece, SpokenWord
from sayso.engine.runner.voxtral_timeline import Timeline

QUIET_TOKENS = 25
"""After so many tokens without text (2 s) an empty piece says how far the audio was heard."""


class VoxtralText:
    """The text of one turn."""

    def __init__(self, tekken: Tekken, timeline: Timeline) -> None:
        self._tekken = tekken
        self._timeline = timeline
        self._characters = Utf8Text()
        self._tokens: list[int] = []
        """Tokens since the last piece."""
        self._count = 0
        self._word_start: int | None = None
        self._end = 0
        self._begun = False

    @property
    def count(self) -> int:
        """Tokens so far."""
        return self._count

    def push(self, token: int, probability: float, heard: int) -> Piece | None:
        """The next token; ``heard`` is how many samples the turn has, which no time exceeds."""
        start, end = (min(at, heard) for at in self._timeline.said(self._count))
        self._count += 1
        self._tokens.append(token)
        if token == self._tekken.word or self._word_start is None:
            self._word_start = start
        text = self._shown(self._characters.push(self._tekken.piece(token)))
        if not text and len(self._tokens) < QUIET_TOKENS:
            if token == self._tekken.pad and not self._characters.pending:
                self._word_start = None
            return None
        return self._piece(text, end, probability)

    def finish(self, heard: int) -> Piece | None:
        """What is left when the turn is over: a cut-off character, and tokens nobody was told of."""
        text = self._shown(self._characters.finish())
        return self._piece(text, heard, 1.0) if text or self._tokens else None

    def _shown(self, text: str) -> str:
        """A turn's text starts without a space."""
        text = text if self._begun else text.lstrip()
        self._begun = self._begun or bool(text)
        return text

    def _piece(self, text: str, end: int, probability: float) -> Piece:
        start = self._end if self._word_start is None else max(self._end, self._word_start)
        word = SpokenWord(text, min(start, end), end, probability, tuple(self._tokens))
        self._tokens, self._end, self._word_start = [], end, end
        return Piece((word,), stable=True)
