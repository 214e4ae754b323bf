"""``AsyncEngine`` over a real text model: transformers' tokens, in chunks as in one, preempted as never preempted."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_causal import FAMILIES, TinyCausal, build
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from sayso.engine import catalog
from sayso.engine.generate import AsyncEngine, StreamingInput
from sayso.engine.options import TokenLimits
from sayso.engine.runner.causal import CausalRunner
from sayso.engine.sampling import SamplingParams
from sayso.engine.token_session import Output

BOUND_S = 60.0
PAGE = 8
MODELS = ("llama", "mistral, window", "qwen3")


def params(most: int) -> SamplingParams:
    return SamplingParams(max_tokens=most, temperature=0, ignore_eos=True)


def load(folder: Path, pages: int = 400) -> CausalRunner:
    files = catalog.resolve(str(folder))
    probe = CausalRunner.load(files, "cpu", "float32", cache_bytes=1, block_tokens=PAGE)
    return CausalRunner.load(files, "cpu", "float32", cache_bytes=pages * probe.block_bytes, block_tokens=PAGE)


def prompt_of(length: int, seed: int) -> list[int]:
    dice = random.Random(seed)
    return [dice.randrange(3, TinyCausal().vocabulary) for _ in range(length)]


async def stream(*chunks: StreamingInput) -> AsyncIterator[StreamingInput]:
    for chunk in chunks:
        yield chunk


async def collect(outputs: AsyncIterator[Output]) -> list[Output]:
    async with asyncio.timeout(BOUND_S):
        return [output async for output in outputs]


def tokens(outputs: Sequence[Output]) -> list[int]:
    return [output.token for output in outputs if output.token is not None]


class Reference:
    """Transformers' greedy answers for a folder."""

    def __init__(self, folder: Path) -> None:
        transformers = pytest.importorskip("transformers")
        self.model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.model.generation_config.eos_token_id = None
        self.model.generation_config.pad_token_id = 0

    @torch.no_grad()
    def greedy(self, context: Sequence[int], count: int) -> list[int]:
        out = self.model.generate(torch.tensor([context]), do_sample=False, max_new_tokens=count)
        return out[0, len(context) :].tolist()


@pytest.fixture(scope="module", params=MODELS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("model"), FAMILIES[request.param])


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("llama"))


async def test_many_prompts_at_once_are_answered_as_transformers_answers_each(folder: Path) -> None:
    prompts = [prompt_of(length, length) for length in (40, 5, 93, 1, 64, 17)]
    reference = Reference(folder)
    expected = [reference.greedy(prompt, 24) for prompt in prompts]
    # So few tokens in a step cut every long prompt into portions that share steps with the answers of others.
    async with AsyncEngine(load(folder), TokenLimits(step_tokens=24)) as engine:
        found = await asyncio.gather(*(collect(engine.generate(prompt, params(24))) for prompt in prompts))
    assert [tokens(outputs) for outputs in found] == expected


async def test_a_prompt_that_goes_on_is_answered_from_all_that_stayed_in_its_context(folder: Path) -> None:
    reference = Reference(folder)
    chunks = [(prompt_of(19, 1), 5), (prompt_of(30, 2), 1), (prompt_of(2, 3), 9), (prompt_of(11, 4), 6)]
    async with AsyncEngine(load(folder)) as engine:
        inputs = [StreamingInput(prompt, params(most)) for prompt, most in chunks]
        outputs = await collect(engine.generate(stream(*inputs)))
    context: list[int] = []
    expected: list[int] = []
    for prompt, most in chunks:
        context += prompt
        answer = reference.greedy(context, most)
        expected += answer
        context += answer[:-1]
    assert tokens(outputs) == expected


async def test_a_prompt_in_chunks_is_answered_as_in_one_and_only_new_tokens_are_computed(llama: Path) -> None:
    prompt = prompt_of(160, 6)
    parts = [prompt[at : at + 20] for at in range(0, 160, 20)]
    async with AsyncEngine(load(llama)) as engine:
        whole = tokens(await collect(engine.generate(prompt, params(12))))
        before = engine.computed_tokens
        inputs = [StreamingInput(part, params(1)) for part in parts[:-1]] + [StreamingInput(parts[-1], params(12))]
        outputs = await collect(engine.generate(stream(*inputs)))
        computed = engine.computed_tokens - before
    assert tokens(outputs)[len(parts) - 1 :] == whole
    # The last token of an answer is never computed, hence no output of the first seven chunks is.
    assert computed == 160 + 11


