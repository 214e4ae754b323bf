"""The real engine process with the real model: speech in, text out, and what it does when things go wrong."""

import difflib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
import speech
from running_engine import WAIT_S, EngineProcess
from served_days import files_below, private_cache
from tiny_voxtral import build, warbling

from sayso.engine import messages as m
from sayso.engine.vad import VoiceDetector

pytestmark = pytest.mark.engine

BECKETT = "Ever tried. Ever failed. No matter. Try again. Fail again. Fail better."


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess() as process:
        process.load()
        yield process


def plain(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


def test_two_sessions_at_once_each_get_their_own_text(engine: EngineProcess) -> None:
    engine.open("beckett", words=True, partials=True, speech=True)
    engine.open("cities")
    engine.audio("beckett", speech.recording("beckett"))
    engine.audio("cities", speech.recording("two_cities")[: 5 * 16_000])
    engine.send(m.Flush("cities", 0, 2))
    engine.flush("beckett", 1)
    engine.flush("cities", 2)
    assert plain(engine.transcript("beckett")) == plain(BECKETT)
    assert plain(engine.transcript("cities")) == plain("it was the best of times it was the worst of times")
    assert engine.of("cities", m.Speech) == []
    assert [e.kind for e in engine.of("beckett", m.Speech)][:2] == ["start", "stop"]


def test_words_have_times_in_order_within_the_turn(engine: EngineProcess) -> None:
    words = [w for e in engine.of("beckett", m.Text) if isinstance(e, m.Text) and e.stable for w in e.words]
    assert "".join(w.text for w in words) == engine.transcript("beckett")
    starts = [w.start_ms for w in words]
    assert starts == sorted(starts)
    assert all(0 <= w.start_ms <= w.end_ms <= 9960 for w in words)
    reference = {"tried": 0.7, "matter": 3.84, "better": 8.5}
    for text, start_s in reference.items():
        (found,) = [w for w in words if plain(w.text) == [text]]
        assert abs(found.start_ms / 1000 - start_s) < 0.5


@pytest.mark.parametrize("chunk", [160, 4000, 200_000])
def test_the_final_text_does_not_depend_on_how_the_audio_is_cut(engine: EngineProcess, chunk: int) -> None:
    name = f"cut {chunk}"
    engine.open(name)
    engine.audio(name, speech.recording("beckett"), chunk=chunk)
    engine.flush(name, 1)
    assert plain(engine.transcript(name)) == plain(BECKETT)


def test_speech_without_a_pause_longer_than_any_window_comes_out_once(engine: EngineProcess) -> None:
    """Two readings of the text, 45 s, with every pause cut out."""
    frames = speech.recording("two_cities")[: 900 * 512].reshape(-1, 512)
    voice = VoiceDetector.load().run([frames], [None])[0][0]
    spoken = [frame for k, frame in enumerate(frames) if voice[max(0, k - 1) : k + 2].max() >= 0.5]
    engine.open("long", speech=True)
    engine.audio("long", np.concatenate(spoken * 2))
    engine.flush("long", 1)
    assert len(engine.of("long", m.Speech)) == 2
    said = plain(speech.recording_text("two_cities")) * 2
    assert abs(len(plain(engine.transcript("long"))) - len(said)) <= 2
    matcher = difflib.SequenceMatcher(None, said, plain(engine.transcript("long")), autojunk=False)
    assert sum(block.size for block in matcher.get_matching_blocks()) >= len(said) - 4


def test_after_a_cancel_only_the_new_turn_is_heard(engine: EngineProcess) -> None:
    engine.open("cancelled")
    engine.audio("cancelled", speech.recording("two_cities")[: 5 * 16_000])
    engine.send(m.Cancel("cancelled", 1))
    engine.audio("cancelled", speech.recording("beckett")[: 2 * 16_000], epoch=1)
    engine.flush("cancelled", 9, epoch=1)
    late = [e.piece for e in engine.of("cancelled", m.Text) if isinstance(e, m.Text) and e.stable and e.epoch == 1]
    assert plain("".join(late)) == ["ever", "tried"]


def test_nothing_said_is_no_text(engine: EngineProcess) -> None:
    engine.open("nothing", partials=True)
    noise = np.random.default_rng(0).normal(0, 0.05, 160_000).astype(np.float32)
    engine.audio("nothing", np.concatenate([np.zeros(160_000, np.float32), noise]))
    engine.flush("nothing", 1)
    assert [e.piece for e in engine.of("nothing", m.Text) if isinstance(e, m.Text) and e.piece] == []


def test_a_session_with_bad_audio_fails_and_the_engine_goes_on(engine: EngineProcess) -> None:
    engine.open("bad")
    engine.send(m.Audio("bad", 0, b"odd"))
    failed = engine.wait_for(lambda e: isinstance(e, m.Failed), "bad")
    assert isinstance(failed, m.Failed)
    assert failed.code == "bad_audio"
    engine.open("bad")
    engine.flush("bad", 1)


def test_the_model_changes_without_a_new_process() -> None:
    with EngineProcess() as engine:
        engine.send(m.Load("no-such-model"))
        failed = engine.wait_for(lambda e: isinstance(e, m.Failed))
        assert isinstance(failed, m.Failed)
        assert failed.code == "model_not_found"
        engine.send(m.Load("tiny.en", "nonsense"))
        engine.wait_for(lambda e: isinstance(e, m.Failed) and e.code == "device_missing")
        assert engine.load().languages == ("en",)
        engine.send(m.Stop())
        assert engine.wait_for_end() == 0


def test_the_end_of_the_pipe_ends_the_process_even_in_the_middle_of_work() -> None:
    engine = EngineProcess()
    with engine:
        engine.load()
        engine.open("a")
        engine.audio("a", speech.recording("two_cities"), chunk=100_000)
        assert engine.process.stdin is not None
        engine.process.stdin.close()
        assert engine.wait_for_end(10.0) == 0


def test_it_ends_while_it_loads_when_its_parent_is_gone() -> None:
    engine = EngineProcess()
    with engine:
        engine.send(m.Load("tiny.en"))
        assert engine.process.stdin is not None
        engine.process.stdin.close()
        assert engine.wait_for_end(30.0) == 0


def test_it_ends_when_its_parent_is_killed() -> None:
    code = (
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-m', 'sayso.engine'], stdin=subprocess.PIPE)\n"
        "print(p.pid, flush=True)\n"
        "p.wait()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    engine = psutil.Process(int(parent.stdout.readline()))
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait(WAIT_S)
    parent.stdout.close()
    gone, _ = psutil.wait_procs([engine], timeout=20.0)
    assert gone


def test_garbage_on_the_pipe_is_answered_with_a_coded_failure_and_an_exit_status() -> None:
    with EngineProcess() as engine:
        assert engine.process.stdin is not None
        engine.process.stdin.write(b"\xff\xff\xff\xff what is this")
        failed = engine.wait_for(lambda e: isinstance(e, m.Failed))
        assert isinstance(failed, m.Failed)
        assert (failed.session, failed.code) == (None, "frame_too_long")
        assert engine.wait_for_end() == 2


def test_torch_is_not_imported_before_a_model_is_asked_for_and_heavy_libraries_never() -> None:
    code = "import sys, sayso.engine.__main__; print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True, text=True)
    assert done.stdout.strip() == "[]"
    code = (
        "import sys, sayso.engine.runner.registry, sayso.engine.vad\n"
        "print(sorted({'torchaudio', 'transformers', 'onnxruntime', 'silero_vad', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_it_waits_without_using_the_cpu(engine: EngineProcess) -> None:
    process = psutil.Process(engine.process.pid)
    engine.open("idle")
    engine.wait_for(lambda e: isinstance(e, m.Memory))
    before = process.cpu_times()
    time.sleep(1.0)
    after = process.cpu_times()
    assert after.user + after.system - before.user - before.system < 0.1


def test_asked_to_end_it_leaves_no_hibernated_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the user logs out: every process is sent SIGTERM, and the next start may be days away."""
    hibernated = private_cache(tmp_path / "cache", monkeypatch.setenv)
    with EngineProcess() as engine:
        engine.load(str(build(tmp_path / "tiny")), threads=1)
        engine.open("a")
        engine.audio("a", warbling(0.5))
        while not engine.of("a", m.Parked):
            engine.send(m.Park("a", "disk"))
            engine.wait_for(lambda message: isinstance(message, m.Parked), "a")
            if engine.of("a", m.Parked)[-1].code == "session_busy":
                engine.received = [kept for kept in engine.received if not isinstance(kept[1], m.Parked)]
        assert len(files_below(hibernated)) == 1
        engine.process.terminate()
        assert engine.wait_for_end() == 0
        assert not files_below(hibernated)
