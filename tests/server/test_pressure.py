"""How scarce memory is."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.server.pressure import memory_pressure, some_avg10

KERNEL = """some avg10=1.50 avg60=0.20 avg300=0.00 total=123
full avg10=0.75 avg60=0.00 avg300=0.00 total=45
"""


def test_the_kernels_figure_is_read(tmp_path: Path) -> None:
    file = tmp_path / "memory"
    file.write_text(KERNEL)
    assert memory_pressure(file) == 1.5


@pytest.mark.parametrize("text", ["", "full avg10=3.00", "some", "some avg10=much", "some avg60=1.0"])
def test_what_is_not_told_counts_as_none(text: str) -> None:
    assert some_avg10(text) is None


def test_a_system_without_the_file_tells_none(tmp_path: Path) -> None:
    assert memory_pressure(tmp_path / "none") is None
