"""A program for tests: records a microphone for a second and plays it back, writing each step as a JSON line.

Arguments: the microphone's name, or nothing for the default one. With ``--listening`` a listener runs beside it.
"""

from __future__ import annotations

import asyncio
import json
import sys

from sayso.app.audio.capture import SoundThread
from sayso.app.audio.errors import AudioError
from sayso.app.audio.level import Level
from sayso.app.audio.listener import Listener, ListenerEvent, MicrophoneChanged
from sayso.app.audio.sound_check import play, record, verdict
from sayso.app.snapshot import MicrophoneState


def tell(**line: object) -> None:
    print(json.dumps(line), flush=True)


async def check(sound: SoundThread, wanted: str) -> None:
    levels: list[Level] = []
    try:
        recording = await record(sound, wanted, 1.0, levels.append, lambda: tell(step="opened"))
        tell(
            step="recorded",
            seconds=len(recording.samples) / recording.rate,
            levels=len(levels),
            loudest_db=recording.loudest_db,
            clipped=recording.clipped,
            no_signal=recording.no_signal,
            verdict=verdict(recording),
        )
        await play(sound, recording)
        tell(step="played")
    except AudioError as error:
        tell(step="failed", code=error.code, text=str(error))


async def beside_a_listener(wanted: str) -> None:
    heard, lost = asyncio.Event(), []

    def on_event(event: ListenerEvent) -> None:
        if isinstance(event, MicrophoneChanged):
            lost.append(event.state.is_without or event.state is MicrophoneState.CLOSED)
        elif isinstance(event, Level):
            heard.set()

    listener = Listener(on_event)
    await listener.start(wanted)
    await heard.wait()
    await check(listener.sound, wanted)
    heard.clear()
    await heard.wait()
    tell(step="still heard", lost=any(lost))
    await listener.close()


async def alone(wanted: str) -> None:
    sound = SoundThread()
    await check(sound, wanted)
    sound.close()


wanted = " ".join(argument for argument in sys.argv[1:] if argument != "--listening")
asyncio.run(beside_a_listener(wanted) if "--listening" in sys.argv else alone(wanted))
