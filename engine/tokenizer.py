"""The tokenizer of a model folder in transformers' layout (``tokenizer.json``). May be used from any thread."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

from tokenizers import Tokenizer

from sayso.engine.errors import EngineError

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = "▁"
"""How tokenizers of SentencePiece's kind write a space."""


class FolderTokenizer:
    """See ``engine.runner.token_base.Tokenizer``."""

    def __init__(self, file: Path) -> None:
        """Raises ``EngineError`` ``bad_tokenizer``."""
        try:
            declared = json.loads(file.read_text("utf-8"))
            self._tokenizer = Tokenizer.from_str(json.dumps(declared))
        except Exception as error:  # the library raises plain Exception for a file that it cannot use
            raise EngineError("bad_tokenizer", f"The tokenizer {file} cannot be used: {error}") from error
        sample = self._tokenizer.encode("a", add_special_tokens=True)
        by_template = itertools.takewhile(
            lambda pair: pair[1], zip(sample.ids, sample.special_tokens_mask, strict=True)
        )
        self._beginning = [token for token, _ in by_template]
        added = declared.get("added_tokens") or []
        self._special = {token["id"] for token in added if token.get("special")}
        self._plain = {token["id"]: token["content"].encode() for token in added if not token.get("special")}
        self._bytes_of = _byte_alphabet() if "ByteLevel" in _kinds(declared.get("decoder")) else None

    def encode(self, text: str, *, first: bool) -> list[int]:
        # What a template puts at the end is left away: it would close a text that is to go on.
        return [*(self._beginning if first else ()), *self._tokenizer.encode(text, add_special_tokens=False).ids]

    def piece(self, token: int) -> bytes:
        if token in self._special:
            return b""
        if token in self._plain:
            return self._plain[token]
        text = self._tokenizer.id_to_token(token)
        if text is None:  # models often have more rows than their tokenizer has tokens
            return b""
        if self._bytes_of is not None:
            return bytes(self._bytes_of[char] for char in text if char in self._bytes_of)
        single = _BYTE.fullmatch(text)
        return bytes([int(single[1], 16)]) if single else text.replace(_SPACE, " ").encode()


def folder_tokenizer(folder: Path) -> FolderTokenizer | None:
    """The tokenizer of a model's folder; None when it has none."""
    file = folder / "tokenizer.json"
    return FolderTokenizer(file) if file.is_file() else None


def _kinds(decoder: dict | None) -> set[str]:
    if not decoder:
        return set()
    return {decoder.get("type", "")}.union(*(_kinds(part) for part in decoder.get("decoders") or []))


def _byte_alphabet() -> dict[str, int]:
    """The printable characters by which byte-level tokenizers write bytes (GPT-2's table)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}
