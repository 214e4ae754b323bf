"""Which shape each tensor of a Whisper has, by its name: what a file holds is compared with it. Pure."""

from __future__ import annotations

from sayso.engine.errors import EngineError
from sayso.engine.modules.whisper_shape import MAX_POSITIONS, Shape

Size = tuple[int | None, ...]
"""None: whatever the file says, such as the width between the two halves of a feed-forward layer."""


def size_of(name: str, shape: Shape) -> Size:
    """The shape of the tensor with this name (see ``whisper_weights``)."""
    width = shape.width
    side, *middle, kind = name.split(".")
    part = ".".join(middle[2:]) if middle[0] == "layers" else middle[0]
    rows = {"self.qkv": 3 * width, "cross.kv": 2 * width, "ffn.up": None}.get(part, width)
    if kind == "bias":
        return (rows,)
    match part:
        case "conv1":
            return width, shape.mel_bands, 3
        case "conv2":
            return width, width, 3
        case "positions":
            return MAX_POSITIONS if side == "encoder" else shape.max_tokens, width
        case "embedding":
            return shape.vocabulary, width
        case "ffn.down":
            return width, None
        case _:
            return (width,) if part.endswith("norm") else (rows, width)


def check(name: str, found: tuple[int, ...], shape: Shape) -> None:
    """Raises EngineError ``model_damaged`` with both shapes when they differ."""
    wanted = size_of(name, shape)
    fits = len(found) == len(wanted) and all(want in (None, have) for want, have in zip(wanted, found, strict=True))
    if not fits:
        text = f"The tensor {name} has the shape {found}, where the model's sizes ask for {wanted}. Fetch it again."
        raise EngineError("model_damaged", text)
