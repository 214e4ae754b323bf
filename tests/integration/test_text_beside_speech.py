"""One real engine process that hears and writes at the same time: a speech model and a text model, one scheduler."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import speech
import torch
from running_engine import EngineProcess
from tiny_causal import FAMILIES, build
from transformers import AutoModelForCausalLM

from sayso.engine import messages as m

pytestmark = pytest.mark.engine

GREEDY = {"temperature": 0, "ignore_eos": True}
CHUNKS = ((5, 9, 13, 7, 3), (11, 4), (6, 6, 8))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("model") / "qwen3", FAMILIES["qwen3"])


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[EngineProcess]:
    with EngineProcess() as process:
        process.send(m.Load("tiny.en", "cpu", text_model=str(folder), text_precision="float32"))
        ready = process.wait_for(lambda message: isinstance(message, m.Ready))
        assert isinstance(ready, m.Ready)
        assert ready.text_model
        yield process


def expected(folder: Path, context: list[int], count: int) -> list[int]:
    """Transformers' greedy answer."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    model.generation_config.eos_token_id = None
    out = model.generate(torch.tensor([context]), max_new_tokens=count, do_sample=False, pad_token_id=0)
    return [int(token) for token in out[0, len(context) :]]


def answers(engine: EngineProcess, session: str) -> list[m.Token]:
    messages = [e for e in engine.of(session, m.Tokens) if isinstance(e, m.Tokens)]
    return list(itertools.chain.from_iterable(e.tokens for e in messages))


def answered(engine: EngineProcess, session: str, chunk: int) -> None:
    """Wait until a chunk's answer is through."""

    def through(message: m.Message) -> bool:
        tokens = message.tokens if isinstance(message, m.Tokens) else ()
        return any(token.chunk == chunk and token.finish_reason for token in tokens)

    engine.wait_for(through, session)


def test_a_text_session_answers_in_chunks_while_speech_is_transcribed(engine: EngineProcess, folder: Path) -> None:
    engine.send(m.OpenText("writer"))
    engine.wait_for(lambda message: message == m.Opened("writer"))
    engine.open("speaker")
    context: list[int] = []
    for number, chunk in enumerate(CHUNKS):
        engine.audio("speaker", speech.recording("beckett")[number * 40_000 : (number + 1) * 40_000])
        engine.send(m.Prompt("writer", chunk, params={**GREEDY, "max_tokens": 20}))
        answered(engine, "writer", number)
        context += chunk
        got = [token.token for token in answers(engine, "writer") if token.chunk == number]
        assert got == expected(folder, context, 20)
        context += [token for token in got[:-1] if token is not None]
    engine.flush("speaker", 1)
    assert "ever tried" in engine.transcript("speaker").lower()
    engine.send(m.EndPrompts("writer"))
    engine.wait_for(lambda message: message == m.Closed("writer", "finished"))


@pytest.mark.parametrize("tier", ["host", "disk", "dropped"])
def test_a_parked_text_session_gives_its_memory_back_and_goes_on(
    engine: EngineProcess, folder: Path, tier: m.Tier
) -> None:
    name = f"parked {tier}"
    engine.send(m.OpenText(name), m.Prompt(name, CHUNKS[0], params={**GREEDY, "max_tokens": 10}))
    answered(engine, name, 0)
    engine.send(m.Park(name, tier))  # type: ignore[arg-type]
    engine.wait_for(lambda message: isinstance(message, m.Parked) and message.tier == tier, name)
    engine.send(m.Prompt(name, CHUNKS[1], params={**GREEDY, "max_tokens": 10}))
    answered(engine, name, 1)
    got = [token.token for token in answers(engine, name)]
    context = [*CHUNKS[0], *(token for token in got[:9] if token is not None), *CHUNKS[1]]
    assert got[10:] == expected(folder, context, 10)
    engine.send(m.Close(name))
    engine.wait_for(lambda message: message == m.Closed(name, "closed"))
