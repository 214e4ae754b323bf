"""What the first-run guide may ask for about itself. Qt thread."""

from __future__ import annotations

from typing import Protocol


class FirstRunIntents(Protocol):
    def open(self) -> None:
        """Show the guide from its beginning."""

    def forward(self) -> None:
        """Go to the next step, or finish after the last one."""

    def back(self) -> None:
        """Go to the step before."""

    def close(self) -> None:
        """Finish or skip it; it does not open by itself again."""
