"""``AsyncEngine.generate``: prompts that go on, their answers, and every way in which one or the other can end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence

import numpy as np
import pytest
from scripted_runner import Letters, ScriptedRunner, greedy

from sayso.engine.errors import EngineError
from sayso.engine.generate import AsyncEngine, StreamingInput
from sayso.engine.options import TokenLimits
from sayso.engine.runner.token_base import Slice
from sayso.engine.sampling import ParameterError, SamplingParams
from sayso.engine.token_session import Output

PROMPT = (1, 2, 3)
BOUND_S = 20.0


def params(most: int | None = 3, **more: object) -> SamplingParams:
    return SamplingParams(max_tokens=most, temperature=0, **more)  # type: ignore[arg-type]


async def stream(*chunks: StreamingInput) -> AsyncIterator[StreamingInput]:
    for chunk in chunks:
        yield chunk


async def collect(outputs: AsyncIterator[Output]) -> list[Output]:
    async with asyncio.timeout(BOUND_S):
        return [output async for output in outputs]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does, within a bound."""
    async with asyncio.timeout(BOUND_S):
        while not condition():  # noqa: ASYNC110 - another thread sets no event
            await asyncio.sleep(0.002)


async def cleaned_up(engine: AsyncEngine) -> None:
    """No request, no session and no memory is left."""
    worker = engine._worker
    await until(lambda: not engine.unfinished and worker.open_sessions == 0 and worker.blocks.used == 0)


def tokens(outputs: Sequence[Output]) -> list[int]:
    return [output.token for output in outputs if output.token is not None]


@pytest.fixture
async def engine() -> AsyncGenerator[AsyncEngine, None]:
    async with AsyncEngine(ScriptedRunner()) as engine:
        yield engine
        await cleaned_up(engine)


# What upstream's tests of streaming input ask for.


async def test_a_plain_prompt_is_answered_token_by_token(engine: AsyncEngine) -> None:
    outputs = await collect(engine.generate(PROMPT, params(4), "one"))
    assert tokens(outputs) == greedy(ScriptedRunner(), PROMPT, 4)
    assert [output.finished for output in outputs] == [False, False, False, True]
    assert {output.request_id for output in outputs} == {"one"}


async def test_the_worked_example_through_the_engine() -> None:
    names = [letter + number for number in "123" for letter in "ABCDE"]
    answer = {
        "A1 B1 C1": "D1",
        "A1 B1 C1 A2 B2": "C2",
        "A1 B1 C1 A2 B2 C2": "D2",
        "A1 B1 C1 A2 B2 C2 D2": "E2",
        "A1 B1 C1 A2 B2 C2 D2 A3": "C3",
        "A1 B1 C1 A2 B2 C2 D2 A3 C3": "D3",
    }
    runner = ScriptedRunner(lambda context: names.index(answer[" ".join(names[token] for token in context)]))

    def chunk(text: str, most: int) -> StreamingInput:
        return StreamingInput([names.index(name) for name in text.split()], params(most))

    async with AsyncEngine(runner) as engine:
        outputs = await collect(engine.generate(stream(chunk("A1 B1 C1", 1), chunk("A2 B2", 3), chunk("A3", 2))))
    said = [(names[output.token], output.in_context) for output in outputs if output.token is not None]
    assert said == [("D1", False), ("C2", True), ("D2", True), ("E2", False), ("C3", True), ("D3", False)]


async def test_bunched_and_spaced_chunks_have_the_same_answers(engine: AsyncEngine) -> None:
    chunks = [StreamingInput(range(at, at + 5), params(4)) for at in range(3)]
    bunched = await collect(engine.generate(stream(*chunks)))
    answered = asyncio.Semaphore(1)

    async def spaced() -> AsyncIterator[StreamingInput]:
        for chunk in chunks:
            await answered.acquire()
            yield chunk

    outputs: list[Output] = []
    async with asyncio.timeout(BOUND_S):
        async for output in engine.generate(spaced()):
            outputs.append(output)
            if output.finish_reason is not None:
                answered.release()
    assert tokens(outputs) == tokens(bunched)
    for each in (bunched, outputs):
        assert [output.finished for output in each] == [False] * (len(each) - 1) + [True]
        reasons = [(output.chunk, output.finish_reason) for output in each if output.finish_reason is not None]
        assert reasons == [(0, "length"), (1, "length"), (2, "length")]


