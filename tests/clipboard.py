"""The clipboard of a virtual desktop as other programs see it. Runs in the calling thread."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bounded import child, wait_for
from virtual_desktop import VirtualDesktop

_COPIER = Path(__file__).parent / "data" / "commands" / "copier.py"


def on_clipboard(desktop: VirtualDesktop, target: str = "UTF8_STRING", selection: str = "clipboard") -> bytes | None:
    """What a selection holds in one format, None where it does not offer that."""
    command = ["xclip", "-selection", selection, "-target", target, "-out"]
    result = subprocess.run(command, env=desktop.environment, capture_output=True, timeout=30, check=False)
    return result.stdout if result.returncode == 0 else None


def wait_for_clipboard(desktop: VirtualDesktop, text: str, seconds: float = 15.0) -> None:
    """Return when this text is on the clipboard."""
    wait_for(lambda: on_clipboard(desktop) == text.encode(), f"{text!r} on the clipboard", seconds, pause=0.05)


@contextlib.contextmanager
def copied(desktop: VirtualDesktop, text: str, picture: bytes, folder: Path) -> Iterator[None]:
    """A program that has copied a text and a picture."""
    ready, image = folder / "copied", folder / "copied.png"
    image.write_bytes(picture)
    ready.unlink(missing_ok=True)
    environment = desktop.environment | {"QT_QPA_PLATFORM": "xcb"}
    with child([sys.executable, _COPIER, text, image, ready], environment, folder / "copier.log"):
        wait_for(ready.exists, "the text and the picture on the clipboard", 20)
        yield
