"""What is the same at the start of every session: left padding of silence and a fixed prompt.

Of the 32 padding positions the last one already hears 40 samples of the real audio, so 31 are computed once and copied
in. The encoder's part is the same for all delays; the decoder's depends on the delay.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class EncoderPrefix:
    """Rings and convolution tails after the shared positions, and the audio embeddings [positions, width]."""

    rings: tuple[Tensor, ...]
    mel_tail: Tensor
    conv_tail: Tensor
    audio: Tensor


@dataclass(frozen=True)
class Prefix:
    """A session's state before its first own position."""

    encoder: EncoderPrefix
    decoder_rings: tuple[Tensor, ...]
    positions: int

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in (*self.encoder.rings, *self.decoder_rings))