async def test_a_single_chunk_is_like_a_plain_prompt(engine: AsyncEngine) -> None:
    outputs = await collect(engine.generate(stream(StreamingInput(PROMPT)), params(3)))
    assert tokens(outputs) == greedy(ScriptedRunner(), PROMPT, 3)
    assert outputs[-1].finished


async def test_leaving_the_outputs_cancels_the_prompt_s_generator_and_frees_everything(engine: AsyncEngine) -> None:
    cancelled = asyncio.Event()

    async def endless() -> AsyncIterator[StreamingInput]:
        try:
            yield StreamingInput(PROMPT, params(None))
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    outputs = engine.generate(endless())
    for _ in range(5):
        await anext(outputs)
    await outputs.aclose()
    assert cancelled.is_set()
    await cleaned_up(engine)


async def test_cancelling_the_consumer_s_task_frees_everything(engine: AsyncEngine) -> None:
    began = asyncio.Event()

    async def consume() -> None:
        async for _ in engine.generate(PROMPT, params(None)):
            began.set()

    task = asyncio.create_task(consume())
    await asyncio.wait_for(began.wait(), BOUND_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, BOUND_S)
    await cleaned_up(engine)


async def test_outputs_that_are_forgotten_are_cleaned_up(engine: AsyncEngine) -> None:
    outputs = engine.generate(PROMPT, params(None))
    await anext(outputs)
    del outputs
    gc.collect()
    await cleaned_up(engine)


async def test_queued_chunks_are_dropped_when_the_outputs_are_left(engine: AsyncEngine) -> None:
    closed = asyncio.Event()

    async def ten() -> AsyncIterator[StreamingInput]:
        try:
            for _ in range(10):
                yield StreamingInput(PROMPT, params(5))
        finally:
            closed.set()

    outputs = engine.generate(ten())
    for _ in range(10):
        await anext(outputs)
    await outputs.aclose()
    assert closed.is_set()
    await cleaned_up(engine)


async def test_what_the_prompt_s_generator_raises_reaches_the_consumer_as_it_is(engine: AsyncEngine) -> None:
    class Mine(Exception):  # noqa: N818 - a name of the user's
        pass

    raised = Mine("mine")

    async def faulty() -> AsyncIterator[StreamingInput]:
        yield StreamingInput(PROMPT, params(2))
        raise raised

    with pytest.raises(Mine) as caught:
        await collect(engine.generate(faulty()))
    assert caught.value is raised
    await cleaned_up(engine)


async def test_a_generator_that_cancels_itself_leaves_nobody_waiting(engine: AsyncEngine) -> None:
    async def cancels() -> AsyncIterator[StreamingInput]:
        yield StreamingInput(PROMPT, params(2))
        raise asyncio.CancelledError

    with pytest.raises(EngineError) as caught:
        await collect(engine.generate(cancels()))
    assert caught.value.code == "input_cancelled"


async def test_sessions_at_the_same_time_do_not_see_each_other(engine: AsyncEngine) -> None:
    async def session(number: int) -> list[int]:
        chunks = [StreamingInput([number * 10 + at], params(3)) for at in range(4)]
        return tokens(await collect(engine.generate(stream(*chunks))))

    alone = [await session(number) for number in range(6)]
    assert await asyncio.gather(*(session(number) for number in range(6))) == alone


async def test_a_request_id_can_be_used_again_later_and_at_the_same_time(engine: AsyncEngine) -> None:
    expected = greedy(ScriptedRunner(), PROMPT, 3)
    assert tokens(await collect(engine.generate(PROMPT, params(3), "same"))) == expected
    both = await asyncio.gather(*(collect(engine.generate(PROMPT, params(3), "same")) for _ in range(2)))
    assert [tokens(outputs) for outputs in both] == [expected, expected]


async def test_outputs_end_though_the_generator_ends_only_after_all_was_answered(engine: AsyncEngine) -> None:
    answered = asyncio.Event()

    async def waits() -> AsyncIterator[StreamingInput]:
        yield StreamingInput(PROMPT, params(2))
        yield StreamingInput(PROMPT, params(2))
        await answered.wait()

    outputs: list[Output] = []
    async with asyncio.timeout(BOUND_S):
        async for output in engine.generate(waits()):
            outputs.append(output)
            if len([each for each in outputs if each.finish_reason]) == 2:
                answered.set()
    assert (outputs[-1].token, outputs[-1].finished, outputs[-1].finish_reason) == (None, True, None)


