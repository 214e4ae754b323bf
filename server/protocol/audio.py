"""Audio as the wire carries it: base64 of 16-bit little-endian mono PCM, as the engine takes it. Pure."""

from __future__ import annotations

import binascii

from sayso.server.protocol.errors import ProtocolError

BYTES_PER_SAMPLE = 2


def decode_base64(text: str, limit_bytes: int) -> bytes:
    """Strictly decoded PCM of one append; raises ``ProtocolError`` ``invalid_audio`` that says what is wrong.

    ``limit_bytes`` bounds the decoded audio of this one append.
    """
    if len(text) // 4 * 3 > limit_bytes + 2:
        raise _invalid(f"One append may carry at most {limit_bytes} bytes of audio: send smaller pieces.")
    try:
        pcm = binascii.a2b_base64(text, strict_mode=True)
    except ValueError as error:
        raise _invalid(f"The audio is not valid base64 ({error}).") from error
    if not pcm:
        raise _invalid("The audio is empty.")
    if len(pcm) % BYTES_PER_SAMPLE:
        raise _invalid(f"{len(pcm)} bytes are not a whole number of 16-bit samples.")
    return pcm


def _invalid(reason: str) -> ProtocolError:
    return ProtocolError("invalid_audio", f"Invalid audio data. {reason}")
