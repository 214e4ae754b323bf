"""The sound thread: calls that never return, come late, fail, or are not waited for any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from sayso.app.audio.capture import SoundThread
from sayso.app.audio.errors import AudioError

PATIENCE_S = 0.05


@pytest.fixture
def sound() -> Iterator[SoundThread]:
    thread = SoundThread()
    yield thread
    thread.close()


@pytest.fixture
def hanging() -> Iterator[threading.Event]:
    """Set it to let a call return that hangs."""
    event = threading.Event()
    yield event
    event.set()


async def test_calls_run_one_after_another_on_one_thread_that_is_not_the_loops(sound: SoundThread) -> None:
    names = await asyncio.gather(*(sound.call(threading.get_ident, 5) for _ in range(5)))
    assert len(set(names)) == 1
    assert names[0] != threading.get_ident()


async def test_an_error_of_the_call_is_raised_to_who_waits_for_it(sound: SoundThread) -> None:
    def fail() -> None:
        raise AudioError("microphone_busy", "It is in use.")

    with pytest.raises(AudioError, match="in use"):
        await sound.call(fail, 5)
    assert await sound.call(lambda: "works", 5) == "works"


async def test_a_call_that_does_not_return_is_told_and_the_loop_goes_on(
    sound: SoundThread, hanging: threading.Event
) -> None:
    with pytest.raises(AudioError) as caught:
        await sound.call(lambda: hanging.wait(30), PATIENCE_S)
    assert caught.value.code == "sound_system_stuck"
    assert sound.is_stuck
    with pytest.raises(AudioError):
        await sound.call(lambda: "never run", 5)


async def test_once_the_call_is_back_its_result_is_thrown_away_and_the_next_call_works(
    sound: SoundThread, hanging: threading.Event
) -> None:
    discarded: list[str] = []
    gone = threading.Event()

    def open_slowly() -> str:
        hanging.wait(30)
        return "stream"

    def discard(result: str) -> None:
        discarded.append(result)
        gone.set()

    with pytest.raises(AudioError):
        await sound.call(open_slowly, PATIENCE_S, discard)
    hanging.set()
    assert await asyncio.to_thread(gone.wait, 5)
    assert discarded == ["stream"]
    assert not sound.is_stuck
    assert await sound.call(lambda: "works", 5) == "works"


async def test_a_stream_that_is_not_waited_for_any_more_is_closed(sound: SoundThread, hanging: threading.Event) -> None:
    begun, closed = threading.Event(), threading.Event()

    def open_slowly() -> str:
        begun.set()
        hanging.wait(30)
        return "stream"

    waiting = asyncio.create_task(sound.call(open_slowly, 30, lambda _: closed.set()))
    assert await asyncio.to_thread(begun.wait, 5)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    hanging.set()
    assert await asyncio.to_thread(closed.wait, 5)
    assert not sound.is_stuck