async def test_an_empty_stream_gives_its_finished_marker_and_computes_nothing(engine: AsyncEngine) -> None:
    """vLLM #34532: upstream runs a junk prompt."""
    [marker] = await collect(engine.generate(stream()))
    assert (marker.token, marker.finished, marker.chunk) == (None, True, -1)
    assert engine.computed_tokens == 0


# Right where upstream is wrong.


async def test_each_chunk_s_own_max_tokens_counts(engine: AsyncEngine) -> None:
    """vLLM #37842."""
    chunks = [StreamingInput(PROMPT, params(most)) for most in (1, 4, 2)]
    outputs = await collect(engine.generate(stream(*chunks, StreamingInput(PROMPT)), params(3)))
    assert [len(tokens([output for output in outputs if output.chunk == at])) for at in range(4)] == [1, 4, 2, 3]


async def test_a_slow_consumer_gets_every_output_with_its_own_reason(engine: AsyncEngine) -> None:
    """vLLM #53861: outputs of a slow consumer are merged and the end of a chunk is lost."""
    chunks = [StreamingInput(PROMPT, params(2)) for _ in range(3)]
    outputs = engine.generate(stream(*chunks))
    first = await anext(outputs)
    await until(lambda: engine._worker.open_sessions == 0)
    rest = await collect(outputs)
    assert [output.finish_reason for output in (first, *rest) if output.token is not None] == [None, "length"] * 3


async def test_a_generator_is_asked_only_when_there_is_room(engine: AsyncEngine) -> None:
    """vLLM #48130, and its engine too: chunks are taken as fast as they come, without a bound."""
    held = threading.Event()
    runner = ScriptedRunner(before=lambda batch: held.wait(BOUND_S) and None)
    pulled: list[int] = []

    async def many() -> AsyncIterator[StreamingInput]:
        for number in range(1000):
            pulled.append(number)
            yield StreamingInput([5], params(1))

    async with AsyncEngine(runner, TokenLimits(queued_chunks=3)) as engine:
        outputs = engine.generate(many())
        waiting = asyncio.create_task(anext(outputs))
        await until(lambda: len(pulled) >= 4)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(pulled) == 4
        held.set()
        await asyncio.wait_for(waiting, BOUND_S)
        await until(lambda: len(pulled) >= 8)
        await outputs.aclose()


