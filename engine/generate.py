"""Text models for Python: ``AsyncEngine.generate`` with prompts that may go on while the model answers.

The models run in a thread of their own (``engine.step_loop``); this module is its asyncio side. What the thread has to
say comes by ``call_soon_threadsafe``; what it is to do is posted to it. Nothing here waits without a bound: a consumer
is told when the engine was closed, died or is stuck.

    async def typed():
        yield StreamingInput("What is the weather ", SamplingParams(max_tokens=1))
        yield StreamingInput("in Paris?", SamplingParams(max_tokens=200))

    async with await AsyncEngine.load("path/to/a/model") as engine:
        async for output in engine.generate(typed()):
            print(output.text, end="")
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import operator
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType

import platformdirs

from sayso.engine.blocks import Budget
from sayso.engine.errors import EngineError, SessionError
from sayso.engine.options import TokenLimits
from sayso.engine.parcel import Vault
from sayso.engine.runner.token_base import TokenRunner
from sayso.engine.sampling import ParameterError, SamplingParams
from sayso.engine.scheduler import Scheduler
from sayso.engine.step_loop import StepLoop
from sayso.engine.step_threads import share_among
from sayso.engine.token_session import Chunk, Joined, Output, tokens_fault
from sayso.engine.token_worker import Event, TokenWorker

logger = logging.getLogger(__name__)

CHECK_S = 0.5
"""How often somebody who waits for output looks whether the engine still lives."""
LEAVE_S = 5.0
"""How long the end of a request waits for the prompt's generator to end."""

LONG_TEXT = 5000
"""Characters; a longer text is made tokens in a thread, so that the event loop goes on."""

Text = str | Sequence[int]
"""A prompt, or a part of one: text, or token ids."""


@dataclass(frozen=True)
class StreamingInput:
    """One chunk of a prompt that goes on; without parameters of its own it has those of the request."""

    prompt: Text
    sampling_params: SamplingParams | None = None


class _Request:
    """What the asyncio side keeps of one session."""

    def __init__(self, name: str, request_id: str, queued_chunks: int) -> None:
        self.name = name
        self.request_id = request_id
        self.loop = asyncio.get_running_loop()
        self.room = asyncio.Semaphore(queued_chunks)
        self.arrived = asyncio.Event()
        self.items: deque[Output | Exception] = deque()
        self.over = False
        """The worker has ended the session."""
        self.unconfirmed = 0
        """Outputs taken that the worker was not told about."""

    def put(self, event: Event | Exception) -> None:
        """An event of the session; in the request's own asyncio loop."""
        if isinstance(event, Joined):
            self.room.release()
            return
        self.over = self.over or (isinstance(event, Output) and event.finished)
        self.items.append(event)
        self.arrived.set()


