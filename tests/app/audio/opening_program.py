"""A program for tests: opens the sound server's microphone at a rate and writes how it came about as a JSON line.

Arguments: the microphone's name, and the rate that it is said to have, in Hz.
"""

from __future__ import annotations

import json
import queue
import sys

from sayso.app.audio.capture import open_stream
from sayso.app.audio.devices import SERVER_DEVICES, Device, portaudio
from sayso.app.audio.errors import AudioError
from sayso.app.audio.pipeline import Samples


def main() -> None:
    name, rate = sys.argv[1], int(sys.argv[2])
    index = next(at for at, each in enumerate(portaudio().query_devices()) if each["name"] in SERVER_DEVICES)
    came: queue.SimpleQueue[Samples] = queue.SimpleQueue()

    def take(block: Samples) -> bool:
        came.put(block)
        return False

    try:
        stream = open_stream(Device(name, name, rate, 1, True, index, name))
    except AudioError as error:
        print(json.dumps({"code": error.code, "text": str(error)}))
        return
    stream.listen(take, lambda: None)
    print(json.dumps({"rate": stream.device.rate, "frames": len(came.get(timeout=15)), "label": stream.device.label}))
    stream.close()


main()
