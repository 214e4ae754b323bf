"""Eight hours of use of the desktop, in minutes: what its process holds does not grow. Only by `make soak`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from bounded import child, read_line
from integration.desktop_session import settings_file
from virtual_desktop import virtual_desktop

pytestmark = [pytest.mark.soak, pytest.mark.desktop, pytest.mark.timeout(5400)]

PROGRAM = Path(__file__).parents[1] / "simulated_hours.py"
FILLING = (15, 15, 15)
"""Seconds between utterances of each hour in which transcript and feed fill up to what they keep."""
HOURS = (60,) * 8
HOUR_S = 900.0
"""Bound of a simulated hour, on a machine that others use as well."""
MOST_GROWN_MB = 5.0
TEXTS = """\
volume up
volume down
I think we should leave a little earlier this time.
what time is it
mute the sound
turn the sound on
It was the best of times, it was the worst of times, it was the age of wisdom.
the old garden lies behind the house
set the volume to thirty percent
undo that
press control c
She had never seen naïve façades like these, he said.
"""


def test_eight_hours_of_use_leave_nothing_behind(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.write_text(TEXTS, "utf-8")
    schedule = ",".join(map(str, (*FILLING, *HOURS)))
    with virtual_desktop() as desktop, desktop.terminal() as terminal:
        settings_file(desktop).parent.mkdir(parents=True)
        settings_file(desktop).write_text(json.dumps({"guided": True, "history_days": 30}))
        command, log = [sys.executable, PROGRAM, schedule, texts], tmp_path / "desktop.log"
        with child(command, desktop.environment, log, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            hours = []
            for _ in (*FILLING, *HOURS):
                try:
                    line = read_line(process.stdout.fileno(), "the end of an hour", HOUR_S)
                except AssertionError as error:
                    raise AssertionError(f"{error}\n{log.read_text()[-4000:]}") from None
                print(line, flush=True)
                hours.append(json.loads(line))
            assert process.wait(60) == 0
        assert terminal.process.poll() is None
    assert "Traceback" not in log.read_text()
    filled, last = hours[len(FILLING) - 1], hours[-1]
    assert last["lines"] == filled["lines"] == 200, "the transcript was not full"
    assert last["last_line"] - filled["last_line"] >= 400, "too little was said"
    assert last["done"] >= 100, "too little was done"
    assert last["own_mb"] <= filled["own_mb"] + MOST_GROWN_MB
    for what in ("widgets", "threads", "files"):
        assert last[what] <= filled[what] + 2, what
