"""The Tekken vocabulary (``tekken.json``), read directly: bytes of each token, control ids, and the audio settings.

Only what turning ids into text needs is here; a speech model never turns text into ids. Token ids below the number of
special tokens are control tokens and have no bytes. Pure: no torch.
"""

from __future__ import annotations

import base64
import codecs
import json
from dataclasses import dataclass
from pathlib import Path

from sayso.engine.errors import EngineError

FILE = "tekken.json"
BOS, EOS = "<s>", "</s>"
STREAMING_PAD, STREAMING_WORD = "[STREAMING_PAD]", "[STREAMING_WORD]"


@dataclass(frozen=True)
class AudioSettings:
    """How audio and text are lined up: delay and left padding as the model was trained."""

    delay_ms: int
    left_pad: int
    """Positions of silence before the audio."""


class Tekken:
    """Bytes by token id, and the ids of the control tokens that streaming uses."""

    def __init__(self, pieces: list[bytes], special: dict[str, int], special_count: int, audio: AudioSettings) -> None:
        self._pieces = pieces
        self._special_count = special_count
        self.audio = audio
        self.bos, self.eos, self.pad, self.word = (
            _id(special, name) for name in (BOS, EOS, STREAMING_PAD, STREAMING_WORD)
        )

    @classmethod
    def load(cls, folder: Path) -> Tekken:
        """The vocabulary of a folder. Raises EngineError ``model_not_found`` or ``model_damaged``."""
        path = folder / FILE
        if not path.is_file():
            raise EngineError("model_not_found", f"{path} is missing: copy it from where the model came from.")
        try:
            document = json.loads(path.read_text("utf-8"))
            return cls._parse(document)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EngineError("model_damaged", f"{path} cannot be read: {error!r}.") from error

    @classmethod
    def _parse(cls, document: dict) -> Tekken:
        config, audio = document["config"], document["audio"]
        specials = int(config["default_num_special_tokens"])
        wanted = int(config["default_vocab_size"]) - specials
        entries = sorted(document["vocab"][:wanted], key=lambda entry: entry["rank"])
        pieces = [base64.b64decode(entry["token_bytes"]) for entry in entries]
        special = {entry["token_str"]: int(entry["rank"]) for entry in document["special_tokens"]}
        settings = AudioSettings(round(audio["transcription_delay_ms"]), int(audio["streaming_n_left_pad_tokens"]))
        return cls(pieces, special, specials, settings)

    def __len__(self) -> int:
        return self._special_count + len(self._pieces)

    def piece(self, token: int) -> bytes:
        """The bytes that a token adds to the text; none for control tokens and ids beyond the vocabulary."""
        index = token - self._special_count
        return self._pieces[index] if 0 <= index < len(self._pieces) else b""


class Utf8Text:
    """Text from bytes that come in pieces: a character is given out once all its bytes are there."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def pending(self) -> bool:
        """Whether a character has begun and is not whole."""
        return bool(self._decoder.getstate()[0])

    def push(self, data: bytes) -> str:
        """The characters that ``data`` completes; bytes that are no UTF-8 become U+FFFD."""
        return self._decoder.decode(data)

    def finish(self) -> str:
        """What is left at the end: U+FFFD for a character that was cut off."""
        return self._decoder.decode(b"", True)


def _id(special: dict[str, int], name: str) -> int:
    if name not in special:
        raise ValueError(f"there is no special token {name}")
    return special[name]
