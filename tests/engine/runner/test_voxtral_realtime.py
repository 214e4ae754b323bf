"""Voxtral Realtime against transformers, token for token, on a tiny model whose windows roll over many times."""

from __future__ import annotations

import random
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_voxtral import build, warbling
from voxtral_turns import Turn, run, runner_of, transcribe

from sayso.engine.errors import EngineError
from sayso.engine.runner.blank_watchdog import RutOptions

pytest.importorskip("transformers")
from voxtral_reference import Reference

SECONDS = 6.3
DELAYS_MS = (80, 480, 2400)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def reference(folder):
    return Reference(folder)


@pytest.fixture(scope="module")
def runner(folder):
    return runner_of(folder)


@pytest.fixture(scope="module")
def sound():
    return warbling(SECONDS)


@pytest.mark.parametrize("delay_ms", DELAYS_MS)
def test_tokens_equal_those_of_transformers(runner, reference, sound, delay_ms):
    expected = reference.whole(sound, delay_ms // 80)
    assert len(set(expected)) > 20
    assert transcribe(runner, sound, delay_ms).tokens == expected


def test_a_runner_that_was_warmed_up_has_its_start_computed_and_no_place_taken(folder, sound):
    cold, warm = runner_of(folder), runner_of(folder)
    warm.warm()
    assert warm._model.seats == 0
    assert len(warm._model._prefixes) == 1
    assert transcribe(warm, sound).tokens == transcribe(cold, sound).tokens


def test_tokens_equal_those_of_transformers_own_streaming(runner, reference):
    sound = warbling(4.0, seed=5)
    assert transcribe(runner, sound, chunk=1280).tokens == reference.stream(sound)


@pytest.mark.parametrize("chunk", [160, 1280, 7777])
def test_a_recording_in_chunks_gives_the_tokens_of_the_whole(runner, sound, chunk):
    assert transcribe(runner, sound, chunk=chunk).tokens == transcribe(runner, sound).tokens


@pytest.mark.parametrize("fixed_steps", [False, True])
def test_turns_of_mixed_ages_and_delays_in_one_batch_equal_each_alone(folder, runner, fixed_steps):
    """Also with the steps of fixed sizes that a GPU records as graphs."""
    sounds = [warbling(seconds, seed) for seed, seconds in enumerate((5.0, 3.1, 4.2, 2.4))]
    delays = (480, 80, 2400, 960)
    alone = [transcribe(runner, sound, delay).tokens for sound, delay in zip(sounds, delays, strict=True)]
    shared = runner_of(folder, places=6, fixed_steps=fixed_steps)
    turns = [Turn(shared, delay) for delay in delays]
    for at in range(0, 6 * 16_000, 1280):
        for number, (turn, sound) in enumerate(zip(turns, sounds, strict=True)):
            # Every turn begins a little later than the one before it.
            begin = at - number * 8_960
            if 0 <= begin < len(sound):
                turn.hear(sound[begin : begin + 1280])
            elif begin >= len(sound):
                turn.end()
        run(shared, turns)
    for turn in turns:
        turn.end()
    run(shared, turns)
    assert [turn.tokens for turn in turns] == alone


def test_a_turn_closed_and_another_opened_in_between_leave_a_third_as_it_is(runner, sound):
    expected = transcribe(runner, sound).tokens
    first, kept = Turn(runner), Turn(runner)
    for turn in (first, kept):
        turn.hear(sound[:40_000])
    run(runner, [first, kept])
    first.stream.close()
    late = Turn(runner, 80)
    late.hear(warbling(2.0, seed=9))
    kept.hear(sound[40_000:])
    for turn in (late, kept):
        turn.end()
    run(runner, [late, kept])
    assert kept.tokens == expected
    assert late.tokens == transcribe(runner, warbling(2.0, seed=9), 80).tokens


def test_the_first_token_comes_with_exactly_the_samples_it_needs(runner, sound):
    turn = Turn(runner)
    turn.hear(sound[: 7 * 1280 + 39])
    run(runner, [turn])
    assert turn.stream._text.count == 0
    turn.hear(sound[7 * 1280 + 39 : 7 * 1280 + 40])
    run(runner, [turn])
    assert turn.stream._text.count == 1


def test_the_end_of_a_turn_flushes_its_delay_and_a_long_last_word(runner, sound):
    positions = -(-len(sound) // 1280)
    for delay_ms in DELAYS_MS:
        assert len(transcribe(runner, sound, delay_ms).tokens) == positions + 10


def test_the_end_of_sequence_ends_nothing_and_has_no_text(folder, runner, sound):
    turn = Turn(runner)
    turn.hear(sound)
    run(runner, [turn])
    said = len(turn.tokens)
    turn.stream.decoded(runner._model.tekken.eos, 1.0)
    turn.stream._taken, turn.stream._decoded = turn.stream._taken - 1, turn.stream._decoded - 1
    turn.hear(warbling(1.0))
    turn.end()
    run(runner, [turn])
    assert turn.stream.done
    assert len(turn.tokens) >= said + 12


def test_the_original_layout_gives_the_same_tokens(runner, tmp_path, sound):
    original = runner_of(build(tmp_path, original=True))
    assert transcribe(original, sound[:48_000]).tokens == transcribe(runner, sound[:48_000]).tokens


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_in_other_types_only_rounding_makes_a_difference_to_transformers(folder, precision, sound):
    """Scores that are nearly equal may round either way; a different token is the next input, yet it stays at a few."""
    import torch

    expected = Reference(folder, getattr(torch, precision)).whole(sound)
    tokens = transcribe(runner_of(folder, precision), sound).tokens
    agree = sum(ours == theirs for ours, theirs in zip(tokens, expected, strict=True))
    assert agree >= 0.95 * len(expected)


def test_ten_hours_of_positions_change_no_token(runner, sound):
    expected = transcribe(runner, sound).tokens
    model, hours = runner._model, 10
    turn = Turn(runner)
    seat = turn.stream.sit()
    far = model.sit_at(6, origin=hours * 3600 * 25 // 2 + 7)
    model.leave(seat)
    turn.stream.seat = far
    turn.hear(sound)
    turn.end()
    run(runner, [turn])
    assert turn.tokens == expected


def test_a_seat_is_given_back_when_the_turn_is_done_or_closed(runner, sound):
    before = runner._model.seats
    transcribe(runner, sound[:16_000])
    turn = Turn(runner)
    turn.hear(sound[:16_000])
    run(runner, [turn])
    assert runner._model.seats == before + 1
    turn.stream.close()
    turn.stream.close()
    assert runner._model.seats == before


def test_one_session_too_many_is_refused_and_the_others_go_on(folder, sound):
    runner = runner_of(folder, places=2)
    turns = [Turn(runner) for _ in range(2)]
    for turn in turns:
        turn.hear(sound[:20_000])
    run(runner, turns)
    third = Turn(runner)
    third.hear(sound[:20_000])
    with pytest.raises(EngineError) as refusal:
        run(runner, [third])
    assert refusal.value.code == "session_limit"
    for turn in turns:
        turn.end()
    run(runner, turns)
    assert all(turn.stream.done for turn in turns)


def test_what_a_turn_holds_in_the_model_stops_growing_when_its_windows_are_full(runner):
    turn, sizes = Turn(runner), []
    for _ in range(6):
        for _ in range(20):
            turn.hear(warbling(0.08))
            run(runner, [turn])
        sizes.append(turn.stream.holding)
    turn.stream.close()
    assert sizes[0].kv < sizes[-3].kv
    assert sizes[-1] == sizes[-3]


@pytest.mark.parametrize("fixed_steps", [False, True])
def test_a_rut_of_blanks_over_speech_is_left_and_one_over_silence_is_not(folder, monkeypatch, fixed_steps):
    """vLLM #47614: "nothing to say" for minutes while somebody speaks, since it is the model's own next input."""
    monkeypatch.setattr(RutOptions, "__init__", partialmethod(RutOptions.__init__, patience=8, growth=4.0, bound=40.0))
    runner = runner_of(folder, fixed_steps=fixed_steps)
    pad = runner._model.tekken.pad
    rut = torch.zeros(runner._model.shape.vocabulary)
    rut[pad] = 30.0
    runner._model.network.head.register_forward_hook(lambda head, hidden, scores: scores + rut)
    said = []
    for voiced in (True, False):
        turn = Turn(runner)
        for at in range(36):
            turn.utterance.voiced_frames = 9 * at if voiced else 0
            turn.hear(warbling(0.08, seed=at))
            run(runner, [turn])
        turn.end()
        run(runner, [turn])
        said.append([token for token in turn.tokens if token != pad])
    assert said[0] != []
    assert said[1] == []


SOUNDS = [warbling(seconds, seed) for seed, seconds in enumerate((2.9, 1.7, 3.3))]


@pytest.fixture(scope="module")
def each_alone(runner):
    return [transcribe(runner, sound, delay).tokens for sound, delay in zip(SOUNDS, DELAYS_MS, strict=True)]


def test_a_step_that_runs_out_of_memory_anywhere_changes_nothing_for_those_who_go_on(folder, runner, each_alone):
    shared, dice = runner_of(folder), random.Random(3)
    network = shared._model.network

    def full(module, inputs):
        if dice.random() < 0.3:
            raise MemoryError

    hooks = [part.register_forward_pre_hook(full) for part in (network.adapter_out, network.head)]
    turns, failed = [Turn(shared, delay) for delay in DELAYS_MS], 0
    for turn, sound in zip(turns, SOUNDS, strict=True):
        turn.hear(sound)
        turn.end()
    while ready := [turn for turn in turns if turn.ready]:
        try:
            shared.run([turn.stream for turn in ready])
        except MemoryError:
            failed += 1
        for turn in ready:
            turn.collect()
    for hook in hooks:
        hook.remove()
    assert failed > 10
    assert [turn.tokens for turn in turns] == each_alone


def test_a_long_turn_keeps_neither_its_audio_nor_its_tokens(runner, monkeypatch):
    """vLLM #50860: the raw audio of every frame is kept for as long as the session lives."""
    monkeypatch.setattr("sayso.engine.runner.voxtral_realtime.RECOMPUTABLE_SAMPLES", 2 * 16_000)
    turn, kept = Turn(runner), []
    for at in range(75):
        turn.hear(warbling(0.08, seed=at))
        run(runner, [turn])
        kept.append((turn.utterance.tape.end - turn.utterance.tape.start, len(turn.stream._said)))
    turn.stream.close()
    assert max(kept)[0] == 2 * 16_000
    assert max(kept[30:]) <= (2 * 1280, 0)
    assert kept[-1] == kept[40]


def test_a_missing_tensor_is_named(tmp_path):
    from safetensors.torch import load_file, save_file

    folder = build(tmp_path)
    path = folder / "model.safetensors"
    weights = load_file(path)
    gone = "language_model.model.layers.1.mlp.up_proj.weight"
    save_file({name: value for name, value in weights.items() if name != gone}, path)
    with pytest.raises(EngineError, match=r"layers\.1\.mlp\.up_proj\.weight") as fault:
        runner_of(folder)
    assert fault.value.code == "model_damaged"


def test_a_tensor_of_the_wrong_shape_is_named_with_both_shapes(tmp_path):
    from safetensors.torch import load_file, save_file

    folder = build(tmp_path)
    path = folder / "model.safetensors"
    weights = load_file(path)
    weights["audio_tower.embedder.conv1.weight"] = weights["audio_tower.embedder.conv1.weight"][:, :64].contiguous()
    save_file(weights, path)
    with pytest.raises(EngineError, match=r"conv1\.weight.*\(64, 64, 3\).*\(64, 128, 3\)") as fault:
        runner_of(folder)
    assert fault.value.code == "model_damaged"


def test_a_file_that_is_cut_off_is_called_damaged(tmp_path):
    folder = build(tmp_path)
    path: Path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:100_000])
    with pytest.raises(EngineError) as fault:
        runner_of(folder)
    assert fault.value.code == "model_damaged"


def test_silence_only_has_text_positions_all_the_same(runner):
    assert len(transcribe(runner, np.zeros(16_000, np.float32)).tokens) == 13 + 10