async def test_a_consumer_that_does_not_read_stops_its_session_and_its_generator() -> None:
    pulled: list[int] = []

    async def many() -> AsyncIterator[StreamingInput]:
        for number in range(1000):
            pulled.append(number)
            yield StreamingInput([5], params(4))

    async with AsyncEngine(ScriptedRunner(), TokenLimits(unread=10, queued_chunks=2)) as engine:
        outputs = engine.generate(many())
        await anext(outputs)
        other = await collect(engine.generate(PROMPT, params(100)))
        assert len(tokens(other)) == 100
        assert len(pulled) <= 6
        rest = [await anext(outputs) for _ in range(100)]
        assert [output.chunk for output in rest] == [(at + 1) // 4 for at in range(100)]
        await outputs.aclose()


async def test_reaching_the_length_limit_ends_the_session_with_a_reason() -> None:
    """vLLM #39996: upstream's engine dies."""
    async with AsyncEngine(ScriptedRunner(max_length=12)) as engine:
        one = await collect(engine.generate(PROMPT, params(None)))
        assert len(tokens(one)) == 9
        assert (one[-1].finish_reason, one[-1].finished) == ("context_length", True)
        closed = asyncio.Event()

        async def endless() -> AsyncIterator[StreamingInput]:
            try:
                while True:
                    yield StreamingInput(PROMPT, params(1))
            finally:
                closed.set()

        many = await collect(engine.generate(endless()))
        assert [output.finish_reason for output in many] == ["length"] * 3 + ["context_length"]
        assert closed.is_set()
        await cleaned_up(engine)


async def test_an_abort_from_outside_ends_every_request_of_the_id_with_a_reason(engine: AsyncEngine) -> None:
    """vLLM #53861: upstream takes an abort within a chunk for the chunk's end, and the consumer waits for ever."""
    began = [asyncio.Event(), asyncio.Event()]

    async def waits() -> AsyncIterator[StreamingInput]:
        yield StreamingInput(PROMPT, params(2))
        await asyncio.Event().wait()

    async def consume(prompt: object, event: asyncio.Event) -> Output:
        outputs: list[Output] = []
        async with asyncio.timeout(BOUND_S):
            async for output in engine.generate(prompt, params(None), "x"):  # type: ignore[arg-type]
                outputs.append(output)
                event.set()
        return outputs[-1]

    tasks = [asyncio.create_task(consume(*pair)) for pair in zip((waits(), PROMPT), began, strict=True)]
    for event in began:
        await asyncio.wait_for(event.wait(), BOUND_S)
    await engine.abort("x")
    await engine.abort("nobody")
    for output in await asyncio.gather(*tasks):
        assert (output.finish_reason, output.finished) == ("abort", True)


async def test_a_silent_prompt_is_ended_after_its_time() -> None:
    """vLLM #46815 and #53130."""

    async def silent() -> AsyncIterator[StreamingInput]:
        yield StreamingInput(PROMPT, params(1))
        await asyncio.Event().wait()

    async with AsyncEngine(ScriptedRunner(), TokenLimits(idle_s=0.05)) as engine:
        outputs = await collect(engine.generate(silent()))
        assert outputs[-1].finish_reason == "idle"
        await cleaned_up(engine)


async def test_a_stop_token_in_the_middle_of_a_chunk_leaves_nothing_stale() -> None:
    """vLLM #35755, #42655, #50692: a step too many after a stop token."""
    runner = ScriptedRunner({(1,): 8, (1, 2): 5, (1, 2, 5): 8, (1, 2, 5, 3): 6}.__getitem__, eos_ids=[8])
    async with AsyncEngine(runner) as engine:
        chunks = [StreamingInput([token], params(most)) for token, most in ((1, 9), (2, 9), (3, 1))]
        outputs = await collect(engine.generate(stream(*chunks)))
    reasons = [output.finish_reason for output in outputs if output.token is not None]
    assert reasons == ["stop", None, "stop", "length"]


# Bad input.


@pytest.mark.parametrize(
    ("prompt", "code"),
    [
        ([], "empty_prompt"),
        ([1] * 50, "prompt_too_long"),
        ([97], "bad_token"),
        ([-1], "bad_token"),
        ([1.5], "bad_token"),
        (["a"], "bad_token"),
        (None, "bad_token"),
        (np.array([1.0], np.float32), "bad_token"),
        ("text", "no_tokenizer"),
    ],
)
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_prompt_that_cannot_be_used_is_refused_with_a_code(prompt: object, code: str, chunked: bool) -> None:
    async with AsyncEngine(ScriptedRunner(max_length=50)) as engine:
        given = stream(StreamingInput([1], params(1)), StreamingInput(prompt)) if chunked else prompt  # type: ignore[arg-type]
        with pytest.raises(EngineError) as caught:
            await collect(engine.generate(given))  # type: ignore[arg-type]
        assert caught.value.code == code
        await cleaned_up(engine)


async def test_token_ids_may_be_any_kind_of_whole_number(engine: AsyncEngine) -> None:
    outputs = await collect(engine.generate(np.array(PROMPT, np.int32), params(2)))  # type: ignore[arg-type]
    assert tokens(outputs) == greedy(ScriptedRunner(), PROMPT, 2)


async def test_a_list_that_its_owner_goes_on_using_is_not_the_engine_s(engine: AsyncEngine) -> None:
    """vLLM #50731: a prompt list that two parts of the engine share."""
    prompt = list(PROMPT)

    async def reused() -> AsyncIterator[StreamingInput]:
        yield StreamingInput(prompt, params(1))
        prompt[:] = [50, 51]
        yield StreamingInput(prompt, params(2))

    outputs = await collect(engine.generate(reused()))
    expected = greedy(ScriptedRunner(), PROMPT, 1) + greedy(ScriptedRunner(), (*PROMPT, 50, 51), 2)
    assert tokens(outputs) == expected


async def test_bad_parameters_are_refused_before_any_chunk_is_asked_for(engine: AsyncEngine) -> None:
    asked: list[int] = []

    async def never() -> AsyncIterator[StreamingInput]:
        asked.append(1)
        yield StreamingInput(PROMPT)

    for bad in ({"max_tokens": 1}, params(1, stop_token_ids=(97,))):
        with pytest.raises(ParameterError):
            await collect(engine.generate(never(), bad))  # type: ignore[arg-type]
    assert asked == []


async def test_bad_parameters_of_a_chunk_and_things_that_are_no_chunk_are_refused(engine: AsyncEngine) -> None:
    for bad in (StreamingInput(PROMPT, params(1, stop_token_ids=(97,))), StreamingInput(PROMPT, "hot"), [1, 2]):
        with pytest.raises(EngineError) as caught:
            await collect(engine.generate(stream(StreamingInput(PROMPT, params(1)), bad)))  # type: ignore[arg-type]
        assert caught.value.code in ("bad_parameter", "bad_chunk")


async def test_thousands_of_empty_chunks_are_refused_at_the_first(engine: AsyncEngine) -> None:
    with pytest.raises(EngineError) as caught:
        await collect(engine.generate(stream(*[StreamingInput([])] * 5000)))
    assert caught.value.code == "empty_prompt"


async def test_thousands_of_tiny_chunks_are_answered_in_order() -> None:
    async with AsyncEngine(ScriptedRunner(lambda context: len(context) % 97, blocks=1000)) as engine:
        outputs = await collect(engine.generate(stream(*[StreamingInput([1], params(1))] * 2000)))
    assert tokens(outputs) == [(at + 1) % 97 for at in range(2000)]


async def test_a_full_engine_refuses_the_next_request() -> None:
    async with AsyncEngine(ScriptedRunner(), TokenLimits(sessions=1)) as engine:
        first = engine.generate(PROMPT, params(None))
        await anext(first)
        with pytest.raises(EngineError) as caught:
            await collect(engine.generate(PROMPT, params(1)))
        assert caught.value.code == "session_limit"
        await first.aclose()
        await cleaned_up(engine)
        assert len(tokens(await collect(engine.generate(PROMPT, params(1))))) == 1


# Faults of the engine.


async def test_a_model_that_raises_ends_its_session_with_the_reason_and_the_engine_lives() -> None:
    def before(batch: Sequence[Slice]) -> None:
        if any(13 in part.tokens for part in batch):
            raise ValueError("thirteen")

    async with AsyncEngine(ScriptedRunner(before=before)) as engine:
        good = asyncio.create_task(collect(engine.generate(PROMPT, params(20))))
        with pytest.raises(EngineError, match="thirteen") as caught:
            await collect(engine.generate([12, 13], params(2)))
        assert caught.value.code == "inference_failed"
        assert tokens(await good) == greedy(ScriptedRunner(), PROMPT, 20)
        await cleaned_up(engine)


@contextlib.asynccontextmanager
async def waiting(
    engine: AsyncEngine, prompts: Sequence[object]
) -> AsyncIterator[Callable[[], Awaitable[list[BaseException]]]]:
    """Consumers that wait for output; gives what each of them is told in the end."""
    tasks = [asyncio.create_task(collect(engine.generate(prompt, params(None)))) for prompt in prompts]  # type: ignore[arg-type]
    await until(lambda: engine._worker.open_sessions == len(prompts))

    async def told() -> list[BaseException]:
        results = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), BOUND_S)
        assert all(isinstance(result, BaseException) for result in results)
        return results  # type: ignore[return-value]

    yield told


