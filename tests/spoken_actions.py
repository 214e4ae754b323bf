"""Commands as they are spoken, performed on a private desktop. Used on a test's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import xcffib
from virtual_desktop import VirtualDesktop, Window
from xcffib.xproto import MapState

from sayso.app.actions import Outcome, Performer
from sayso.app.commands.matching import Match


@dataclass
class BareHands:
    """A performer, told in words what to do."""

    performer: Performer
    read: Callable[[str], Match]

    async def do(self, sentence: str) -> Outcome:
        """Perform what a sentence says; its ActionError is the caller's."""
        return await asyncio.wait_for(self.performer.perform(self.read(sentence)), 30)


@dataclass
class Hands(BareHands):
    """A performer on a desktop."""

    desktop: VirtualDesktop

    def sees(self, window: Window) -> bool:
        """Whether a window is on the screen at all, as the X server tells it."""
        connection = xcffib.connect(display=self.desktop.display)
        try:
            state = connection.core.GetWindowAttributes(window.id).reply().map_state
            return bool(state == MapState.Viewable)
        finally:
            connection.disconnect()


@dataclass(frozen=True)
class ApplicationFolder:
    """A folder of desktop entries."""

    folder: Path

    def add(self, identifier: str, **values: str) -> Path:
        """Write ``identifier``.desktop with these keys."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = ["[Desktop Entry]", "Type=Application", *(f"{key}={value}" for key, value in values.items())]
        file = self.folder / f"{identifier}.desktop"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return file
