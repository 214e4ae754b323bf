"""Pictures are read by another program as they were."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from sayso.app.actions.png import encode


@pytest.mark.parametrize("shape", [(1, 1, 3), (7, 5, 3), (300, 641, 3)])
def test_pixels_come_back_as_they_were(shape: tuple[int, int, int]) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, shape, dtype=np.uint8)

    with Image.open(io.BytesIO(encode(pixels))) as opened:
        assert opened.format == "PNG"
        opened.load()
        assert np.array_equal(np.asarray(opened), pixels)
