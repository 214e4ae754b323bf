"""Token sessions in shared steps and shared memory: alone or together, preempted or not, the answers are the same."""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_runner import Letters, ScriptedRunner, greedy
from torch import Tensor

from sayso.engine.blocks import Blocks, Budget
from sayso.engine.errors import EngineError, SessionError
from sayso.engine.options import TokenLimits
from sayso.engine.runner.token_base import Slice
from sayso.engine.sampling import SamplingParams
from sayso.engine.scheduler import Scheduler
from sayso.engine.token_session import Chunk, Output
from sayso.engine.token_worker import Event, Joined, TokenWorker
from sayso.engine.worker import step


def chunk(tokens: Sequence[int], most: int | None = 3, **params: object) -> Chunk:
    return Chunk(tuple(tokens), SamplingParams(max_tokens=most, temperature=0, **params))  # type: ignore[arg-type]


class Bench:
    """A worker, a scheduler and a clock of steps."""

    def __init__(
        self, runner: ScriptedRunner, limits: TokenLimits | None = None, budget: Budget | None = None, **scheduler: int
    ) -> None:
        self.runner = runner
        self.worker = TokenWorker(runner, limits, budget)
        self.scheduler = Scheduler(
            scheduler.get("batch", 8), batch_cost_ms=400.0, step_tokens=scheduler.get("step_tokens", 64)
        )
        self.now = 0.0
        self.said: dict[str, list[Event]] = {}

    def open(self, name: str, *chunks: Chunk, end: bool = True) -> None:
        self.worker.open(name, name, self.now)
        for each in chunks:
            self.worker.push(name, each, self.now)
        if end:
            self.worker.end_input(name, self.now)

    def step(self) -> int:
        self.now += 0.01
        ran = step(self.scheduler, (self.worker,), self.now)
        self.listen()
        return ran

    def listen(self) -> None:
        for name, event in self.worker.take():
            if not isinstance(event, Joined):
                self.said.setdefault(name, []).append(event)
            if isinstance(event, Output):
                self.worker.read(name, 1, self.now)

    def drain(self, most: int = 2000) -> None:
        for _ in range(most):
            if not self.step():
                return
        raise AssertionError("the sessions do not come to an end")

    def tokens(self, name: str) -> list[int | None]:
        return [event.token for event in self.said.get(name, []) if isinstance(event, Output)]

    def error(self, name: str) -> EngineError:
        error = self.said[name][-1]
        assert isinstance(error, EngineError)
        return error

    def computed(self, name: str) -> list[int]:
        """Tokens computed for a session in each step it had a part in."""
        return [len(part.tokens) for batch in self.runner.batches for part in batch if part.session == name]

    def check(self) -> None:
        """Nothing shared, nothing leaked."""
        blocks, worker = self.worker.blocks, self.worker
        held = [block for name in blocks.owners for block in blocks.held(name)]
        assert len(held) == len(set(held)) == blocks.used
        for name in blocks.owners:
            session = worker.session(name)
            assert session is not None
            reached = len(blocks.held(name)) + worker._seats[name].first_block
            assert session.computed <= reached * self.runner.block_tokens
        assert self.runner.kept <= blocks.used * self.runner.block_tokens


# Answers do not depend on company, on chunks of prompts or on preemption.


@dataclass
class Plan:
    """What one client does: chunks (tokens, most), then the end, or an abort before."""

    chunks: list[tuple[list[int], int]]
    aborts: bool
    out: list[tuple[int | None, bool, str | None]] = field(default_factory=list)


PLANS = st.builds(
    Plan,
    chunks=st.lists(st.tuples(st.lists(st.integers(0, 30), min_size=1, max_size=9), st.integers(1, 5)), max_size=4),
    aborts=st.sampled_from([False, False, False, True]),
)
EOS = 7


def script(context: tuple[int, ...]) -> int:
    return zlib.crc32(repr(context).encode()) % 31


