"""Times steps of many sessions with random weights: the published 4B shape on a GPU, the small shape on a CPU.

    python tests/bench/voxtral_steps.py                       on CUDA if there is one, else the small shape on the CPU
    python tests/bench/voxtral_steps.py --shape published --sessions 1,8,64,128 --precision bfloat16/int8

Every session's windows are full, which is the dearest a step can be. The floor on an H200 is 2.06 ms: the time to read
the weights once.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

# Threads that wait behave as in the engine's own process; read when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "20000")

import psutil
import torch
from tiny_voxtral import PUBLISHED, SMALL, TINY, Sizes, config, write_tekken

from sayso.engine.modules.builder import Builder
from sayso.engine.modules.precision import choose_precision
from sayso.engine.modules.tekken import Tekken
from sayso.engine.modules.voxtral_network import Network
from sayso.engine.modules.voxtral_realtime import VoxtralRealtime
from sayso.engine.modules.voxtral_shape import VoxtralShape, shape_from_config
from sayso.engine.modules.voxtral_static import StaticSteps

SHAPES = {"tiny": TINY, "small": SMALL, "published": PUBLISHED}
STEPS = 20


class RandomWeights:
    """Any tensor that is asked for, made on the device; no file of many gigabytes is needed to time a step."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self._device, self._dtype = device, dtype

    def __contains__(self, name: str) -> bool:
        return not name.endswith("k_proj.bias")

    def tensor(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.randn(shape, device=self._device, dtype=self._dtype) * 0.02


def model_of(sizes: Sizes, precision: str, device: torch.device, places: int) -> VoxtralRealtime:
    chosen = choose_precision(precision, device)
    shape: VoxtralShape = shape_from_config(config(sizes))
    network = Network(Builder(RandomWeights(device, chosen.compute), chosen, device), shape)
    with tempfile.TemporaryDirectory() as folder:
        write_tekken(Path(folder) / "tekken.json", min(sizes.vocabulary, 20_000))
        return VoxtralRealtime(network.eval(), Tekken.load(Path(folder)), chosen, places, device)


def memory_mb(device: torch.device) -> float:
    if device.type == "cuda":
        return torch.cuda.memory_allocated(device) / 2**20
    return psutil.Process().memory_info().rss / 2**20


def measure(model: VoxtralRealtime, sessions: int) -> tuple[float, float]:
    """Best and median milliseconds of a step over so many sessions of full windows."""
    seats = [model.sit(6) for _ in range(sessions)]
    for seat in seats:
        seat.encoded += model.shape.decoder.window
        seat.decoded += model.shape.decoder.window
    steps = StaticSteps(model) if model.device.type == "cuda" else None
    samples, times = torch.randn(sessions, 1520) * 0.1, []
    tokens, penalties = [70] * sessions, [0.0] * sessions
    for number in range(STEPS + 3):
        began = time.perf_counter()
        if steps is not None:
            steps.step(seats, samples, tokens, penalties)
        else:
            audio = model.encode(seats, samples)
            model.decode(seats, tokens, audio[:, 0], penalties)
        if number >= 3:
            times.append(1000 * (time.perf_counter() - began))
    for seat in seats:
        model.leave(seat)
    return min(times), statistics.median(times)


def main() -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    on_cuda = device.type == "cuda"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="published" if on_cuda else "small")
    parser.add_argument("--precision", default="bfloat16" if on_cuda else "float32")
    parser.add_argument("--sessions", default="1,8,64,128" if on_cuda else "1,8,32")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.set_grad_enabled(False)
    where = torch.cuda.get_device_name(device) if on_cuda else f"CPU, {arguments.threads} threads"
    print(f"{arguments.shape} shape, {arguments.precision}, {where}")
    for sessions in map(int, arguments.sessions.split(",")):
        try:
            # Rings of full length are allocated for each place on a GPU, so every number of sessions has its own model.
            model = model_of(SHAPES[arguments.shape], arguments.precision, device, sessions + 1)
            best, median = measure(model, sessions)
        except torch.cuda.OutOfMemoryError:
            print(f"{sessions:4} sessions: their full windows do not fit; try --precision bfloat16/int8")
            continue
        print(
            f"{sessions:4} sessions: {best:8.2f} ms a step (median {median:.2f}), {memory_mb(device):9.0f} MB",
            flush=True,
        )
        del model


if __name__ == "__main__":
    main()
