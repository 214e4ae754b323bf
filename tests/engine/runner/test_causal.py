"""The causal runner gives transformers' tokens, alone and in mixed batches, and its cache is what it says it is."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from tiny_causal import FAMILIES, TinyCausal, build, config, random_weights

from sayso.engine import catalog
from sayso.engine.blocks import Blocks
from sayso.engine.errors import EngineError
from sayso.engine.runner import registry
from sayso.engine.runner.causal import CausalRunner
from sayso.engine.runner.token_base import Slice

PAGE = 8
PROMPT, ANSWER = 45, 28


def load(
    folder: Path, precision: str = "float32", block_tokens: int = PAGE, cache_bytes: int = 1 << 23
) -> CausalRunner:
    files = catalog.resolve(str(folder))
    return CausalRunner.load(files, "cpu", precision, cache_bytes=cache_bytes, block_tokens=block_tokens)


class Reference:
    """Transformers' model of a folder; a stop token does not end its answer."""

    def __init__(self, folder: Path, dtype: torch.dtype = torch.float32) -> None:
        transformers = pytest.importorskip("transformers")
        self.model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()
        self.model.generation_config.eos_token_id = None
        self.model.generation_config.pad_token_id = 0

    @torch.no_grad()
    def greedy(self, prompt: Sequence[int], count: int) -> list[int]:
        out = self.model.generate(torch.tensor([prompt]), do_sample=False, max_new_tokens=count)
        return out[0, len(prompt) :].tolist()

    @torch.no_grad()
    def logits(self, tokens: Sequence[int]) -> torch.Tensor:
        return self.model(torch.tensor([tokens])).logits[0].float()


class Session:
    """One session that is driven by hand: a prompt in portions, then token by token."""

    def __init__(self, name: str, prompt: Sequence[int], portions: Sequence[int], count: int) -> None:
        self.name, self.count = name, count
        self.answer: list[int] = []
        self.computed = 0
        self._pending = list(prompt)
        self._portions = list(portions)

    @property
    def done(self) -> bool:
        return len(self.answer) == self.count

    def slice(self, blocks: Blocks, page: int) -> Slice:
        size = min(self._portions.pop(0) if self._portions else len(self._pending), len(self._pending))
        tokens, self._pending = tuple(self._pending[:size]), self._pending[size:]
        want = -(-(self.computed + size) // page) - len(blocks.held(self.name))
        blocks.take({self.name: want})
        part = Slice(self.name, tokens, self.computed, blocks.held(self.name), not self._pending)
        self.computed += size
        return part

    def take(self, row: torch.Tensor) -> None:
        self.answer.append(int(row.argmax()))
        self._pending = self.answer[-1:]


def run(runner: CausalRunner, sessions: Sequence[Session], choose: Any = None) -> None:
    """Steps until all are done; ``choose`` says who takes part in a step."""
    blocks = Blocks(runner.blocks)
    while left := [session for session in sessions if not session.done]:
        taking = [session for session in left if choose is None or choose()] or left[:1]
        batch = [session.slice(blocks, runner.block_tokens) for session in taking]
        rows = iter(runner.forward(batch))
        for session, part in zip(taking, batch, strict=True):
            if part.logits:
                session.take(next(rows))
            if session.done:
                runner.drop(session.name, blocks.give_back(session.name))


def prompt_of(tiny: TinyCausal, length: int, seed: int) -> list[int]:
    dice = random.Random(seed)
    return [dice.randrange(3, tiny.vocabulary) for _ in range(length)]


def alone(runner: CausalRunner, prompt: Sequence[int], count: int, portions: Sequence[int] = ()) -> list[int]:
    session = Session("alone", prompt, portions, count)
    run(runner, [session])
    return session.answer


@pytest.fixture(scope="module", params=list(FAMILIES))
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[TinyCausal, Path]:
    tiny = FAMILIES[request.param]
    return tiny, build(tmp_path_factory.mktemp("model"), tiny)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("llama"))


def test_every_family_gives_the_tokens_of_transformers_alone_in_portions_and_in_mixed_batches(
    family: tuple[TinyCausal, Path],
) -> None:
    tiny, folder = family
    runner, reference = load(folder), Reference(folder)
    dice = random.Random(5)
    prompts = [prompt_of(tiny, length, seed) for seed, length in enumerate((PROMPT, 3, 70, 1, 17))]
    expected = [reference.greedy(prompt, ANSWER) for prompt in prompts]
    assert max(len(set(answer)) for answer in expected) > 12, "the weights give hardly more than one token"
    assert alone(runner, prompts[0], ANSWER) == expected[0]
    assert alone(runner, prompts[2], ANSWER, (1, 40, 2, 7)) == expected[2]
    portions = ((), (), (20, 5, 30), (), (1, 8))
    sessions = [Session(str(at), prompt, portions[at], ANSWER) for at, prompt in enumerate(prompts)]
    run(runner, sessions, lambda: dice.random() < 0.6)
    assert [session.answer for session in sessions] == expected