def expected(plan: Plan, max_length: int, feeds: bool, window: int | None) -> list[tuple[int | None, bool, str | None]]:
    """The rule in its simplest form, for one session alone."""
    context: list[int] = []
    out: list[tuple[int | None, bool, str | None]] = []
    for tokens, most in plan.chunks:
        if len(context) + len(tokens) >= max_length:
            return [*out, (None, False, "context_length")]
        context += tokens
        for number in range(1, most + 1):
            token = script(tuple(context[-window:] if window else context))
            context.append(token)
            reason = "stop" if token == EOS else "length" if number == most else None
            reason = reason or ("context_length" if len(context) >= max_length else None)
            stays = reason is None or (reason == "stop" and feeds)
            out.append((token, stays, reason))
            if not stays:
                context.pop()
            if reason == "context_length":
                return out
            if reason is not None:
                break
    return out


@settings(max_examples=50, deadline=None)
@given(
    st.lists(PLANS, min_size=1, max_size=6),
    st.data(),
    st.integers(3, 14),
    st.booleans(),
    st.one_of(st.none(), st.integers(1, 12)),
)
def test_random_clients_in_little_memory_get_what_each_would_get_alone(
    plans: list[Plan], data: st.DataObject, blocks: int, feeds: bool, window: int | None
) -> None:
    """vLLM #49377: what a dropped token leaves in the cache is served to others."""
    runner = ScriptedRunner(script, blocks=blocks, eos_ids=[EOS], feeds_stop_token=feeds, vocabulary=31, window=window)
    bench = Bench(runner, batch=3, step_tokens=6)
    names = [str(number) for number in range(len(plans))]
    acts = [
        (name, act)
        for name, plan in zip(names, plans, strict=True)
        for act in ["open", *(["push"] * len(plan.chunks)), "abort" if plan.aborts else "end"]
    ]
    order = data.draw(st.permutations([name for name, _ in acts]))
    todo = {name: iter([act for owner, act in acts if owner == name]) for name in names}
    pushed = dict.fromkeys(names, 0)
    for name in order:
        match next(todo[name]):
            case "open":
                bench.open(name, end=False)
            case "push":
                tokens, most = plans[int(name)].chunks[pushed[name]]
                pushed[name] += 1
                bench.worker.push(name, chunk(tokens, most), bench.now)
            case "end":
                bench.worker.end_input(name, bench.now)
            case "abort":
                bench.worker.end(name)
        for _ in range(data.draw(st.integers(0, 3))):
            bench.step()
            bench.check()
    bench.drain()
    assert bench.worker.open_sessions == bench.worker.blocks.used == runner.kept == 0
    for name, plan in zip(names, plans, strict=True):
        outputs = [event for event in bench.said[name] if isinstance(event, Output)]
        assert [output.finished for output in outputs] == [False] * (len(outputs) - 1) + [True]
        said = [(output.token, output.in_context, output.finish_reason) for output in outputs]
        if said[-1] in ((None, False, None), (None, False, "abort")):
            said.pop()
        alone = expected(plan, bench.worker.max_length, feeds, window)
        assert said == (alone[: len(said)] if plan.aborts else alone)


def test_chunks_that_are_answered_with_one_token_each_are_like_the_whole_prompt() -> None:
    whole, parts = Bench(ScriptedRunner()), Bench(ScriptedRunner())
    whole.open("a", chunk(range(20), 4))
    parts.open("a", chunk(range(9), 1), chunk(range(9, 13), 1), chunk(range(13, 20), 4))
    whole.drain()
    parts.drain()
    assert parts.tokens("a")[2:] == whole.tokens("a") == greedy(whole.runner, tuple(range(20)), 4)


def test_the_new_tokens_of_a_chunk_and_no_others_are_computed() -> None:
    """Prefix caching by whole blocks would compute up to a block less one again for each chunk."""
    bench = Bench(ScriptedRunner(block_tokens=16))
    bench.open("a", chunk(range(21), 1), chunk([1, 2, 3], 1), chunk([4], 3), chunk(range(5), 1))
    bench.drain()
    assert bench.computed("a") == [21, 3, 1, 1, 1, 5]
    assert [event.usage.computed_tokens for event in bench.said["a"] if event.usage] == [21, 3, 1, 5]  # type: ignore[union-attr]


