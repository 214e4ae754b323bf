"""What the page about the engine and the first-run guide may ask for about models. Qt thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class EngineIntents(Protocol):
    def watch(self, on: bool) -> None:
        """Whether somebody looks: only then are models listed and the engine is asked how it is."""

    def use_model(self, name: str) -> None:
        """Have the engine on this machine run this model; the one of before goes on until then, or if it fails."""

    def use_device(self, device: str) -> None:
        """Have it run on this device."""

    def use_threads(self, threads: int) -> None:
        """Have it run with so many threads; 0 lets it choose."""

    def fetch(self, name: str) -> None:
        """Fetch a model, or the rest of one."""

    def obtain(self, name: str) -> None:
        """Fetch a model, and use it when it is here."""

    def measure(self, name: str) -> None:
        """Find out how fast an installed model is here."""

    def measure_all(self, names: Sequence[str]) -> None:
        """Find that out for those of them that are installed and were not measured yet."""

    def add_folder(self, typed: str) -> None:
        """List a folder of the user's own with a model, or tell why that is none."""

    def remove(self, name: str) -> None:
        """Delete what was fetched of a model; of a folder of the user's own nothing but its place in the list."""

    def stop_work(self) -> None:
        """End the fetching, measuring or loading that goes on."""