def test_logits_are_those_of_transformers_far_beyond_the_first_page(family: tuple[TinyCausal, Path]) -> None:
    tiny, folder = family
    tokens = prompt_of(tiny, 200, 9)
    runner = load(folder)
    expected = Reference(folder).logits(tokens)
    pages = list(range(40, 80))
    whole = runner.forward([Slice("whole", tuple(tokens), 0, pages, True)])
    assert whole.dtype == torch.float32
    torch.testing.assert_close(whole[0], expected[-1], rtol=0, atol=2e-4)
    # One after the other they are the logits after each token.
    for at in (0, 1, 2):
        [row] = runner.forward([Slice("single", (tokens[at],), at, range(25), True)])
        torch.testing.assert_close(row, expected[at], rtol=0, atol=2e-4)


@pytest.mark.parametrize("precision", ["bfloat16", "float16", "float32/bfloat16", "float32/int8"])
def test_narrower_types_stay_near_the_exact_logits(llama: Path, precision: str) -> None:
    tiny = TinyCausal()
    tokens = tuple(prompt_of(tiny, 90, 4))
    exact = load(llama).forward([Slice("exact", tokens, 0, range(20), True)])
    runner = load(llama, precision)
    in_one = runner.forward([Slice("one", tokens, 0, range(20), True)])
    runner.forward([Slice("two", tokens[:60], 0, range(20, 40), False)])
    for at in range(60, 90):
        in_steps = runner.forward([Slice("two", tokens[at : at + 1], at, range(20, 40), True)])
    for found in (in_one, in_steps):
        assert float((found - exact).std() / exact.std()) < 0.06
    assert not torch.equal(in_one, exact)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types_are_as_near_to_the_exact_logits_as_those_of_transformers(llama: Path, dtype: torch.dtype) -> None:
    tokens = prompt_of(TinyCausal(), 90, 4)
    exact = Reference(llama).logits(tokens)[-1]
    theirs = Reference(llama, dtype).logits(tokens)[-1]
    [ours] = load(llama, str(dtype).removeprefix("torch.")).forward([Slice("one", tuple(tokens), 0, range(20), True)])
    assert float((ours - exact).std()) < 1.5 * float((theirs - exact).std())


def test_int8_weights_are_near_and_take_less(llama: Path) -> None:
    if not hasattr(torch.ops.onednn, "qlinear_pointwise"):
        pytest.skip("this build of torch has no int8 layers")
    tokens = tuple(prompt_of(TinyCausal(), 90, 4))
    exact, int8 = load(llama), load(llama, "int8")
    rows = [runner.forward([Slice("one", tokens, 0, range(20), True)]) for runner in (exact, int8)]
    assert float((rows[1] - rows[0]).std() / rows[0].std()) < 0.12
    assert int8.weight_bytes < 0.45 * exact.weight_bytes


