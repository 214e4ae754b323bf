"""vLLM's dialect: which frame means what, which error it gets, and what a client is told."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.server.protocol import intents
from sayso.server.protocol.dialects.vllm import VllmDialect
from sayso.server.protocol.errors import ProtocolError
from sayso.server.protocol.events import AnyServerEvent, SaysoOptions

PCM = bytes(range(8))
AUDIO = base64.b64encode(PCM).decode()


def decode(**event: Any) -> intents.Intent:
    return VllmDialect("sess-1").decode(json.dumps(event))


def wire(dialect: VllmDialect, happening: intents.Happening) -> list[dict[str, Any]]:
    return [json.loads(msgspec.json.encode(event)) for event in dialect.encode(happening)]


def test_the_four_events_of_a_client_are_understood() -> None:
    assert decode(type="session.update", model="m") == intents.Choose("m")
    assert decode(type="input_audio_buffer.append", audio=AUDIO) == intents.AddAudio(PCM)
    assert decode(type="input_audio_buffer.commit") == intents.StartTurn()
    assert decode(type="input_audio_buffer.commit", final=False) == intents.StartTurn()
    assert decode(type="input_audio_buffer.commit", final=True) == intents.EndTurn()
    assert decode(type="input_audio_buffer.clear") == intents.DropTurn()


def test_fields_that_nobody_knows_are_ignored() -> None:
    assert decode(type="input_audio_buffer.commit", final=True, event_id="e1") == intents.EndTurn()
    assert decode(type="session.update", model="m", temperature=0.3) == intents.Choose("m")


def test_values_that_upstream_coerces_are_coerced() -> None:
    assert decode(type="input_audio_buffer.commit", final="true") == intents.EndTurn()
    assert decode(type="input_audio_buffer.commit", final=0) == intents.StartTurn()


def test_wishes_that_only_a_newer_server_knows_are_left_out() -> None:
    choice = decode(type="session.update", model="m", sayso={"events": ["partial", "holograms", 7], "bias": ["Sayso"]})
    assert choice == intents.Choose("m", sayso=SaysoOptions(events=("partial",), bias=("Sayso",)))


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("", "invalid_json"),
        ("{", "invalid_json"),
        ("hello", "invalid_json"),
        ('{"type": "input_audio_buffer.commit"} trailing', "invalid_json"),
        ("[" * 100_000, "invalid_json"),
        ('{"x":' * 50_000, "invalid_json"),
        ("[]", "processing_error"),
        ('"text"', "processing_error"),
        ("null", "processing_error"),
        ("{}", "unknown_event"),
        ('{"type": 7}', "unknown_event"),
        ('{"type": null}', "unknown_event"),
        ('{"type": ["a"]}', "unknown_event"),
        ('{"type": "response.create"}', "unknown_event"),
        ('{"type": "session.update"}', "invalid_event"),
        ('{"type": "session.update", "model": null}', "invalid_event"),
        ('{"type": "session.update", "model": 5}', "invalid_event"),
        ('{"type": "session.update", "model": "m", "sayso": 5}', "invalid_event"),
        ('{"type": "session.update", "model": "m", "sayso": {"events": "partial"}}', "invalid_event"),
        ('{"type": "input_audio_buffer.append"}', "processing_error"),
        ('{"type": "input_audio_buffer.append", "audio": 5}', "processing_error"),
        ('{"type": "input_audio_buffer.append", "audio": ""}', "invalid_audio"),
        ('{"type": "input_audio_buffer.append", "audio": "AAAA"}', "invalid_audio"),
        ('{"type": "input_audio_buffer.append", "audio": "no base64!"}', "invalid_audio"),
        ('{"type": "input_audio_buffer.commit", "final": "perhaps"}', "processing_error"),
    ],
)
def test_each_fault_has_its_code_and_a_text(frame: str, code: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        VllmDialect("sess-1").decode(frame)
    assert caught.value.code == code
    assert len(caught.value.message) > 10


@settings(max_examples=60, deadline=None)
@given(st.text() | st.builds(json.dumps, st.recursive(st.none() | st.integers() | st.text(), st.lists)))
def test_no_text_makes_the_decoder_fail_in_another_way(text: str) -> None:
    with pytest.raises(ProtocolError):
        VllmDialect("sess-1").decode(text)


def test_the_first_event_suits_clients_of_both_families() -> None:
    event = json.loads(msgspec.json.encode(VllmDialect("sess-1").created(1234)))
    assert event["type"] == "session.created"
    assert event["id"] == event["session"]["id"] == "sess-1"
    assert event["created"] == 1234
    assert event["event_id"]


def test_a_plain_client_gets_upstreams_events_only() -> None:
    dialect = VllmDialect("sess-1")
    assert [e["type"] for e in wire(dialect, intents.Chosen("m", None))] == ["session.updated"]
    word = intents.HeardWord("hi", 0, 300, 0.9)
    assert wire(dialect, intents.StableText("hi", [word])) == [{"type": "transcription.delta", "delta": "hi"}]
    for happening in (
        intents.TentativeText("hi", 0, 1),
        intents.SpeechHeard("start", 0),
        intents.AudioConfirmed(300),
        intents.EngineNews("ready"),
    ):
        assert wire(dialect, happening) == []


def test_a_client_gets_what_it_asked_for() -> None:
    dialect = VllmDialect("sess-1")
    options = SaysoOptions(events=("partial", "words", "speech", "marker", "engine"))
    updated = wire(dialect, intents.Chosen("m", options))
    assert updated[0]["sayso"]["events"] == ["partial", "words", "speech", "marker", "engine"]
    word = intents.HeardWord("hi", 0, 300, 0.9)
    kinds = [e["type"] for e in wire(dialect, intents.StableText("hi", [word]))]
    assert kinds == ["transcription.delta", "sayso.words"]
    assert wire(dialect, intents.AudioConfirmed(300)) == [{"type": "sayso.marker", "audio_ms": 300}]
    partial = {"type": "sayso.partial", "text": "hi", "start_ms": 0, "end_ms": 1}
    assert wire(dialect, intents.TentativeText("hi", 0, 1)) == [partial]
    assert wire(dialect, intents.SpeechHeard("stop", 9)) == [{"type": "sayso.speech", "kind": "stop", "at_ms": 9}]
    told = wire(dialect, intents.EngineNews("loading", "x", "tiny.en"))[0]
    assert (told["state"], told["detail"], told["model"]) == ("loading", "x", "tiny.en")


def test_other_texts_come_before_the_end_of_a_turn_for_those_who_asked() -> None:
    done = intents.TurnDone("Pies.", 1, 2, [intents.OtherText("Pause.", 0.5, -2.0)])
    dialect = VllmDialect("sess-1")
    assert [e["type"] for e in wire(dialect, done)] == ["transcription.done"]
    wire(dialect, intents.Chosen("m", SaysoOptions(events=("alternatives",))))
    others, end = wire(dialect, done)
    assert others == {
        "type": "sayso.alternatives",
        "texts": [{"text": "Pause.", "behind": 0.5, "by_language": -2.0}],
    }
    assert (end["type"], end["text"]) == ("transcription.done", "Pies.")
    assert [e["type"] for e in wire(dialect, intents.TurnDone("hi", 1, 2))] == ["transcription.done"]


def test_thousands_of_expected_sentences_are_taken_and_not_sent_back() -> None:
    sentences = [f"Go to workspace {number}." for number in range(3000)]
    update = {"type": "session.update", "model": "m", "sayso": {"events": ["alternatives"], "expected": sentences}}
    dialect = VllmDialect("sess-1")
    choice = dialect.decode(json.dumps(update))
    assert isinstance(choice, intents.Choose)
    assert choice.sayso == SaysoOptions(events=("alternatives",), expected=tuple(sentences))
    (updated,) = wire(dialect, intents.Chosen("m", choice.sayso))
    assert (updated["sayso"]["events"], updated["sayso"]["expected"]) == (["alternatives"], [])


def test_usage_adds_up() -> None:
    done = wire(VllmDialect("sess-1"), intents.TurnDone("hi", 39, 4))[0]
    usage = {"prompt_tokens": 39, "completion_tokens": 4, "total_tokens": 43, "prompt_tokens_details": None}
    assert done == {"type": "transcription.done", "text": "hi", "usage": usage}


def test_an_error_is_a_string_with_a_code() -> None:
    error = wire(VllmDialect("sess-1"), intents.Trouble("engine_failed", "Speak again.", turn_lost=True))[0]
    assert error == {
        "type": "error",
        "error": "Speak again.",
        "code": "engine_failed",
        "turn_lost": True,
        "lost_ms": 0,
    }
    lost = wire(VllmDialect("sess-1"), intents.Trouble("audio_lost", "2.5 seconds were lost.", lost_ms=2500))[0]
    assert (lost["turn_lost"], lost["lost_ms"]) == (False, 2500)


def test_everything_sent_is_of_the_wires_vocabulary() -> None:
    dialect = VllmDialect("sess-1")
    happenings = [
        intents.Chosen("m", SaysoOptions(events=("partial", "words", "speech", "marker", "engine"))),
        intents.Dropped(),
        intents.StableText("hi", []),
        intents.TurnDone("hi", 1, 2),
        intents.Trouble("x", "y"),
        intents.EngineNews("failed", "why"),
    ]
    for happening in happenings:
        for event in dialect.encode(happening):
            assert msgspec.json.decode(msgspec.json.encode(event), type=AnyServerEvent) == event
