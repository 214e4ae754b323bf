"""The sentences of a grammar as a recogniser writes them, for one that looks for what it is told to expect. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def written(sentences: Iterable[str], questions: Collection[str]) -> tuple[str, ...]:
    """Each sentence once, with a capital letter and a full stop, or a question mark behind one of ``questions``."""
    found = (_written(" ".join(sentence.split()), questions) for sentence in sentences if sentence.strip())
    return tuple(dict.fromkeys(found))


def _written(sentence: str, questions: Collection[str]) -> str:
    first = sentence.partition(" ")[0]
    return sentence[0].upper() + sentence[1:] + ("?" if first.casefold() in questions else ".")