def test_a_model_that_must_see_its_stop_token_computes_one_token_more() -> None:
    script = {(1, 2): 8, (1, 2, 8, 3): 9}
    bench = Bench(ScriptedRunner(script.__getitem__, eos_ids=[8], feeds_stop_token=True))
    bench.open("a", chunk([1, 2], 5), chunk([3], 1))
    bench.drain()
    assert bench.computed("a") == [2, 2]
    assert bench.tokens("a") == [8, 9]


def test_a_long_prompt_is_computed_in_parts_while_others_get_their_tokens() -> None:
    """vLLM #57562: chunked prefill under streaming input fails an assertion."""
    bench = Bench(ScriptedRunner(blocks=200), step_tokens=16)
    bench.open("short", chunk([1], 12))
    bench.step()
    bench.open("long", chunk(range(90), 2))
    bench.drain()
    assert max(sum(len(part.tokens) for part in batch) for batch in bench.runner.batches) <= 16
    assert [len(batch) for batch in bench.runner.batches[1:7]] == [2] * 6
    assert bench.tokens("long") == greedy(bench.runner, tuple(range(90)), 2)
    assert [part.logits for batch in bench.runner.batches for part in batch if part.session == "long"][:7] == [
        *[False] * 5,
        True,
        True,
    ]


@pytest.mark.parametrize(("token_s", "goes_first"), [(0.05, "new"), (0.001, "old")])
def test_an_answer_behind_its_pace_goes_before_a_newcomer_and_one_ahead_of_it_after(
    token_s: float, goes_first: str
) -> None:
    bench = Bench(ScriptedRunner(), TokenLimits(token_s=token_s), batch=1)
    bench.open("old", chunk([1], 100))
    for _ in range(5):
        bench.step()
    bench.open("new", chunk([2], 3))
    for _ in range(3):
        bench.step()
    assert len(bench.tokens("old")) == (5 if goes_first == "new" else 8)
    for _ in range(90):
        bench.step()
    assert len(bench.tokens("new")) == 3


# Memory.


def test_paused_sessions_block_nobody_and_lose_their_cache_first() -> None:
    """vLLM #53130, and a paused session under ``max_num_seqs=1``: upstream never lets the other one in."""
    bench = Bench(ScriptedRunner(blocks=6), batch=1)
    bench.open("paused", chunk(range(20), 1), end=False)
    bench.drain()
    bench.open("other", chunk(range(5, 25), 3))
    bench.drain()
    assert bench.tokens("other") == greedy(bench.runner, tuple(range(5, 25)), 3)
    assert bench.worker.preemptions == 1
    bench.worker.push("paused", chunk([9], 2), bench.now)
    bench.worker.end_input("paused", bench.now)
    bench.drain()
    assert bench.tokens("paused")[1:] == greedy(bench.runner, (*range(20), 9), 2)


def test_who_waits_for_memory_goes_on_as_soon_as_somebody_pauses() -> None:
    bench = Bench(ScriptedRunner(blocks=6))
    bench.open("first", chunk(range(17), 6), end=False)
    bench.step()
    bench.open("second", chunk(range(30, 50), 2))
    bench.step()
    assert bench.tokens("second") == []
    bench.drain()
    assert bench.worker.session("first") is not None
    assert bench.tokens("second") == greedy(bench.runner, tuple(range(30, 50)), 2)


def test_two_sessions_that_each_need_more_than_is_left_both_come_to_their_end() -> None:
    """vLLM #49439 and #38233: sessions that hold memory deadlock or hang under pressure."""
    bench = Bench(ScriptedRunner(blocks=8))
    for name, first in (("a", 0), ("b", 40)):
        bench.open(name, chunk(range(first, first + 14), 1), end=False)
    bench.drain()
    for name in "ab":
        bench.worker.push(name, chunk(range(60, 70), 6), bench.now)
        bench.worker.end_input(name, bench.now)
    bench.drain()
    assert bench.tokens("a")[1:] == greedy(bench.runner, (*range(14), *range(60, 70)), 6)
    assert bench.tokens("b")[1:] == greedy(bench.runner, (*range(40, 54), *range(60, 70)), 6)


