"""Which number types a Voxtral Realtime runs in, and how many sessions' rings fit. Deciding only.

A precision is written ``weights`` or ``weights/cache``, such as ``int8``, ``bfloat16`` or ``int8/int8``.
"""

from __future__ import annotations

import psutil
import torch

from sayso.engine.errors import EngineError
from sayso.engine.modules.builder import Precision
from sayso.engine.modules.int8 import int8_is_faster
from sayso.engine.modules.voxtral_shape import FRAMES_PER_POSITION, VoxtralShape

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16, "int8": torch.int8}
MOST_PLACES = 512
_MEMORY_SHARE = 0.8


def choose_precision(wanted: str, device: torch.device) -> Precision:
    """``auto`` is int8 on a CPU that is faster with it, else float32; bfloat16 elsewhere.

    Int8 weights go with bfloat16 rings where the CPU computes in bfloat16.

    Raises EngineError ``precision_unknown``.
    """
    if wanted == "auto":
        wanted = "bfloat16" if device.type != "cpu" else "int8" if int8_is_faster() else "float32"
    weights, _, cache = wanted.partition("/")
    if weights not in TYPES or (cache and cache not in TYPES):
        known = ", ".join(TYPES)
        raise EngineError("precision_unknown", f"There is no precision {wanted!r}. Use auto, {known}, or two as a/b.")
    if weights == "int8" and device.type != "cpu":
        raise EngineError("precision_unknown", "Int8 weights run on a CPU only. Use bfloat16 or float16 here.")
    compute = torch.float32 if weights == "int8" else TYPES[weights]
    usual = torch.bfloat16 if weights == "int8" and torch.cpu._is_avx512_bf16_supported() else compute
    return Precision(compute, weights == "int8", TYPES[cache] if cache else usual)


def places(shape: VoxtralShape, precision: Precision, device: torch.device) -> int:
    """Sessions whose full rings fit into this machine's memory."""
    total = 0
    for stack, per_position in ((shape.encoder, FRAMES_PER_POSITION), (shape.decoder, 1)):
        entry = 2 * stack.layers * stack.kv_heads * stack.head_width * precision.cache.itemsize
        total += entry * (stack.window + 8 * per_position)
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else psutil.virtual_memory().total
    return max(1, min(MOST_PLACES, int(_MEMORY_SHARE * free / total)))
