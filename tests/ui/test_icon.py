from __future__ import annotations

from importlib.resources import files

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from sayso.ui import icon

NAMES = sorted(path.name.removesuffix(".svg") for path in (files("sayso.assets") / "icons").iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_every_drawing_can_be_drawn_in_a_colour(qapp: QApplication, name: str) -> None:
    picture = icon.pixmap(name, "#ff0000", 48, 2.0).toImage()
    assert picture.width() == 96
    inked = [picture.pixelColor(x, y) for x in range(96) for y in range(96) if picture.pixelColor(x, y).alpha() == 255]
    assert inked
    if name != "sayso":
        assert all(colour == QColor("#ff0000") for colour in inked)


def test_the_application_has_an_icon_in_every_common_size(qapp: QApplication) -> None:
    assert {size.width() for size in icon.application_icon().availableSizes()} >= {16, 32, 64, 256}
