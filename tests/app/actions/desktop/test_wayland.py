"""Wayland sessions: nothing is typed, and text goes to the clipboard where a program for that is installed."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from sayso.app.actions import ActionError, Receipt, create
from sayso.app.actions.desktop import detect


async def test_dictation_goes_to_the_clipboard_and_says_why(tmp_path: Path) -> None:
    # Stands for wl-clipboard's program, which needs a compositor: takes the text from its input and ends.
    program = tmp_path / "wl-copy"
    program.write_text(f"#!/bin/sh\ncat > {tmp_path}/copied\n", encoding="utf-8")
    program.chmod(0o755)
    environment = {"WAYLAND_DISPLAY": "wayland-0", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    performer = create(environment=environment)

    outcome = await performer.type("naïve 日本")
    await performer.close()

    assert outcome.receipt is Receipt.ON_CLIPBOARD
    assert "Wayland" in outcome.detail
    assert (tmp_path / "copied").read_text(encoding="utf-8") == "naïve 日本"


@pytest.mark.parametrize("failing", ["missing", "refuses"])
async def test_without_such_a_program_dictation_is_refused_with_what_to_do(tmp_path: Path, failing: str) -> None:
    if failing == "refuses":
        program = tmp_path / "wl-copy"
        program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        program.chmod(0o755)
    performer = create(environment={"WAYLAND_DISPLAY": "wayland-0", "PATH": str(tmp_path)})

    with pytest.raises(ActionError) as refused:
        await performer.type("naïve")
    await performer.close()

    assert refused.value.code == "needs_x11"
    assert ("wl-clipboard" if failing == "missing" else "did not take") in str(refused.value)


def test_a_copy_that_never_ends_is_cancelled(tmp_path: Path) -> None:
    program = tmp_path / "wl-copy"
    program.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    program.chmod(0o755)
    backend = detect({"WAYLAND_DISPLAY": "wayland-0", "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    halt = threading.Event()
    halt.set()

    with pytest.raises(ActionError) as refused:
        backend.copy("x", halt)

    assert refused.value.code == "cancelled"
