"""A row of controls takes as many lines as its width needs, and no room for what is hidden."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from sayso.ui.flow_row import FlowRow

GAP = 10


class Block(QWidget):
    def sizeHint(self) -> QSize:
        return QSize(100, 30)


@pytest.fixture
def blocks(qtbot: QtBot) -> list[Block]:
    return [Block() for _ in range(3)]


def laid_out(blocks: list[Block], width: int) -> list[tuple[int, int]]:
    whole = QWidget()
    row = FlowRow(GAP, *blocks)
    whole.setLayout(row)
    whole.resize(width, row.heightForWidth(width))
    row.activate()
    places = [(block.x(), block.y()) for block in blocks]
    for block in blocks:
        block.setParent(None)
    delete(whole)
    return places


@pytest.mark.parametrize(
    ("width", "places"),
    [
        (320, [(0, 0), (110, 0), (220, 0)]),
        (319, [(0, 0), (110, 0), (0, 40)]),
        (100, [(0, 0), (0, 40), (0, 80)]),
        (50, [(0, 0), (0, 40), (0, 80)]),
    ],
)
def test_it_goes_on_in_the_next_line_where_the_width_ends(
    blocks: list[Block], width: int, places: list[tuple[int, int]]
) -> None:
    assert laid_out(blocks, width) == places


def test_it_asks_for_one_line_and_can_do_with_the_width_of_the_widest(blocks: list[Block]) -> None:
    whole = QWidget()
    row = FlowRow(GAP, *blocks)
    whole.setLayout(row)
    assert (row.sizeHint(), row.minimumSize()) == (QSize(320, 30), QSize(100, 30))
    assert [row.heightForWidth(width) for width in (320, 210, 100)] == [30, 70, 110]
    assert FlowRow(GAP).sizeHint() == QSize(0, 0)


def test_what_is_hidden_takes_no_room(blocks: list[Block]) -> None:
    blocks[1].hide()
    assert laid_out(blocks, 210)[2] == (110, 0)
