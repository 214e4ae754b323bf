"""From a ``Load`` message to a model that can run. Torch is first imported here, in the loop thread."""

from __future__ import annotations

import ctypes
import logging
import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso.engine.blocks import Budget
from sayso.engine.errors import EngineError
from sayso.engine.kernel_cache import bound_kernels
from sayso.engine.messages import Load
from sayso.engine.runner.base import Budgeted, Runner
from sayso.engine.runner.token_base import TokenRunner

if TYPE_CHECKING:
    from sayso.engine.vad import VoiceDetector

logger = logging.getLogger(__name__)

CACHE_SHARE = 0.8
"""Of the memory that is free once the weights are there."""
MOST_THREADS = 4
"""More than this brings a small model nothing."""
ARENAS = 2
LARGE_BYTES = 4_000_000
SHORT_STEPS = frozenset({"voxtral_realtime"})
"""Kinds of models whose steps choose their threads themselves; see ``engine/step_threads.py``."""
SPINS = 20_000
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8


@dataclass(frozen=True)
class Loaded:
    """What runs after a ``Load``."""

    runner: Runner
    detector: VoiceDetector
    device: str
    threads: int
    load_ms: int
    text: TokenRunner | None = None
    """The text model beside it."""
    budget: Budget | None = None
    """What the caches of both may hold together; None where each has its memory already."""


def load(message: Load) -> Loaded:
    """Load the model and run it once; raises ``EngineError`` with a code and what to do."""
    began = time.monotonic()
    bound_heap()
    threads = message.threads or default_threads()
    from sayso.engine.catalog import resolve

    short_steps = resolve(message.model, "cpu").kind in SHORT_STEPS
    _set_environment(threads, short_steps=short_steps)
    import torch

    from sayso.engine.step_threads import share_among

    share_among(threads)
    torch.set_grad_enabled(False)
    from sayso.engine.runner import registry
    from sayso.engine.vad import VoiceDetector

    device = choose_device(message.device)
    runner = registry.create(resolve(message.model, device), device, message.precision)
    text = None
    if message.text_model:
        text = registry.create_tokens(resolve(message.text_model, device), device, message.text_precision)
    detector = VoiceDetector.load()
    runner.warm()
    if short_steps:
        # Its steps take what threads they can use; the little that is done between them wakes none.
        share_among(1)
    budget = share_memory(runner, free_bytes()) if device == "cpu" else None
    load_ms = int((time.monotonic() - began) * 1000)
    logger.info("loaded %s on %s with %d threads in %d ms", runner.name, device, threads, load_ms)
    return Loaded(runner, detector, device, threads, load_ms, text, budget)


def share_memory(runner: Runner, free_bytes: int) -> Budget:
    """What the caches of a speech model and of a text model may take together; they take it only when it is written.

    One session of the speech model gets in whatever is free: most are over long before its rings are full.
    """
    budget = Budget(int(CACHE_SHARE * free_bytes))
    if isinstance(runner, Budgeted):
        budget.total_bytes = max(budget.total_bytes, runner.place_bytes)
        runner.draw_on(budget)
    return budget


def free_bytes() -> int:
    """Memory of this machine that is free now."""
    import psutil

    return int(psutil.virtual_memory().available)


def choose_device(wanted: str) -> str:
    """``auto`` is CUDA, else MPS, else the CPU; another name must exist on this machine."""
    present = present_devices()
    if wanted == "auto":
        return present[0]
    if wanted.split(":")[0] not in present:
        usable = ", ".join(present)
        raise EngineError("device_missing", f"There is no device {wanted!r} here. Use auto or one of: {usable}.")
    return wanted


def present_devices() -> tuple[str, ...]:
    """What models can run on here, the best first."""
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    return tuple(name for name, present in there.items() if present)


def default_threads() -> int:
    """Threads for inference: the CPUs this process may use, but not more than a small model can fill."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MOST_THREADS, usable))


def bound_heap() -> None:
    """Keep glibc from holding memory: few heaps for threads, and large blocks go back to the system when freed."""
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(_M_ARENA_MAX, ARENAS)
        mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(_M_TRIM_THRESHOLD, LARGE_BYTES)


def give_back_memory() -> None:
    """Give freed memory back to the system; takes about a millisecond."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


def _set_environment(threads: int, *, short_steps: bool) -> None:
    """Read once, when torch is imported. Waiting OpenMP threads sleep, since spinning starves busy neighbours.

    Where a step is many short operations they look for the next one for about half a millisecond before they sleep:
    waking them takes longer than such an operation. ``StepThreads`` does without them where that goes wrong.
    """
    os.environ["OMP_NUM_THREADS"] = str(threads)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if short_steps:
        os.environ.setdefault("GOMP_SPINCOUNT", str(SPINS))
    bound_kernels()


def device_bytes(device: str) -> int:
    """Memory that torch holds on a device of its own; 0 on the CPU."""
    import torch

    if device.startswith("cuda"):
        return int(torch.cuda.memory_reserved(device))
    return int(torch.mps.driver_allocated_memory()) if device == "mps" else 0
