"""Whisper's tokens as text: special tokens, prompts, and words made of tokens.

Works for the English and the multilingual vocabularies; the numbers of the special tokens come from the tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from sayso.engine.errors import EngineError

_UNSPACED = frozenset({"zh", "ja", "th", "lo", "my", "yue"})
Piece = tuple[str, tuple[int, ...]]
"""Some text and its tokens."""
_INCOMPLETE = "�"


class WhisperText:
    """The tokenizer of one model folder and what its special tokens are."""

    def __init__(self, folder: Path) -> None:
        path = folder / "tokenizer.json"
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:
            raise EngineError("model_damaged", f"{path} is missing or cannot be read ({error}).") from error
        self.end = self._required("<|endoftext|>")
        self.start = self._required("<|startoftranscript|>")
        self.plain = self._required("<|notimestamps|>")
        self.previous = self._required("<|startofprev|>")
        self.no_speech = self._first("<|nospeech|>", "<|nocaptions|>")
        self._transcribe = self._required("<|transcribe|>")
        self.multilingual = self._tokenizer.token_to_id("<|de|>") is not None and self.end != 50256
        self._languages = self._language_tokens() if self.multilingual else {}

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO-639-1 codes that may be asked for."""
        return tuple(self._languages) if self.multilingual else ("en",)

    def language_token(self, language: str) -> int:
        return self._languages[language]

    def language_tokens(self) -> dict[int, str]:
        return {token: language for language, token in self._languages.items()}

    def opening(self, language: str) -> tuple[int, ...]:
        """The tokens that ask for a transcript without timestamps. ``language`` is ignored by an English model."""
        if not self.multilingual:
            return (self.start, self.plain)
        return (self.start, self._languages[language], self._transcribe, self.plain)

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def words(self, tokens: Sequence[int], language: str = "en") -> list[Piece]:
        """Words with their tokens; the texts keep their leading space, and marks belong to the word before them.

        Languages that write no spaces give one word for every complete character.
        """
        words: list[Piece] = []
        pending: list[int] = []
        for token in tokens:
            pending.append(token)
            text = self.decode(pending)
            if _INCOMPLETE in text:
                continue
            spaced = language in _UNSPACED or text.startswith(" ")
            if not words or (spaced and (_is_word(text) or text.isspace())):
                words.append((text, tuple(pending)))
            else:
                words[-1] = _joined(words[-1], (text, tuple(pending)))
            pending = []
        # A text that was cut may end in half a letter or in a space: neither is a word of its own.
        if pending:
            words.append(("", tuple(pending)))
        while len(words) > 1 and not _is_word(words[-1][0]):
            last = words.pop()
            words[-1] = _joined(words[-1], last)
        return words

    def _language_tokens(self) -> dict[str, int]:
        found = {}
        for token, number in self._tokenizer.get_vocab(with_added_tokens=True).items():
            code = token[2:-2]
            if token.startswith("<|") and token.endswith("|>") and 2 <= len(code) <= 3 and code.isalpha():
                found[code] = number
        return dict(sorted(found.items(), key=lambda item: item[1]))

    def _first(self, *names: str) -> int:
        for name in names:
            number = self._tokenizer.token_to_id(name)
            if number is not None:
                return int(number)
        raise EngineError("model_damaged", f"The tokenizer has no {names[0]} token, so this is no Whisper model.")

    def _required(self, name: str) -> int:
        return self._first(name)


def _joined(word: Piece, more: Piece) -> Piece:
    return word[0] + more[0], word[1] + more[1]


def _is_word(text: str) -> bool:
    """Whether the text says something; marks alone belong to the word before them."""
    return any(character.isalnum() for character in text)