def test_a_newcomer_is_served_though_another_session_always_has_more_to_do() -> None:
    bench = Bench(ScriptedRunner(blocks=6, max_length=24), batch=2)
    greedy_name = iter(range(10_000))
    bench.open(f"busy {next(greedy_name)}", chunk(range(18), 5))
    bench.open("newcomer", chunk(range(30, 48), 5))
    for _ in range(60):
        bench.step()
        if bench.worker.open_sessions < 3:
            bench.open(f"busy {next(greedy_name)}", chunk(range(18), 5))
    assert bench.tokens("newcomer") == greedy(bench.runner, tuple(range(30, 48)), 5)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.integers(6, 14), st.integers(4, 16), st.integers(2, 4))
def test_nobody_starves_though_there_are_always_new_clients(seed: int, blocks: int, most: int, batch: int) -> None:
    dice = random.Random(seed)
    bench = Bench(ScriptedRunner(script, blocks=blocks, vocabulary=31, eos_ids=[EOS]), batch=batch, step_tokens=most)
    opened: dict[str, int] = {}
    for number in range(350):
        if bench.worker.open_sessions < 8:
            name = str(number)
            opened[name] = number
            chunks = [chunk([dice.randrange(31)] * dice.randint(1, 15), dice.randint(1, 5)) for _ in range(2)]
            bench.open(name, *chunks)
        bench.step()
        bench.check()
        waiting = [number - began for name, began in opened.items() if bench.worker.session(name) is not None]
        assert max(waiting, default=0) <= 250


def test_a_step_passes_nothing_that_grows_with_a_session_s_age() -> None:
    """vLLM #50731 and #52471: the whole prompt, or a copy of the block table, in every step."""
    bench = Bench(ScriptedRunner(blocks=400))
    bench.open("old", chunk(range(90), 1), chunk([1], 40), end=False)
    bench.drain()
    parts = [part for batch in bench.runner.batches for part in batch if part.session == "old"]
    assert {len(part.tokens) for part in parts[3:]} == {1}
    assert len({id(part.blocks) for part in parts}) == 1


def test_sessions_and_rings_of_speech_share_one_budget() -> None:
    budget = Budget(10 * 32)
    rings = Blocks(2, 8 * 32, budget)
    bench = Bench(ScriptedRunner(blocks=10), budget=budget)
    rings.take({"speech": 1})
    bench.open("text", chunk(range(16), 2))
    bench.drain()
    assert bench.tokens("text") == []
    assert bench.worker.open_sessions == 1
    rings.give_back("speech")
    bench.drain()
    assert bench.tokens("text") == greedy(bench.runner, tuple(range(16)), 2)
    assert budget.taken_bytes == 0


def test_a_model_with_less_memory_than_positions_ends_sessions_at_what_fits() -> None:
    bench = Bench(ScriptedRunner(blocks=3, block_tokens=4, max_length=1000))
    bench.open("a", chunk(range(8), None))
    bench.drain()
    assert len(bench.tokens("a")) == 4
    assert bench.said["a"][-1].finish_reason == "context_length"  # type: ignore[union-attr]


def test_a_session_behind_a_window_has_no_more_memory_than_that_however_long_it_becomes() -> None:
    held: list[int] = []

    def before(batch: Sequence[Slice]) -> None:
        held.extend(len(part.blocks) for part in batch)

    bench = Bench(ScriptedRunner(blocks=40, window=10, before=before), step_tokens=16)
    bench.open("a", chunk(range(90), 3), chunk(range(30), 200))
    while bench.step():
        bench.check()
    assert bench.tokens("a")[3:] == greedy(bench.runner, tuple(range(30)), 200)
    # The window, and what a step computes: 16 tokens of a prompt, 1 of an answer.
    assert (max(held), max(held[-150:])) == (7, 4)
    assert bench.worker.blocks.used == bench.runner.kept == 0


def test_a_session_behind_a_window_is_as_long_as_its_model_allows_in_memory_for_less() -> None:
    bench = Bench(ScriptedRunner(blocks=5, window=10, max_length=300))
    bench.open("a", chunk(range(90), None))
    bench.drain()
    assert max(len(part.tokens) for batch in bench.runner.batches for part in batch) == 4 * 4 - 10 + 2
    assert len(bench.tokens("a")) == 300 - 90
    assert bench.tokens("a") == greedy(bench.runner, tuple(range(90)), 210)
    assert bench.said["a"][-1].finish_reason == "context_length"  # type: ignore[union-attr]


