"""The graph's arithmetic, and that every kind of samples is painted."""

from __future__ import annotations

import memory_scenes
import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from sayso.app.memory_view import Sample
from sayso.ui.memory_graph import MemoryGraph, layers, runs, scale
from sayso.ui.theme import Theme

MB = 1_000_000


@pytest.mark.parametrize("most", [1, 3 * MB, 399 * MB, 400 * MB, 401 * MB, 7_900 * MB])
def test_four_steps_of_the_scale_hold_the_highest_and_are_not_far_above(most: int) -> None:
    step = scale(most)
    assert 4 * step >= most
    assert step == MB or 4 * step < 2.6 * most
    assert str(step).rstrip("0") in ("1", "2", "5")


def test_times_at_which_nobody_looked_are_gaps() -> None:
    samples = [Sample(at, MB) for at in (0, 1, 2, 60, 61, 200)]
    assert [[sample.at_s for sample in run] for run in runs(samples)] == [[0, 1, 2], [60, 61], [200]]
    assert runs([]) == []


def test_the_areas_stand_upon_each_other_and_unknown_ones_have_no_height() -> None:
    assert layers(Sample(0, 1, 2, 3)) == (1, 3, 6)
    assert layers(Sample(0, 1, None, None)) == (1, 1, 1)


@pytest.mark.parametrize("scene", memory_scenes.ALL)
def test_every_state_is_painted(qtbot: QtBot, theme: Theme, scene: str) -> None:
    graph = MemoryGraph(theme)
    qtbot.addWidget(graph)
    graph.resize(graph.sizeHint())
    graph.show_samples(memory_scenes.ALL[scene]().memory.samples)
    image = graph.grab().toImage()
    # Just left of now, from the top of the plot to its foot.
    x, foot = image.width() - 4, image.height() - round(1.5 * graph.fontMetrics().height())
    column = {QColor(image.pixel(x, y)).name() for y in range(foot)}
    grid = {theme.colours.line, image.pixelColor(1, 1).name()}
    assert bool(memory_scenes.ALL[scene]().memory.samples) == bool(column - grid)
