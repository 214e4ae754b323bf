"""Streaming input on real networks with random weights: company, number types, all ways of choosing, and text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import pytest
import tiny_causal
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from sayso.engine.catalog import ModelFiles
from sayso.engine.errors import EngineError
from sayso.engine.generate import AsyncEngine, StreamingInput
from sayso.engine.options import TokenLimits
from sayso.engine.runner.causal import CausalRunner
from sayso.engine.sampling import SamplingParams
from sayso.engine.token_session import Output

BOUND_S = 60.0
FAMILIES = ["llama", "mistral, window", "qwen3"]
BLOCK_TOKENS = 8


@pytest.fixture(scope="module", params=FAMILIES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_causal.build(tmp_path_factory.mktemp("causal"), tiny_causal.FAMILIES[request.param])


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def load(folder: Path, blocks: int = 1000) -> CausalRunner:
    """The model with a cache of so many blocks."""
    files = ModelFiles("causal", folder, "tiny")
    one = CausalRunner.load(files, "cpu", "float32", cache_bytes=1, block_tokens=BLOCK_TOKENS)
    return CausalRunner.load(files, "cpu", "float32", cache_bytes=blocks * one.block_bytes, block_tokens=BLOCK_TOKENS)


def tokens_of(seed: int, count: int) -> list[int]:
    return torch.randint(3, 199, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def greedy(most: int) -> SamplingParams:
    return SamplingParams(max_tokens=most, temperature=0, ignore_eos=True)


async def answers(
    engine: AsyncEngine, chunks: Sequence[tuple[list[int], int]], *, spaced: bool = False
) -> list[Output]:
    """All outputs of one session; ``spaced`` sends a chunk only when the one before was answered."""
    answered = asyncio.Semaphore(1)

    async def prompt() -> AsyncIterator[StreamingInput]:
        for tokens, most in chunks:
            if spaced:
                await answered.acquire()
            yield StreamingInput(tokens, greedy(most))

    outputs: list[Output] = []
    async with asyncio.timeout(BOUND_S):
        async for output in engine.generate(prompt()):
            if output.token is not None:
                outputs.append(output)
            if output.finish_reason is not None:
                answered.release()
    return outputs


def ids(outputs: Sequence[Output]) -> list[int | None]:
    return [output.token for output in outputs]


SESSIONS = [
    [(tokens_of(10, 40), 10), (tokens_of(11, 5), 10)],
    [(tokens_of(12, 3), 25)],
    [(tokens_of(13, 70), 2), (tokens_of(14, 1), 2), (tokens_of(15, 20), 8)],
    [(tokens_of(16, 17), 1), (tokens_of(17, 17), 1), (tokens_of(18, 17), 12)],
    [(tokens_of(19, 60), 16)],
]


async def test_company_and_parts_of_prompts_and_preemption_change_nothing(folder: Path) -> None:
    async with AsyncEngine(load(folder)) as engine:
        alone = [ids(await answers(engine, chunks)) for chunks in SESSIONS]
    roomy, tight = load(folder), load(folder, blocks=14)
    for runner, limits in ((roomy, TokenLimits(step_tokens=24)), (tight, TokenLimits(step_tokens=24, batch=3))):
        async with AsyncEngine(runner, limits) as engine:
            together = await asyncio.gather(
                *(answers(engine, chunks, spaced=number % 2 == 0) for number, chunks in enumerate(SESSIONS))
            )
            assert [ids(outputs) for outputs in together] == alone
            assert (engine._worker.preemptions > 0) == (runner is tight)
            assert engine._worker.blocks.used == 0


async def test_all_ways_of_choosing_share_a_batch_with_the_same_tokens_as_alone(folder: Path) -> None:
    ways = [
        SamplingParams(max_tokens=12, temperature=0, min_tokens=12, logprobs=3),
        SamplingParams(max_tokens=12, temperature=1.3, seed=1, top_p=0.9, ignore_eos=True),
        SamplingParams(max_tokens=12, temperature=0.8, seed=2, top_k=7, logprobs=0, min_tokens=12),
        SamplingParams(max_tokens=12, temperature=2.0, seed=3, stop_token_ids=(5, 6), ignore_eos=True),
    ]

    async def answer(engine: AsyncEngine, params: SamplingParams) -> list[int | None]:
        async with asyncio.timeout(BOUND_S):
            outputs = [output async for output in engine.generate(tokens_of(20, 33), params)]
        assert all((output.logprobs is None) == (params.logprobs is None) for output in outputs)
        return ids(outputs)

    async with AsyncEngine(load(folder)) as engine:
        alone = [await answer(engine, params) for params in ways]
        assert await asyncio.gather(*(answer(engine, params) for params in ways)) == alone
    assert len({tuple(tokens) for tokens in alone}) == 4


@pytest.mark.parametrize("precision", ["int8", "bfloat16"])
async def test_other_number_types_answer_too_and_steps_may_lack_answers(tmp_path: Path, precision: str) -> None:
    files = ModelFiles("causal", tiny_causal.build(tmp_path), "tiny")
    runner = CausalRunner.load(files, "cpu", precision, cache_bytes=2**22)
    async with AsyncEngine(runner, TokenLimits(step_tokens=16)) as engine:
        assert len(await answers(engine, [(tokens_of(5, 60), 3), (tokens_of(6, 60), 3)])) == 6


async def test_an_engine_is_loaded_by_the_name_of_a_folder(tmp_path: Path) -> None:
    folder = tiny_causal.build(tmp_path)
    async with await AsyncEngine.load(str(folder), "cpu", 1, "float32") as engine:
        assert len(await answers(engine, [(tokens_of(7, 5), 4)])) == 4
    with pytest.raises(EngineError) as caught:
        await AsyncEngine.load(str(tmp_path / "nowhere"))
    assert caught.value.code == "model_not_found"


async def test_text_goes_in_and_out_by_the_folder_s_tokenizer(tmp_path: Path) -> None:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({char: at for at, char in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    folder = tiny_causal.build(tmp_path, tiny_causal.TinyCausal(vocabulary=256))
    made.save(str(folder / "tokenizer.json"))

    async def typed() -> AsyncIterator[StreamingInput]:
        for text in ("Grüße", " an ", "alle 🙂"):
            yield StreamingInput(text, greedy(20))

    async with AsyncEngine(load(folder)) as engine, asyncio.timeout(BOUND_S):
        outputs = [output async for output in engine.generate(typed())]
    raw = [output.token for output in outputs if output.token is not None]
    assert len(raw) == 60
    written = made.decode(raw, skip_special_tokens=False)
    assert "".join(output.text for output in outputs) == written