def test_a_full_engine_refuses_and_paused_sessions_count() -> None:
    """vLLM #56758."""
    bench = Bench(ScriptedRunner(), TokenLimits(sessions=1))
    bench.open("a", chunk([1], 1), end=False)
    bench.drain()
    with pytest.raises(SessionError) as caught:
        bench.open("b")
    assert caught.value.code == "session_limit"
    bench.worker.end("a")
    bench.open("b", chunk([1], 1))


# Faults.


def test_a_session_on_which_the_model_fails_is_told_why_and_the_others_go_on() -> None:
    def before(batch: Sequence[Slice]) -> None:
        if any(13 in part.tokens for part in batch):
            raise ValueError("thirteen is too much")

    bench = Bench(ScriptedRunner(before=before))
    bench.open("bad", chunk([12, 13], 2), chunk([1], 1))
    bench.open("good", chunk([1, 2], 3))
    bench.drain()
    assert bench.error("bad").code == "inference_failed"
    assert "thirteen is too much" in str(bench.error("bad"))
    assert bench.tokens("good") == greedy(bench.runner, (1, 2), 3)
    assert bench.worker.blocks.used == bench.runner.kept == 0


def test_a_step_that_fails_once_changes_nothing() -> None:
    failures = iter([True, True, False])

    def before(batch: Sequence[Slice]) -> None:
        if len(batch) > 1 and next(failures, False):
            raise RuntimeError("only alone")

    params = SamplingParams(seed=5, max_tokens=6)
    shaky, steady = Bench(ScriptedRunner(before=before)), Bench(ScriptedRunner())
    for bench in (shaky, steady):
        for name in "ab":
            bench.open(name, Chunk((1, 2, ord(name)), params))
        bench.drain()
    assert shaky.said == steady.said


@pytest.mark.parametrize(
    "error", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory"), EngineError("out_of_memory", "full")]
)
def test_when_memory_runs_out_in_a_step_the_newest_session_is_refused_and_the_others_go_on(error: Exception) -> None:
    def before(batch: Sequence[Slice]) -> None:
        if len(batch) > 2:
            raise error

    bench = Bench(ScriptedRunner(before=before))
    for name in ("first", "second", "third"):
        bench.open(name, chunk([1, 2, 3], 3))
    bench.drain()
    assert bench.error("third").code == "out_of_memory"
    assert "others go on" in str(bench.error("third"))
    assert bench.tokens("first") == bench.tokens("second") == greedy(bench.runner, (1, 2, 3), 3)
    assert bench.worker.blocks.used == bench.runner.kept == 0