class AsyncEngine:
    """One text model and its sessions; ``async with`` starts and closes it. ``budget`` is memory shared with others."""

    def __init__(
        self,
        runner: TokenRunner,
        limits: TokenLimits | None = None,
        *,
        budget: Budget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._runner = runner
        self._limits = limits or TokenLimits()
        self._clock = clock
        self._vault = Vault(platformdirs.user_cache_path("sayso"))
        self._worker = TokenWorker(runner, self._limits, budget, self._vault)
        scheduler = Scheduler(self._limits.batch, self._limits.batch_cost_ms, self._limits.step_tokens)
        self._loop = StepLoop(scheduler, (self._worker,), self._deliver, self._died, clock)
        self._requests: dict[str, _Request] = {}
        self._numbers = itertools.count(1)
        self._ended: EngineError | None = EngineError("engine_closed", "The engine was not started.")

    # Life.

    @classmethod
    async def load(
        cls,
        model: str,
        device: str = "auto",
        threads: int = 0,
        precision: str = "auto",
        limits: TokenLimits | None = None,
    ) -> AsyncEngine:
        """An engine, not started yet, for a text model by name, folder or hub id (see ``engine.catalog``).

        Loads in a thread; ``threads`` 0 lets the machine decide. Raises ``EngineError``.
        """
        return cls(await asyncio.to_thread(_runner, model, device, threads, precision), limits)

    async def __aenter__(self) -> AsyncEngine:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def start(self) -> None:
        self._ended = None
        self._loop.start()

    async def close(self, timeout_s: float = 10.0) -> None:
        """End after the step at hand. Whoever still waits for output gets ``engine_closed``."""
        if self._ended is None:
            self._ended = EngineError("engine_closed", "The engine was closed while this request ran.")
        stopped = await asyncio.to_thread(self._loop.stop, timeout_s)
        if stopped:
            self._worker.fail_all(self._ended)
            self._deliver()
            self._vault.close()
        else:
            logger.error("the engine's step did not end in %.0f s", timeout_s)
        self._tell_all(self._ended)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Request ids that are not through."""
        return tuple(request.request_id for request in list(self._requests.values()))

    @property
    def computed_tokens(self) -> int:
        """Positions computed since the start."""
        return self._worker.computed_tokens

    # Requests.

    async def generate(
        self,
        prompt: Text | AsyncIterator[StreamingInput],
        sampling_params: SamplingParams | None = None,
        request_id: str | None = None,
    ) -> AsyncGenerator[Output, None]:
        """The answer, token by token, in order; the last output has ``finished``.

        With a generator, each chunk is answered in turn; its last output has a ``finish_reason``, and the session's
        context stays for the next chunk (``Output.in_context``). The generator is asked for a chunk only when there is
        room for one. What it raises is raised here. Leaving this generator in any way ends the session. Raises
        ``EngineError``; ``request_id`` may be used again, even at the same time.
        """
        self._check()
        params = sampling_params if sampling_params is not None else SamplingParams()
        self._check_params(params)
        whole = None if isinstance(prompt, AsyncIterator) else await self._chunk(prompt, params, first=True)
        request = self._open(request_id)
        chunks = self._send_whole(request, whole) if whole else self._feed(request, prompt, params)  # type: ignore[arg-type]
        feeder = asyncio.create_task(chunks)
        try:
            while True:
                output = await self._next(request)
                yield output
                if output.finished:
                    return
        finally:
            self._requests.pop(request.name, None)
            if not request.over:
                self._loop.post(lambda now: self._worker.end(request.name))
            if not feeder.done():
                feeder.cancel()
                await asyncio.wait({feeder}, timeout=LEAVE_S)

    async def abort(self, request_id: str) -> None:
        """End every request of this id: its consumer gets a last output with the reason ``abort``."""
        names = [request.name for request in list(self._requests.values()) if request.request_id == request_id]
        for name in names:
            self._loop.post(lambda now, name=name: self._worker.end(name))  # type: ignore[misc]

    def _open(self, request_id: str | None) -> _Request:
        number = next(self._numbers)
        name = f"request-{number}"
        request = _Request(name, request_id if request_id is not None else name, self._limits.queued_chunks)
        self._requests[name] = request

        def opened(now: float) -> None:
            try:
                self._worker.open(name, request.request_id, now)
            except SessionError as error:
                self._tell(request, error)

        self._loop.post(opened)
        return request

    async def _send_whole(self, request: _Request, chunk: Chunk) -> None:
        self._push(request, chunk)
        self._end_input(request)

    async def _feed(self, request: _Request, prompt: AsyncIterator[StreamingInput], params: SamplingParams) -> None:
        """Pass the chunks on as there is room for them; what goes wrong is told to the consumer."""
        first = True
        try:
            while True:
                await request.room.acquire()
                try:
                    item = await anext(prompt)
                except StopAsyncIteration:
                    break
                self._push(request, await self._checked(item, params, first))
                first = False
            self._end_input(request)
        except asyncio.CancelledError:
            text = "The prompt's generator was cancelled before its end."
            request.put(SessionError("input_cancelled", text))
            raise
        except Exception as error:  # noqa: BLE001 - it is the user's, and is raised to the user as it is
            request.put(error)
        finally:
            if isinstance(prompt, AsyncGenerator):
                await prompt.aclose()

    def _push(self, request: _Request, chunk: Chunk) -> None:
        self._loop.post(lambda now: self._worker.push(request.name, chunk, now))

    def _end_input(self, request: _Request) -> None:
        self._loop.post(lambda now: self._worker.end_input(request.name, now))

    async def _next(self, request: _Request) -> Output:
        while not request.items:
            self._check()
            request.arrived.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHECK_S):
                    await request.arrived.wait()
        item = request.items.popleft()
        if isinstance(item, Exception):
            raise item
        request.unconfirmed += 1
        if request.unconfirmed >= max(1, self._limits.unread // 4):
            count, request.unconfirmed = request.unconfirmed, 0
            self._loop.post(lambda now: self._worker.read(request.name, count, now))
        return item

    # Checks.

    def _check(self) -> None:
        """Raises ``EngineError`` when no output can be expected any more."""
        if self._ended is not None:
            raise EngineError(self._ended.code, self._ended.message)
        began = self._loop.round_began
        if began is not None and self._clock() - began > self._limits.stuck_s:
            text = f"A step of the model has run for more than {self._limits.stuck_s:g} s; restart the engine."
            raise EngineError("engine_stuck", text)

    def _check_params(self, params: SamplingParams) -> None:
        if not isinstance(params, SamplingParams):
            text = f"Sampling parameters are SamplingParams, not {type(params).__name__}."
            raise ParameterError("bad_parameter", "sampling_params", text)
        params.check_vocabulary(self._runner.vocabulary)

    async def _checked(self, item: StreamingInput, params: SamplingParams, first: bool) -> Chunk:
        if not isinstance(item, StreamingInput):
            raise SessionError("bad_chunk", f"A prompt's generator yields StreamingInput, not {type(item).__name__}.")
        own = item.sampling_params if item.sampling_params is not None else params
        self._check_params(own)
        return await self._chunk(item.prompt, own, first=first)

    async def _chunk(self, prompt: Text, params: SamplingParams, *, first: bool) -> Chunk:
        tokens = await self._encode(prompt, first=first) if isinstance(prompt, str) else _ids(prompt)
        fault = tokens_fault(tokens, self._runner.vocabulary, self._worker.max_length)
        if fault is not None:
            raise SessionError(*fault)
        return Chunk(tuple(tokens), params)

    async def _encode(self, text: str, *, first: bool) -> list[int]:
        if self._runner.tokenizer is None:
            name = self._runner.name
            raise SessionError("no_tokenizer", f"The model {name} came without a tokenizer: send token ids.")
        if len(text) > LONG_TEXT:
            return await asyncio.to_thread(self._runner.tokenizer.encode, text, first=first)
        return self._runner.tokenizer.encode(text, first=first)

    # From the thread.

    def _deliver(self) -> None:
        batches: dict[asyncio.AbstractEventLoop, list[tuple[_Request, Event]]] = {}
        for name, event in self._worker.take():
            request = self._requests.get(name)
            if request is not None:
                batches.setdefault(request.loop, []).append((request, event))
        for loop, batch in batches.items():
            try:
                loop.call_soon_threadsafe(_hand_over, batch)
            except RuntimeError:  # that asyncio loop is closed, so nobody can take these or anything that follows
                for request, _ in batch:
                    self._requests.pop(request.name, None)
                    self._worker.end(request.name)

    def _tell(self, request: _Request, error: EngineError) -> None:
        with contextlib.suppress(RuntimeError):  # its asyncio loop is closed: nobody waits
            request.loop.call_soon_threadsafe(request.put, error)

    def _tell_all(self, error: EngineError) -> None:
        for request in list(self._requests.values()):
            self._tell(request, error)

    def _died(self, error: BaseException) -> None:
        text = f"The engine's loop died of {type(error).__name__}: {error}. Start a new engine."
        self._ended = EngineError("engine_dead", text)
        self._tell_all(self._ended)


def _runner(model: str, device: str, threads: int, precision: str) -> TokenRunner:
    # Only who loads a model by name needs all that models need.
    from sayso.engine.catalog import resolve
    from sayso.engine.loading import choose_device, default_threads
    from sayso.engine.runner.registry import create_tokens

    share_among(threads or default_threads())
    place = choose_device(device)
    return create_tokens(resolve(model, place), place, precision)


def _hand_over(batch: list[tuple[_Request, Event]]) -> None:
    for request, event in batch:
        request.put(event)


def _ids(prompt: Sequence[int]) -> list[int]:
    """Token ids as plain numbers, whatever kind of whole number they are."""
    try:
        return [operator.index(token) for token in prompt]
    except TypeError as error:
        raise SessionError("bad_token", f"A prompt is text or a list of token ids: {error}.") from error
