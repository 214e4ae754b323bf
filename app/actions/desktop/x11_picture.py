"""What is on the screen, as pixels. One worker thread at a time."""

from __future__ import annotations

import numpy as np
from xcffib.xproto import ImageFormat

from sayso.app.actions.desktop.x11_connection import X11Connection
from sayso.app.actions.errors import ActionError

_ALL_PLANES = 0xFFFF_FFFF
_DEPTHS = (24, 32)


def picture(x: X11Connection) -> np.ndarray:
    """All monitors together: shape (height, width, 3), uint8, red first."""
    with x.calls() as connection:
        whole = connection.core.GetGeometry(x.root).reply()
        if whole.depth not in _DEPTHS:
            raise ActionError("screen_depth", f"Pictures of a screen with {whole.depth} bits of colour are not taken.")
        reply = connection.core.GetImage(
            ImageFormat.ZPixmap, x.root, 0, 0, whole.width, whole.height, _ALL_PLANES
        ).reply()
        order = connection.get_setup().image_byte_order
        raw = np.frombuffer(bytes(reply.data.buf()), dtype=np.uint8)
        four = raw[: whole.width * whole.height * 4].reshape(whole.height, whole.width, 4)
        # Least significant byte first is blue, green, red, unused; the other order is its reverse.
        return four[:, :, 2::-1].copy() if order == 0 else four[:, :, 1:].copy()
