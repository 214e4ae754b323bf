"""What the detector of voices takes of the machine; what it hears is tested with the gate."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BECKETT = Path(__file__).parents[2] / "data" / "beckett.wav"
PROGRAM = """
import os, sys
import psutil, soundfile
from sayso.app.audio.voice import FRAME, VoiceDetector, pcm16
samples, _ = soundfile.read(sys.argv[1], dtype="float32")
before = psutil.Process().num_threads()
detector = VoiceDetector()
heard = [detector.probability(pcm16(samples[at : at + FRAME])) for at in range(0, len(samples) - FRAME, FRAME)]
print(max(heard) > 0.9, psutil.Process().num_threads() - before, os.environ.get("OMP_THREAD_LIMIT"))
"""


def test_a_voice_is_heard_on_the_callers_thread_alone_and_other_programs_have_their_threads() -> None:
    command = [sys.executable, "-c", PROGRAM, str(BECKETT)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    assert ended.stdout.split() == ["True", "0", "None"]