class Broken(ScriptedRunner):
    """Gives wrong numbers, or too few of them."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def forward(self, batch: Sequence[Slice]) -> Tensor:
        logits = super().forward(batch)
        if self.fault == "rows":
            return logits[:0]
        return logits.fill_(math.nan)

    def drop(self, session: str, blocks: Sequence[int]) -> None:
        super().drop(session, blocks)
        raise OSError("cannot drop")


@pytest.mark.parametrize(("fault", "text"), [("rows", "1 rows of logits"), ("numbers", "numbers that are none")])
def test_a_model_that_gives_no_usable_numbers_ends_its_session_only(fault: str, text: str) -> None:
    bench = Bench(Broken(fault))
    bench.open("a", chunk([1], 2))
    bench.drain()
    assert bench.error("a").code == "inference_failed"
    assert text in str(bench.error("a"))
    assert bench.worker.open_sessions == bench.worker.blocks.used == 0


# Clients that do nothing.


def test_a_client_that_does_not_read_stops_its_own_session_only() -> None:
    bench = Bench(ScriptedRunner(), TokenLimits(unread=5))
    bench.worker.open("deaf", "deaf", 0.0)
    bench.worker.push("deaf", chunk([1], 50), 0.0)
    bench.open("other", chunk([2], 20))
    heard: list[Event] = []
    for _ in range(40):
        step(bench.scheduler, (bench.worker,), bench.now)
        for name, event in bench.worker.take():
            if name == "deaf":
                heard.append(event)
            elif isinstance(event, Output):
                bench.worker.read(name, 1, bench.now)
    assert len([event for event in heard if isinstance(event, Output)]) == 5
    assert bench.worker.session("other") is None
    bench.worker.read("deaf", 5, bench.now)
    assert bench.worker.offers(bench.now)


def test_the_memory_of_a_client_that_does_not_read_can_be_taken() -> None:
    bench = Bench(ScriptedRunner(blocks=6), TokenLimits(unread=2))
    bench.worker.open("deaf", "deaf", 0.0)
    bench.worker.push("deaf", chunk(range(16), 7), 0.0)
    while step(bench.scheduler, (bench.worker,), 0.0):
        pass
    bench.worker.take()
    bench.open("other", chunk(range(20, 40), 2))
    bench.drain()
    assert bench.tokens("other") == greedy(bench.runner, tuple(range(20, 40)), 2)
    bench.worker.read("deaf", 2, bench.now)
    bench.drain()
    assert bench.tokens("deaf") == greedy(bench.runner, tuple(range(16)), 7)[2:]


def test_a_session_that_does_not_move_is_ended_after_its_time_and_not_before() -> None:
    """vLLM #46815, #53321: a silent client holds its place for ever."""
    bench = Bench(ScriptedRunner(), TokenLimits(idle_s=10.0))
    bench.open("silent", chunk([1], 1), end=False)
    bench.drain()
    moved = bench.now - 0.01
    assert bench.worker.expires() == pytest.approx(moved + 10.0)
    bench.worker.expire(moved + 9.9)
    assert bench.worker.open_sessions == 1
    assert bench.said["silent"][-1].finish_reason == "length"  # type: ignore[union-attr]
    bench.worker.expire(moved + 10.0)
    bench.listen()
    assert bench.said["silent"][-1].finish_reason == "idle"  # type: ignore[union-attr]
    assert bench.worker.open_sessions == bench.worker.blocks.used == 0
    assert bench.worker.expires() is None


def test_a_session_may_be_silent_for_long_and_then_go_on() -> None:
    """vLLM #36015: sessions without output for more than 60 s stopped silently."""
    bench = Bench(ScriptedRunner())
    bench.open("a", chunk([1, 2], 1), end=False)
    bench.drain()
    bench.now += 599.0
    bench.worker.expire(bench.now)
    bench.worker.push("a", chunk([3], 2), bench.now)
    bench.drain()
    assert bench.tokens("a")[1:] == greedy(bench.runner, (1, 2, 3), 2)


def test_a_session_that_waits_for_memory_too_long_is_refused() -> None:
    budget = Budget(10 * 32)
    rings = Blocks(1, 10 * 32, budget)
    bench = Bench(ScriptedRunner(blocks=10), TokenLimits(idle_s=10.0), budget=budget)
    rings.take({"speech": 1})
    bench.open("text", chunk(range(16), 2))
    bench.drain()
    bench.worker.expire(bench.now + 10.0)
    bench.listen()
    assert bench.error("text").code == "out_of_memory"


def test_nothing_reaches_a_session_that_is_over() -> None:
    """vLLM #53861: no chunk for an unknown session, nothing sent after an abort."""
    bench = Bench(ScriptedRunner())
    bench.open("a", chunk([1], 3), end=False)
    bench.worker.end("a")
    bench.listen()
    bench.worker.push("a", chunk([1], 3), 0.0)
    bench.worker.end_input("a", 0.0)
    bench.worker.end("a")
    bench.worker.read("a", 1, 0.0)
    bench.drain()
    assert [event.finish_reason for event in bench.said["a"]] == ["abort"]  # type: ignore[union-attr]


def test_text_comes_with_its_tokens() -> None:
    text = "Grüße 🙂"
    answer = iter(text.encode())
    bench = Bench(ScriptedRunner(lambda context: next(answer), vocabulary=257, tokenizer=Letters()))
    bench.open("a", chunk([1], 4), chunk([2], len(text.encode()) - 4))
    bench.drain()
    assert "".join(event.text for event in bench.said["a"] if isinstance(event, Output)) == text
