"""Which number types a model runs in. Deciding only.

A precision is written ``weights`` or ``weights/cache``, such as ``int8``, ``bfloat16`` or ``int8/int8``.
"""

from __future__ import annotations

import torch

from sayso.engine.errors import EngineError
from sayso.engine.modules.builder import Precision
from sayso.engine.modules.int8 import int8_is_faster

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16, "int8": torch.int8}


def choose_precision(wanted: str, device: torch.device) -> Precision:
    """``auto`` is int8 on a CPU that is faster with it, else float32; bfloat16 elsewhere.

    Int8 weights go with a bfloat16 cache where the CPU computes in bfloat16.

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
