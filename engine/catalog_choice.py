"""Which model ``auto`` is on a machine, and how much memory a model needs. Pure: a function of values.

The constants were measured with ``tests/bench`` on slow cores and scaled by the number of weights; what counts is
that a model chosen by itself keeps up with speech and leaves half of the machine to its user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sayso.engine.catalog_entries import Entry

GIB = 1 << 30
_ENGINE_BYTES = 330 * 10**6
"""An engine process without a model."""
_CPU_BYTES_A_WEIGHT = {"whisper": 2.3, "voxtral_realtime": 1.1, "causal": 1.2}
"""Int8 layers, their scales, and what stays in wider types."""
_GPU_BYTES_A_WEIGHT = 2.0
_GPU_SPARE_BYTES = 2 * GIB
"""Room on a GPU for sessions and for what its driver takes."""
_WHISPER_CORES_A_WEIGHT = 0.25 / 39e6
"""Cores that one live speaker keeps busy: tiny.en takes a quarter of one."""
_VOXTRAL_CPU_CORES = 16.0
"""Its 80 ms steps read all weights, which no ordinary CPU does in time."""
_SHARE_OF_CORES = 0.5
_SHARE_OF_MEMORY = 0.25


@dataclass(frozen=True)
class Machine:
    """What a model would run on."""

    cores: int
    memory_bytes: int
    gpu_bytes: int = 0
    """Memory of the largest GPU; 0 when there is none or it is not to be used."""


def memory_need(entry: Entry, *, gpu: bool = False) -> int:
    """About the bytes that a model and one session take: of the machine with its engine process, or of a GPU."""
    if gpu:
        return int(entry.parameters * _GPU_BYTES_A_WEIGHT) + entry.session_bytes + _GPU_SPARE_BYTES
    return int(entry.parameters * _CPU_BYTES_A_WEIGHT[entry.kind]) + entry.session_bytes + _ENGINE_BYTES


def cores_need(entry: Entry) -> float:
    """About the cores that one live speaker keeps busy without a GPU."""
    return _VOXTRAL_CPU_CORES if entry.kind == "voxtral_realtime" else entry.parameters * _WHISPER_CORES_A_WEIGHT


def suits(entry: Entry, machine: Machine) -> bool:
    """Whether a model keeps up with speech on this machine."""
    if not entry.hears:
        return False
    if machine.gpu_bytes >= memory_need(entry, gpu=True):
        return True
    enough_cores = cores_need(entry) <= machine.cores * _SHARE_OF_CORES
    return enough_cores and memory_need(entry) <= machine.memory_bytes * _SHARE_OF_MEMORY


def choose(machine: Machine, installed: Sequence[Entry]) -> Entry:
    """The best of the installed speech models that suits the machine: a streaming one, else the largest.

    Where none suits, the smallest: late text is better than none. Nothing is ever fetched because it would be better.
    """
    able = [entry for entry in installed if suits(entry, machine)]
    if not able:
        return min(installed, key=lambda entry: entry.parameters)
    return max(able, key=lambda entry: (bool(entry.delays_ms), entry.parameters))
