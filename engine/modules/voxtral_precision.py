"""How many sessions of a Voxtral Realtime a machine has room for. Deciding only."""

from __future__ import annotations

import psutil
import torch

from sayso.engine.modules.builder import Precision
from sayso.engine.modules.voxtral_shape import FRAMES_PER_POSITION, VoxtralShape

MOST_PLACES = 512
_MEMORY_SHARE = 0.8


def places(shape: VoxtralShape, precision: Precision, device: torch.device) -> int:
    """Sessions whose full rings fit into this machine's memory."""
    total = 0
    for stack, per_position in ((shape.encoder, FRAMES_PER_POSITION), (shape.decoder, 1)):
        entry = 2 * stack.layers * stack.kv_heads * stack.head_width * precision.cache.itemsize
        total += entry * (stack.window + 8 * per_position)
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else psutil.virtual_memory().total
    return max(1, min(MOST_PLACES, int(_MEMORY_SHARE * free / total)))
