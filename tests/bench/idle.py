"""What Sayso costs while nobody speaks: `python tests/bench/idle.py [SECONDS [WAY …]]`.

The desktop application runs as a user has it, on a private display with a private microphone, in each way to listen,
with a microphone that gives digital silence and those of three rooms, its window shown and closed to the tray.
For each the processor time of its processes is told in % of one core, and how often their threads wake. Target: the
desktop's own process ≤ 3 % of a core. A wake costs two to three times as much on a machine that does nothing else, so
measure there: 2.1 to 2.9 % hands-free, 3.5 % in the street, whose noise is looked at for voices.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import soundfile

sys.path.insert(0, str(Path(__file__).parents[1]))
from bounded import wait_for
from integration.desktop_session import DesktopSession, desktop_session, settings_file
from virtual_desktop import virtual_desktop
from virtual_tray import virtual_tray

WAYS = {"hands_free": "hands-free", "hold": "hold to talk"}
ROOMS: dict[str, tuple[float, float] | None] = {
    "silence": None,
    "quiet room": (-64.0, 0.0),
    "fan": (-48.0, 0.0),
    "street": (-44.0, 0.5),
}
"""Level of the noise in dBFS, and by how much it wanders in 50 ms; None is digital zero, what a muted one gives."""
RATE = 16_000
SETTLE_SECONDS = 5.0
"""Between a change and its measurement."""


@dataclass(frozen=True)
class Spent:
    """What a process and its threads have used up since it began."""

    cpu_s: float
    wakes: int
    threads: Counter[str]
    """Seconds of processor time by the thread's name."""


def spent(process: psutil.Process) -> Spent:
    used, wakes, threads = process.cpu_times(), 0, Counter[str]()
    for thread in process.threads():
        folder = Path(f"/proc/{process.pid}/task/{thread.id}")
        with contextlib.suppress(FileNotFoundError):
            threads[(folder / "comm").read_text().strip()] += thread.user_time + thread.system_time
            lines = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines())
            wakes += int(lines["voluntary_ctxt_switches"])
    return Spent(used.user + used.system, wakes, threads)


def measure(session: DesktopSession, what: str, seconds: float) -> None:
    time.sleep(SETTLE_SECONDS)
    processes = [psutil.Process(session.process.pid), *session.family]
    before, began_s = [spent(each) for each in processes], time.monotonic()
    time.sleep(seconds)
    took_s = time.monotonic() - began_s
    for process, was in zip(processes, before, strict=True):
        now = spent(process)
        busiest = Counter({name: now.threads[name] - was.threads[name] for name in now.threads}).most_common(3)
        threads = ", ".join(f"{name} {100 * used / took_s:.1f}" for name, used in busiest if used / took_s >= 0.001)
        share, wakes = 100 * (now.cpu_s - was.cpu_s) / took_s, (now.wakes - was.wakes) / took_s
        print(f"{what:48} {process.cmdline()[2]:14} {share:5.2f} %  {wakes:6.1f} wakes/s  ({threads})", flush=True)


def noise_file(folder: Path, level_db: float, wander_db: float, seconds: float) -> Path:
    """White noise whose level is a random walk that is drawn back to where it began."""
    random, size = np.random.default_rng(0), RATE // 20
    steps, level = [], level_db
    for _ in range(round(seconds * 20)):
        level += random.normal(0.0, wander_db) - 0.02 * (level - level_db)
        steps.append(level)
    samples = random.normal(0.0, 1.0, (len(steps), size)) * 10 ** (np.array(steps)[:, None] / 20)
    soundfile.write(folder / "noise.wav", np.clip(samples.ravel(), -1.0, 1.0), RATE)
    return folder / "noise.wav"


@contextlib.contextmanager
def room(session: DesktopSession, name: str, seconds: float) -> Iterator[None]:
    """The microphone hears this room for as long as the block runs."""
    heard = ROOMS[name]
    if heard is None:
        yield
        return
    sound = noise_file(session.desktop.folder, *heard, seconds + 3 * SETTLE_SECONDS)
    with session.microphone.speaking(sound):
        yield


def one_way(way: str, seconds: float) -> None:
    with virtual_desktop() as desktop, virtual_tray(desktop.environment["DBUS_SESSION_BUS_ADDRESS"]) as tray:
        settings_file(desktop).parent.mkdir(parents=True)
        settings_file(desktop).write_text(json.dumps({"guided": True, "way": way}))
        with desktop_session(desktop, room_noise=False) as session:
            session.wait_for_server("On this computer")
            tray.wait_for_icon()
            for shown in ("window shown", "in the tray"):
                if shown != "window shown":
                    desktop.focus(desktop.wait_for_window("Sayso"))
                    desktop.xdotool("key", "--clearmodifiers", "alt+F4")
                    wait_for(lambda: not desktop.windows(), "the window gone", 30)
                for name in ROOMS:
                    with room(session, name, seconds):
                        measure(session, f"{WAYS[way]}, {name}, {shown}", seconds)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    for way in sys.argv[2:] or WAYS:
        one_way(way, seconds)


if __name__ == "__main__":
    main()