async def silent() -> AsyncIterator[StreamingInput]:
    yield StreamingInput(PROMPT, params(1))
    await asyncio.Event().wait()


async def test_when_the_engine_dies_everybody_who_waits_is_told_why() -> None:
    """Upstream's error for internal failures has no text."""
    async with AsyncEngine(ScriptedRunner()) as engine:
        async with waiting(engine, [silent(), silent()]) as told:

            def dies(now: float) -> None:
                raise RuntimeError("the roof fell in")

            engine._loop.post(dies)
            for error in await told():
                assert isinstance(error, EngineError)
                assert error.code == "engine_dead"
                assert "the roof fell in" in str(error)
        with pytest.raises(EngineError, match="the roof fell in"):
            await collect(engine.generate(PROMPT, params(1)))


async def test_when_the_engine_is_closed_everybody_who_waits_is_told() -> None:
    engine = AsyncEngine(ScriptedRunner())
    engine.start()
    async with waiting(engine, [silent(), silent()]) as told:
        await engine.close()
        assert {error.code for error in await told()} == {"engine_closed"}  # type: ignore[attr-defined]
    assert engine._worker.open_sessions == engine._worker.blocks.used == 0
    with pytest.raises(EngineError) as caught:
        await collect(engine.generate(PROMPT, params(1)))
    assert caught.value.code == "engine_closed"


