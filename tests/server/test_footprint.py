"""Memory of a process as the system sees it."""

from __future__ import annotations

import os
import subprocess
import sys

from sayso.server.footprint import resident_bytes


def test_what_a_process_takes_is_seen() -> None:
    before = resident_bytes(os.getpid())
    block = bytearray(b"x" * 40_000_000)
    assert resident_bytes(os.getpid()) - before > 30_000_000
    del block


def test_a_process_that_is_gone_takes_nothing() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    assert resident_bytes(child.pid) == 0
