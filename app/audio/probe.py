"""Whether a microphone gives anything, found out beside the one that is listened to. Runs on the event loop."""

from __future__ import annotations

import asyncio

from sayso.app.audio.bell import Bell
from sayso.app.audio.capture import SoundThread, Stream, open_stream
from sayso.app.audio.devices import Device
from sayso.app.audio.pipeline import Samples

_OPEN_S = 8.0
_SAMPLES_S = 3.0
_CLOSE_S = 5.0


async def gives_sound(sound: SoundThread, device: Device) -> bool:
    """Open it, wait a few seconds for its first samples, which nobody hears, and close it again. Raises AudioError."""
    came = Bell()

    def on_block(block: Samples) -> bool:
        came.ring()
        return True

    with sound.another_stream():
        stream = await sound.call(lambda: open_stream(device), _OPEN_S, Stream.close)
        try:
            stream.listen(on_block, lambda: None)
            async with asyncio.timeout(_SAMPLES_S):
                await came.wait()
            return True
        except TimeoutError:
            return False
        finally:
            await asyncio.shield(sound.call(stream.close, _CLOSE_S))
