"""Why a prompt is sent while it comes into being: `python tests/bench/streaming_input.py [TURNS]`.

A prompt of 2,000 tokens for a random causal model of a few million parameters: sent whole, and in 8 chunks of which
each is answered with one token before the next one is sent. Counted is the time from sending the whole, or the last
chunk, to the first token of its answer. Both take turns, and the best of each counts, since other work on the machine
disturbs single ones. Exit status 1 when the chunks need more than 0.2 of the time of the whole.
"""

from __future__ import annotations

import asyncio
import math
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import tiny_causal
import torch

from sayso.engine.catalog import ModelFiles
from sayso.engine.generate import AsyncEngine, StreamingInput
from sayso.engine.runner.causal import CausalRunner
from sayso.engine.sampling import SamplingParams

SHAPE = tiny_causal.TinyCausal(
    vocabulary=2048, width=384, layers=3, heads=6, kv_heads=2, head_width=64, inner=1536, scale=0.06
)
PROMPT = [(at * 7919 + 11) % SHAPE.vocabulary for at in range(2000)]
CHUNKS = 8
MOST = 0.2
ONE = SamplingParams(max_tokens=1, temperature=0)


async def whole(engine: AsyncEngine) -> tuple[float, int]:
    """Seconds to the first token, and the token."""
    began = time.perf_counter()
    async for output in engine.generate(PROMPT, ONE):
        if output.token is not None:
            return time.perf_counter() - began, output.token
    raise AssertionError("no token came")


async def chunked(engine: AsyncEngine) -> tuple[float, int]:
    """Seconds from the last chunk to its first token, and the token."""
    size = len(PROMPT) // CHUNKS
    answered = asyncio.Semaphore(1)
    sent = 0.0

    async def chunks() -> AsyncIterator[StreamingInput]:
        nonlocal sent
        for at in range(CHUNKS):
            await answered.acquire()
            sent = time.perf_counter()
            yield StreamingInput(PROMPT[at * size : (at + 1) * size])

    took, last = 0.0, -1
    async for output in engine.generate(chunks(), ONE):
        if output.token is not None:
            took, last = time.perf_counter() - sent, output.token
            answered.release()
    return took, last


async def measure(runner: CausalRunner, turns: int) -> float:
    """The chunks' time as a share of the whole's."""
    async with AsyncEngine(runner) as engine:
        await whole(engine)
        pairs = [(await whole(engine), await chunked(engine)) for _ in range(turns)]
    assert len({token for pair in pairs for _, token in pair}) == 1, "chunks and whole give different tokens"
    all_at_once, in_chunks = (min(each[kind][0] for each in pairs) for kind in (0, 1))
    print(f"whole {1000 * all_at_once:.1f} ms, last of {CHUNKS} chunks {1000 * in_chunks:.1f} ms", end=", ")
    return in_chunks / all_at_once


def main() -> int:
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        files = ModelFiles("causal", tiny_causal.build(Path(folder), SHAPE), "random")
        runner = CausalRunner.load(files, "cpu", "float32", cache_bytes=256 * 1024 * 1024)
        count = sum(math.prod(shape) for shape in tiny_causal.tensor_shapes(SHAPE).values())
        print(f"{count / 1e6:.1f} million parameters, {len(PROMPT)} tokens")
        share = asyncio.run(measure(runner, turns))
    print(f"share {share:.3f} (at most {MOST})")
    return int(share > MOST)


if __name__ == "__main__":
    sys.exit(main())
