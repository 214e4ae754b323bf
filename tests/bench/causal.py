"""Steps of the causal runner beside transformers' `generate`: `python tests/bench/causal.py [PRECISION]`.

A random model of 30 million parameters answers after prompts of 256 tokens, one session and 16. Processor time is
counted, in one thread, so that other work on the machine disturbs little. Then the step of one session at ages far
apart: what grows is the attention over its own positions, and nothing else.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from tiny_causal import TinyCausal, build

from sayso.engine.catalog import ModelFiles
from sayso.engine.runner.causal import CausalRunner
from sayso.engine.runner.token_base import Slice

SHAPE = TinyCausal(
    vocabulary=8000, width=512, layers=8, heads=8, kv_heads=2, head_width=64, inner=1536, length=65536, scale=0.04
)
PROMPT, ANSWER, SESSIONS = 256, 32, 16
AGES = (64, 1024, 16_384)


def milliseconds(work: Callable[[], object], rounds: int = 5) -> float:
    """The least processor time of some rounds, after one that does not count."""
    work()
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return 1000 * best


def decode(runner: CausalRunner, ages: Sequence[int]) -> float:
    """A step in which each session of these ages adds a token; their pages lie mixed, as they do in use."""
    count = len(ages)
    batch = [
        Slice(f"{at}", (5,), age, range(at, at + count * (age // runner.block_tokens + 1), count), True)
        for at, age in enumerate(ages)
    ]
    spent = milliseconds(lambda: runner.forward(batch))
    for part in batch:
        runner.drop(part.session, part.blocks)
    return spent


def theirs(folder: Path) -> float:
    """A token of transformers' greedy answer, its prompt taken off."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    prompt = torch.arange(3, 3 + PROMPT).unsqueeze(0)

    def answer(count: int) -> float:
        return milliseconds(lambda: model.generate(prompt, do_sample=False, max_new_tokens=count), 3)

    return (answer(ANSWER + 1) - answer(1)) / ANSWER


def main() -> None:
    precision = sys.argv[1] if len(sys.argv) > 1 else "float32"
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    with tempfile.TemporaryDirectory() as name:
        folder = build(Path(name), SHAPE)
        runner = CausalRunner.load(ModelFiles("causal", folder, "bench"), "cpu", precision, cache_bytes=1 << 30)
        one, many = decode(runner, [PROMPT]), decode(runner, [PROMPT] * SESSIONS)
        reference = theirs(folder)
        print(f"{precision}, weights {runner.weight_bytes / 1e6:.0f} MB, a token after {PROMPT} in processor time:")
        print(f"  transformers {reference:.1f} ms, one session {one:.1f} ms ({one / reference:.2f})", end=", ")
        print(f"{SESSIONS} sessions {many:.1f} ms, {many / SESSIONS:.1f} each ({many / SESSIONS / reference:.2f})")
        for age in AGES:
            print(f"  one session at {age} positions {decode(runner, [age]):.1f} ms")


if __name__ == "__main__":
    main()
