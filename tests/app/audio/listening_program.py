"""A program for tests: listens to the microphone and writes each event as a JSON line, until its input ends.

Arguments: the microphone's name, or nothing for the default one.
"""

from __future__ import annotations

import asyncio
import json
import sys

import numpy as np

from sayso.app.audio.level import Level
from sayso.app.audio.listener import (
    Listener,
    ListenerEvent,
    MicrophoneChanged,
    SpeechAudio,
    SpeechEnded,
    SpeechMissed,
    SpeechStarted,
)


def tell(**line: object) -> None:
    print(json.dumps(line), flush=True)


def on_event(event: ListenerEvent) -> None:
    match event:
        case SpeechStarted(at):
            tell(event="started", at=at)
        case SpeechAudio(samples):
            tell(event="audio", count=len(samples), rms=float(np.sqrt(np.mean(samples**2))))
        case SpeechEnded(at):
            tell(event="ended", at=at)
        case SpeechMissed(seconds):
            tell(event="missed", seconds=seconds)
        case Level(db, clipping):
            tell(event="level", db=db, clipping=clipping)
        case MicrophoneChanged(state, name, detail):
            tell(event="microphone", state=state.value, name=name, detail=detail)


async def main() -> None:
    listener = Listener(on_event)
    await listener.start(" ".join(sys.argv[1:]))
    await asyncio.to_thread(sys.stdin.read)
    await listener.close()


asyncio.run(main())
