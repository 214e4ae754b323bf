"""Seats on a device whose memory is mapped: the same tokens, memory only for who sits, and nothing left afterwards.

The same code as on a GPU down to the lowest layer, which is the CPU's memory here (``mapped_memory``).
"""

from __future__ import annotations

import gc
import random
import sys
from pathlib import Path

import pytest
from mapped_memory import HostMemory
from tiny_voxtral import build, warbling
from voxtral_turns import CPU, Turn, run, runner_of, transcribe

from sayso.engine.errors import EngineError
from sayso.engine.modules.precision import choose_precision
from sayso.engine.modules.voxtral_realtime import VoxtralRealtime
from sayso.engine.runner.voxtral_realtime import VoxtralRunner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="maps memory as only Linux does here")

SECONDS = 1.6
STEP = 1280


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tiny"))


def mapped(folder: Path, memory: HostMemory, places: int = 6) -> VoxtralRunner:
    model = VoxtralRealtime.load(folder, CPU, choose_precision("float32", CPU), places, memory)
    return VoxtralRunner(model, "tiny", fixed_steps=True)


def test_turns_that_come_go_and_are_parked_give_the_tokens_they_give_alone(folder: Path) -> None:
    memory, chance = HostMemory(), random.Random(5)
    runner = mapped(folder, memory)
    sounds = [warbling(SECONDS, seed) for seed in range(6)]
    alone = runner_of(folder)
    expected = [transcribe(alone, sound).tokens for sound in sounds]
    turns = [Turn(runner) for _ in sounds]
    parcels: dict[int, object] = {}
    heard = [0] * len(turns)
    while any(at < len(sound) for at, sound in zip(heard, sounds, strict=True)):
        number = chance.randrange(len(turns))
        turn, at = turns[number], heard[number]
        if at >= len(sounds[number]):
            continue
        if number in parcels:
            turn.stream.unpack(parcels.pop(number))  # type: ignore[arg-type]
        turn.hear(sounds[number][at : at + 4 * STEP])
        heard[number] += 4 * STEP
        run(runner, [turn for other, turn in enumerate(turns) if other not in parcels])
        other = chance.randrange(len(turns))
        if other not in parcels and turns[other].stream.seat is not None:
            held, before = turns[other].stream.holding.kv, runner.mapped_bytes
            parcels[other] = turns[other].stream.pack()
            assert before - runner.mapped_bytes >= held > 0
        assert runner.mapped_bytes == memory.nbytes
    for number, turn in enumerate(turns):
        if number in parcels:
            turn.stream.unpack(parcels.pop(number))  # type: ignore[arg-type]
        turn.end()
    run(runner, turns)
    assert [turn.tokens for turn in turns] == expected
    assert memory.nbytes == 0


def test_a_loaded_model_holds_no_rings_and_an_unloaded_one_no_addresses(folder: Path) -> None:
    memory = HostMemory()
    runner = mapped(folder, memory)
    runner.warm()
    assert memory.nbytes == 0
    turn = Turn(runner)
    turn.hear(warbling(0.5))
    run(runner, [turn])
    assert memory.nbytes >= turn.stream.holding.kv > 0
    del runner, turn
    gc.collect()
    assert not memory.created
    assert not memory.reserved


def test_without_memory_for_another_seat_it_is_refused_and_comes_when_one_goes(folder: Path) -> None:
    memory = HostMemory()
    runner = mapped(folder, memory)
    first, second = Turn(runner), Turn(runner)
    first.stream.sit()
    memory.most_bytes = memory.nbytes + memory.granule
    with pytest.raises(EngineError) as refused:
        second.stream.sit()
    assert refused.value.code == "session_limit"
    held = memory.nbytes
    first.stream.close()
    assert memory.nbytes < held
    assert second.stream.sit().slot == 0