async def test_an_engine_that_was_not_started_says_so() -> None:
    with pytest.raises(EngineError, match="not started") as caught:
        await collect(AsyncEngine(ScriptedRunner()).generate(PROMPT, params(1)))
    assert caught.value.code == "engine_closed"


async def test_nobody_waits_for_ever_for_a_step_that_does_not_end() -> None:
    released = threading.Event()
    runner = ScriptedRunner(before=lambda batch: released.wait(BOUND_S) and None)
    async with AsyncEngine(runner, TokenLimits(stuck_s=0.05)) as engine:
        with pytest.raises(EngineError) as caught:
            await collect(engine.generate(PROMPT, params(1)))
        assert caught.value.code == "engine_stuck"
        released.set()


async def test_a_consumer_whose_own_event_loop_is_gone_takes_nothing_down() -> None:
    gone = threading.Event()
    runner = ScriptedRunner(before=lambda batch: (not runner.batches or gone.wait(BOUND_S)) and None)
    kept: list[AsyncGenerator[Output, None]] = []

    def elsewhere() -> None:
        loop = asyncio.new_event_loop()
        kept.append(engine.generate(PROMPT, params(None)))
        loop.run_until_complete(anext(kept[0]))
        loop.close()
        gone.set()

    async with AsyncEngine(runner) as engine:
        await asyncio.to_thread(elsewhere)
        await cleaned_up(engine)
        # The session was ended with the first output that nobody could take, not by its own length.
        assert engine.computed_tokens < 20
        assert len(tokens(await collect(engine.generate(PROMPT, params(3))))) == 3


# Sampling and text.


async def test_a_seed_gives_the_same_tokens_in_any_company_and_in_chunks(engine: AsyncEngine) -> None:
    seeded = SamplingParams(seed=11, max_tokens=12, temperature=1.5, top_p=0.9, top_k=40)
    alone = tokens(await collect(engine.generate(PROMPT, seeded)))
    together = await asyncio.gather(
        *(collect(engine.generate(PROMPT, seeded)) for _ in range(3)),
        *(collect(engine.generate([9], SamplingParams(max_tokens=30))) for _ in range(4)),
    )
    assert all(tokens(outputs) == alone for outputs in together[:3])
    other = SamplingParams(seed=12, max_tokens=12, temperature=1.5)
    assert tokens(await collect(engine.generate(PROMPT, other))) != alone


async def test_log_probabilities_come_with_each_token(engine: AsyncEngine) -> None:
    for output in await collect(engine.generate(PROMPT, params(3, logprobs=2))):
        assert output.logprobs is not None
        assert output.logprobs.rank == 0
        assert output.logprobs.top[0] == (output.token, pytest.approx(output.logprobs.chosen))


async def test_a_long_text_is_refused_like_a_long_list() -> None:
    runner = ScriptedRunner(vocabulary=257, tokenizer=Letters(), max_length=1000)
    async with AsyncEngine(runner) as engine:
        with pytest.raises(EngineError) as caught:
            await collect(engine.generate("long " * 2000, params(1)))
        assert caught.value.code == "prompt_too_long"


async def test_text_goes_in_and_comes_out_whole_over_the_edges_of_chunks() -> None:
    """The answer to each character is the one before it in the alphabet of bytes, so that a text can come out."""
    said = "Ein Gruß 🙂!"
    answer = iter(said.encode())
    runner = ScriptedRunner(lambda context: next(answer), vocabulary=257, tokenizer=Letters())
    async with AsyncEngine(runner) as engine:
        rest = len(said.encode()) - 9
        outputs = await collect(
            engine.generate(stream(StreamingInput("Hello", params(9)), StreamingInput(" you", params(rest))))
        )
    assert "".join(output.text for output in outputs) == said
    first, second = runner.batches[0][0], runner.batches[9][0]
    assert first.tokens == (256, *b"Hello")
    assert second.tokens == tuple(b" you")