def test_a_session_that_was_dropped_and_computed_anew_goes_on_as_if_nothing_had_been(llama: Path) -> None:
    tiny, runner = TinyCausal(), load(llama)
    prompt = prompt_of(tiny, PROMPT, 1)
    expected = alone(runner, prompt, ANSWER)
    half = expected[: ANSWER // 2]
    runner.forward([Slice("other", tuple(prompt_of(tiny, 90, 2)), 0, range(5, 30), False)])
    assert alone(runner, [*prompt, *half], ANSWER - len(half)) == expected[len(half) :]


def test_what_a_neighbour_left_in_a_page_is_not_seen(llama: Path) -> None:
    tiny, runner = TinyCausal(), load(llama)
    prompt = tuple(prompt_of(tiny, 20, 1))
    first, second, between = (50, 51, 52), (56, 57, 58), 54
    fresh = runner.forward([Slice("fresh", prompt, 0, first, True)])
    runner.forward([Slice("old", tuple(prompt_of(tiny, 24, 2)), 0, second, False)])
    again = runner.forward([Slice("new", prompt, 0, second, True)])
    assert torch.equal(fresh, again)
    # A page between theirs, of a session whose numbers went wrong.
    runner._cache._kv[:, :, between] = float("nan")
    beside = runner.forward([Slice("new", (7,), 20, second, True), Slice("fresh", (7,), 20, first, True)])
    assert not beside.isnan().any()
    torch.testing.assert_close(beside[0], beside[1], rtol=0, atol=1e-5)


def test_only_the_slices_that_ask_get_logits(llama: Path) -> None:
    runner = load(llama)
    batch = [Slice("a", (5, 6), 0, (0,), False), Slice("b", (7,), 0, (1,), True), Slice("c", (8,), 0, (2,), False)]
    assert runner.forward(batch).shape == (1, runner.vocabulary)
    assert runner.forward(batch[:1]).shape == (0, runner.vocabulary)


def test_the_runner_tells_the_facts_of_its_model(llama: Path) -> None:
    runner = load(llama, cache_bytes=1_000_000)
    assert (runner.vocabulary, runner.max_length, runner.eos_ids) == (199, 4096, frozenset({2}))
    assert runner.tokenizer is None
    assert not runner.feeds_stop_token
    # 3 layers, keys and values, 2 heads of 16 numbers of 4 bytes.
    assert runner.block_bytes == 3 * 2 * 2 * 16 * 4 * PAGE
    assert runner.blocks == 1_000_000 // runner.block_bytes
    assert runner.weight_bytes == (llama / "model.safetensors").stat().st_size // 4 * 4 - _header(llama)


def _header(folder: Path) -> int:
    with (folder / "model.safetensors").open("rb") as file:
        return 8 + int.from_bytes(file.read(8), "little")


def test_shards_are_one_model(llama: Path, tmp_path: Path) -> None:
    shards = build(tmp_path, shards=3)
    tokens = tuple(prompt_of(TinyCausal(), 20, 1))
    rows = [load(folder).forward([Slice("one", tokens, 0, range(3), True)]) for folder in (llama, shards)]
    assert torch.equal(*rows)
    (shards / "model-00002-of-00003.safetensors").unlink()
    _refused(shards, "model_not_found", "model-00002-of-00003")


def test_weights_stored_in_bfloat16_are_widened_exactly_and_looked_up_as_they_are(tmp_path: Path) -> None:
    tiny = FAMILIES["qwen2"]
    build(tmp_path, tiny)
    narrow = {name: value.bfloat16() for name, value in random_weights(tiny).items()}
    save_file(narrow, tmp_path / "model.safetensors")
    prompt = prompt_of(tiny, PROMPT, 0)
    runner = load(tmp_path)
    assert alone(runner, prompt, ANSWER) == Reference(tmp_path).greedy(prompt, ANSWER)
    numbers = sum(value.numel() for value in narrow.values())
    looked_up = narrow["model.embed_tokens.weight"].numel()
    assert runner.weight_bytes in (4 * numbers, 4 * numbers + 2 * looked_up)


def test_a_generation_config_says_which_tokens_end_an_answer(tmp_path: Path) -> None:
    build(tmp_path)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [2, 7]}')
    assert load(tmp_path).eos_ids == {2, 7}


@pytest.mark.parametrize(
    ("stored", "asked", "name"),
    [
        (TinyCausal(layers=2), TinyCausal(layers=3), "model.layers.2."),
        (TinyCausal(tied=True), TinyCausal(), "lm_head.weight"),
        (TinyCausal(inner=96), TinyCausal(inner=64), "mlp.gate_proj.weight"),
        (TinyCausal(vocabulary=100), TinyCausal(), "model.embed_tokens.weight"),
        (TinyCausal("qwen3"), TinyCausal("qwen2"), "q_proj.bias"),
        (TinyCausal("qwen2"), TinyCausal("qwen3"), "q_norm.weight"),
    ],
)
def test_a_missing_or_misshapen_tensor_is_named(
    tmp_path: Path, stored: TinyCausal, asked: TinyCausal, name: str
) -> None:
    build(tmp_path, stored)
    (tmp_path / "config.json").write_text(json.dumps(config(asked)))
    _refused(tmp_path, "model_damaged", name)


def test_weights_that_are_cut_off_are_refused(tmp_path: Path) -> None:
    build(tmp_path)
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:-10])
    _refused(tmp_path, "model_damaged", "cut off")


def test_a_text_model_does_not_transcribe_and_says_what_it_is_for(llama: Path) -> None:
    files = catalog.resolve(str(llama))
    assert files.kind == "causal"
    with pytest.raises(EngineError, match=r"text model.*auto") as caught:
        registry.create(files, "cpu")
    assert caught.value.code == "model_cannot_hear"
    assert registry.create_tokens(files, "cpu", "float32").name == files.name
    with pytest.raises(EngineError) as caught:
        registry.create_tokens(replace(files, kind="whisper"), "cpu")
    assert caught.value.code == "model_cannot_write"


def _refused(folder: Path, code: str, text: str) -> None:
    with pytest.raises(EngineError, match=text) as caught:
        load(folder)
    assert caught.value.code == code


def test_no_python_work_grows_with_a_session_s_age(tmp_path: Path) -> None:
    runner = load(build(tmp_path))

    def calls(age: int) -> int:
        """Of the step that made the fewest: now and then one tries another number of threads."""
        counts: list[int] = []

        def seen(frame: object, event: str, argument: object) -> None:
            counts[-1] += event in ("call", "c_call")

        batch = [Slice("old", (5,), age, range(age // PAGE + 1), True)]
        runner.forward(batch)
        for _ in range(5):
            counts.append(0)
            sys.setprofile(seen)
            try:
                runner.forward(batch)
            finally:
                sys.setprofile(None)
        runner.drop("old", ())
        return min(counts)

    assert calls(30) == calls(300) == calls(3000)
