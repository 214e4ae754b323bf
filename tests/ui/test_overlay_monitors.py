"""The overlay on two monitors of a real display: it is whole on the one with the pointer, and never off the screen."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from bounded import child, wait_for
from virtual_desktop import VirtualDesktop, virtual_desktop

pytestmark = pytest.mark.desktop

PROGRAM = Path(__file__).parent / "overlay_program.py"
LEFT, RIGHT = (0, 1000), (1000, 1800)


@dataclass
class Stage:
    desktop: VirtualDesktop
    process: subprocess.Popen[bytes]

    def order(self, what: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{what}\n".encode())
        self.process.stdin.flush()

    def show_at(self, x: int) -> None:
        """Bring it up with the pointer at this place."""
        self.order("hide")
        wait_for(lambda: not self.desktop.windows(), "the overlay gone", 20)
        self.desktop.xdotool("mousemove", x, 300)
        self.order("show")

    def wait_until_on(self, monitor: tuple[int, int]) -> None:
        def there() -> bool:
            for window in self.desktop.windows():
                left, _, width, _ = self.desktop.geometry(window)
                return monitor[0] <= left and left + width <= monitor[1]
            return False

        wait_for(there, f"the overlay on the monitor {monitor}", 20)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with virtual_desktop((1800, 600), sound=False, session_bus=False) as desktop:
        desktop.divide(LEFT[1], RIGHT[1] - RIGHT[0])
        environment = desktop.environment | {"QT_QPA_PLATFORM": "xcb"}
        with child([sys.executable, PROGRAM], environment, tmp_path / "overlay.log", stdin=subprocess.PIPE) as process:
            yield Stage(desktop, process)


def test_it_is_whole_on_the_monitor_with_the_pointer_and_moves_when_that_is_taken_away(stage: Stage) -> None:
    for x, monitor in ((100, LEFT), (1790, RIGHT), (990, LEFT), (1500, RIGHT)):
        stage.show_at(x)
        stage.wait_until_on(monitor)
    stage.desktop.divide(LEFT[1])
    stage.wait_until_on(LEFT)