async def test_sessions_that_had_to_make_room_answer_as_if_they_had_not(llama: Path) -> None:
    prompts = [prompt_of(30 + 7 * at, at) for at in range(5)]
    async with AsyncEngine(load(llama)) as engine:
        expected = [tokens(await collect(engine.generate(prompt, params(40)))) for prompt in prompts]
    # Each needs up to 13 pages of the 24, so at most two are complete at a time.
    async with AsyncEngine(load(llama, pages=24)) as engine:
        found = await asyncio.gather(*(collect(engine.generate(prompt, params(40))) for prompt in prompts))
        assert engine._worker.preemptions > 0
        assert engine._worker.blocks.used == 0
    assert [tokens(outputs) for outputs in found] == expected


async def test_a_session_that_waits_for_its_next_chunk_gives_its_pages_to_others_and_goes_on(llama: Path) -> None:
    first, second, other = prompt_of(60, 1), prompt_of(20, 2), prompt_of(150, 3)
    inputs = [StreamingInput(first, params(8)), StreamingInput(second, params(8))]
    async with AsyncEngine(load(llama)) as engine:
        expected = tokens(await collect(engine.generate(stream(*inputs))))
    async with AsyncEngine(load(llama, pages=24)) as engine, asyncio.timeout(BOUND_S):
        answered = asyncio.Event()

        async def paused() -> AsyncIterator[StreamingInput]:
            yield inputs[0]
            await answered.wait()
            yield inputs[1]

        found: list[int | None] = []
        async for output in engine.generate(paused()):
            found.append(output.token)
            if output.finish_reason is not None and not answered.is_set():
                assert len(tokens(await collect(engine.generate(other, params(8))))) == 8
                assert engine._worker.preemptions > 0
                answered.set()
    assert [token for token in found if token is not None] == expected


async def test_behind_a_window_a_session_outgrows_its_memory_and_is_answered_as_by_transformers(
    tmp_path: Path,
) -> None:
    """A window of 21 positions in pages of 8: six pages are enough for 400 positions, in parts and in company."""
    folder = build(tmp_path, FAMILIES["mistral, window"])
    reference, chunks = Reference(folder), [(prompt_of(130, 1), 60), (prompt_of(90, 2), 100)]
    context: list[int] = []
    expected: list[int] = []
    for prompt, most in chunks:
        answer = reference.greedy([*context, *prompt], most)
        context += [*prompt, *answer[:-1]]
        expected += answer
    async with AsyncEngine(load(folder, pages=6)) as engine:
        inputs = [StreamingInput(prompt, params(most)) for prompt, most in chunks]
        first, second = (collect(engine.generate(stream(*inputs))) for _ in range(2))
        found = await asyncio.gather(first, second)
        assert engine._worker.preemptions > 0
        assert engine._worker.blocks.used == 0
    assert [tokens(outputs) for outputs in found] == [expected, expected]


async def test_text_goes_in_and_out_through_the_folder_s_tokenizer(tmp_path: Path) -> None:
    build(tmp_path, TinyCausal(vocabulary=300))
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(["the cat sat"], trainers.BpeTrainer(vocab_size=290, initial_alphabet=alphabet))
    made.save(str(tmp_path / "tokenizer.json"))
    ids = made.encode("the cat").ids
    async with AsyncEngine(load(tmp_path)) as engine:
        by_text = await collect(engine.generate("the cat", params(20)))
        by_ids = await collect(engine.generate(ids, params(20)))
    assert tokens(by_text) == tokens(by_ids)
    assert "".join(output.text for output in by_text) == made.decode(tokens(by_text))


async def test_the_stop_token_of_the_folder_ends_an_answer(llama: Path, tmp_path: Path) -> None:
    prompt = prompt_of(40, 40)
    async with AsyncEngine(load(llama)) as engine:
        expected = tokens(await collect(engine.generate(prompt, params(24))))
    stop = next(token for at, token in enumerate(expected) if at > 3 and token not in expected[:at])
    build(tmp_path)
    (tmp_path / "generation_config.json").write_text(f'{{"eos_token_id": {stop}}}')
    async with AsyncEngine(load(tmp_path)) as engine:
        outputs = await collect(engine.generate(prompt, SamplingParams(max_tokens=24, temperature=0)))
    assert tokens(outputs) == expected[: expected.index(stop) + 1]
    assert outputs[-1].finish_reason == "stop"


async def test_the_model_s_length_ends_a_session(tmp_path: Path) -> None:
    build(tmp_path, TinyCausal(length=50))
    async with AsyncEngine(load(tmp_path)) as engine:
        outputs = await collect(engine.generate(prompt_of(40, 1), params(100)))
    assert outputs[-1].finish_reason == "context_length"
    assert len(tokens(outputs)) == 10
