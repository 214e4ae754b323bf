"""A finished utterance on its way to what is done about it: a pure value."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sayso.app.attention import Address
from sayso.app.commands.other_text import OtherText
from sayso.app.commands.phrase import after_phrase
from sayso.app.why import UNTIMED, Moments


@dataclass(frozen=True, slots=True)
class Said:
    """``text`` as the recogniser took it, and what else it may have been."""

    turn: int
    text: str
    moments: Moments = UNTIMED
    others: tuple[OtherText, ...] = ()

    def to_us(self, address: Address, phrase: str) -> Said:
        """What of it is meant for Sayso: without the wake phrase, where that came first."""
        if not address.phrase:
            return replace(self, text=address.text)
        rests = ((after_phrase(other.text, phrase), other) for other in self.others)
        return replace(
            self, text=address.text, others=tuple(replace(other, text=rest) for rest, other in rests if rest)
        )
