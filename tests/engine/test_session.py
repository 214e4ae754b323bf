"""A session turns audio, flushes and cancels into speech events, text and markers; nothing is lost or out of order."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_streams import FRAME, LoudnessDetector, RangeRunner, loud, quiet
from speech import pcm16

from sayso.engine import messages as m
from sayso.engine.errors import SessionError
from sayso.engine.options import Limits, Segmentation
from sayso.engine.session import Session, State

PREROLL = Segmentation().preroll_ms * 16 // FRAME
TAIL = 6
"""Frames of silence that an utterance keeps: those before the one at which the pause was noticed."""
PAUSED = quiet(30)


def session(limits: Limits | None = None, gated: bool = True, **options: bool) -> Session:
    return Session("a", 0, m.SessionOptions(**options), RangeRunner().stream, gated=gated, limits=limits)


def work_off(it: Session) -> list[m.Message]:
    """Everything that can be done with what was sent; returns what came out."""
    return list(steps(it))


def steps(it: Session) -> Iterator[m.Message]:
    detector = LoudnessDetector()
    while True:
        if it.examinable:
            it.heard(detector.run([it.examine(5)], [None])[0][0])
        yield from it.results()
        if it.offer(0.0) is not None:
            it.stream.run()
        elif not it.examinable:
            yield from it.results()
            return


def send(it: Session, samples: np.ndarray, epoch: int = 0, chunk: int = 700) -> None:
    for at in range(0, len(samples), chunk):
        it.receive(epoch, pcm16(samples[at : at + chunk]))


def transcript(out: list[m.Message]) -> str:
    return "".join(e.piece for e in out if isinstance(e, m.Text) and e.stable)


def test_a_turn_gives_speech_events_text_and_its_marker_in_that_order() -> None:
    it = session(speech=True, words=True)
    send(it, np.concatenate([quiet(20), loud(10), PAUSED]))
    it.flush(0, 7)
    out = work_off(it)
    assert [type(e) for e in out] == [m.Speech, m.Speech, m.Text, m.Flushed]
    assert out[0] == m.Speech("a", 0, "start", 20 * 32)
    assert out[1] == m.Speech("a", 0, "stop", 30 * 32)
    assert out[2].piece == f"{20 - PREROLL}-{30 + TAIL}"
    assert out[2].words[0].start_ms == out[2].start_ms == (20 - PREROLL) * 32
    assert out[2].tokens == 2
    assert out[3] == m.Flushed("a", 0, 7, 60 * 32, 0)


def test_text_joins_across_utterances_of_a_turn_and_starts_anew_in_the_next() -> None:
    it = session()
    send(it, np.concatenate([loud(10), PAUSED, loud(10), PAUSED]))
    it.flush(0, 1)
    send(it, loud(10))
    it.flush(0, 2)
    out = work_off(it)
    pieces = [e.piece for e in out if isinstance(e, m.Text)]
    assert pieces == [f"0-{10 + TAIL}", f" {40 - PREROLL}-{50 + TAIL}", "0-10"]
    assert [e.marker for e in out if isinstance(e, m.Flushed)] == [1, 2]


def test_a_flush_in_mid_speech_gives_all_of_it() -> None:
    it = session()
    send(it, np.concatenate([loud(9), loud(1)[:100]]))
    it.flush(0, 1)
    assert transcript(work_off(it)) == "0-10"


def test_an_empty_turn_is_flushed_at_once() -> None:
    it = session()
    it.flush(0, 1)
    it.flush(0, 2)
    assert [type(e) for e in work_off(it)] == [m.Flushed, m.Flushed]


def test_tentative_text_words_and_speech_are_sent_only_when_asked_for() -> None:
    plain, curious = session(), session(partials=True, words=True, speech=True)
    kinds = []
    for it in (plain, curious):
        send(it, np.concatenate([loud(10), PAUSED]))
        out = work_off(it)
        kinds.append([(type(e).__name__, getattr(e, "stable", None), len(getattr(e, "words", ()))) for e in out])
    assert kinds[0] == [("Text", True, 0)]
    assert kinds[1] == [("Speech", None, 0), ("Speech", None, 0), ("Text", False, 1), ("Text", True, 1)]


def test_cancel_drops_the_turn_with_what_waits_and_late_messages_of_the_old_epoch() -> None:
    it = session()
    send(it, np.concatenate([loud(10), PAUSED]))
    work = it.examine(100)
    it.heard(np.ones(len(work), np.float32))
    it.flush(0, 1)
    it.cancel(1)
    send(it, loud(50), epoch=0)
    it.flush(0, 2)
    send(it, loud(10), epoch=1)
    it.flush(1, 3)
    out = work_off(it)
    assert transcript(out) == "0-10"
    assert {e.epoch for e in out} == {1}
    assert [e.marker for e in out if isinstance(e, m.Flushed)] == [3]


def test_audio_of_a_newer_epoch_cancels_the_turn_before_it() -> None:
    it = session()
    send(it, loud(10))
    send(it, loud(5), epoch=4)
    it.flush(4, 1)
    assert transcript(work_off(it)) == "0-5"


def test_options_count_from_the_next_turn_on() -> None:
    it = session()
    send(it, loud(10))
    it.heard(np.ones(len(it.examine(99)), np.float32))
    it.configure(m.SessionOptions(partials=True))
    it.flush(0, 1)
    send(it, loud(10))
    it.flush(0, 2)
    assert [e.stable for e in work_off(it) if isinstance(e, m.Text)] == [True, False, True]


def test_a_model_that_hears_everything_gets_one_utterance_for_the_whole_turn() -> None:
    it = session(gated=False, speech=True)
    send(it, np.concatenate([quiet(20), loud(10), PAUSED, quiet(1)[:9]]))
    it.flush(0, 1)
    out = work_off(it)
    assert transcript(out) == "0-61"
    assert [e.kind for e in out if isinstance(e, m.Speech)] == ["start", "stop"]


def test_audio_far_ahead_of_the_engine_is_refused() -> None:
    it = session(Limits(unheard_s=1.0))
    with pytest.raises(SessionError) as error:
        send(it, quiet(40))
    assert error.value.code == "audio_overrun"


def test_silence_leaves_nothing_in_memory() -> None:
    it = session()
    sizes = []
    for _ in range(100):
        send(it, quiet(100))
        work_off(it)
        sizes.append(it.ledger(0.0, 0.0).audio)
    assert max(sizes) <= 128 * 1024


def test_a_session_is_active_while_it_has_work_and_waits_otherwise() -> None:
    it = session()
    send(it, loud(10))
    it.results()
    assert it.state is State.ACTIVE
    it.flush(0, 1)
    work_off(it)
    assert it.state is State.WAITING


def test_to_ask_a_session_whether_it_rests_and_what_it_holds_changes_nothing() -> None:
    """Two sessions live the same life, and one of them is asked again and again."""
    asked, left_alone = session(speech=True), session(speech=True)

    def ask() -> None:
        for _ in range(3):
            assert asked.rests == (asked.state is State.WAITING) == (asked.ledger(0.0, 0.0).state == "waiting")

    for sound in (quiet(3), loud(12), PAUSED, loud(5), quiet(1)):
        outs = []
        for it in (asked, left_alone):
            send(it, sound)
            out: list[m.Message] = []
            for message in steps(it):
                if it is asked:
                    ask()
                out.append(message)
            outs.append(out)
        ask()
        assert outs[0] == outs[1]
        before = dict(vars(asked))
        ask()
        assert vars(asked) == before
    for it in (asked, left_alone):
        it.flush(0, 1)
    ask()
    assert work_off(asked) == work_off(left_alone)


def test_a_session_does_not_rest_while_a_turn_is_to_be_ended_or_speech_has_no_stream_yet() -> None:
    it = session()
    assert it.rests
    it.flush(0, 1)
    assert (it.rests, it.state) == (False, State.ACTIVE)
    work_off(it)
    assert it.rests
    send(it, np.concatenate([loud(10), PAUSED]))
    while it.examinable:
        it.heard(LoudnessDetector().run([it.examine(62)], [None])[0][0])
    assert (it.due, it.rests, it.state) == (True, False, State.ACTIVE)
    work_off(it)
    assert (it.due, it.rests, it.state) == (False, True, State.WAITING)


def test_a_session_that_is_closed_says_so_whatever_waits() -> None:
    it = session()
    send(it, loud(10))
    it.close()
    assert it.state is State.CLOSED
    assert it.ledger(0.0, 0.0).state == "closed"


SCRIPT = st.lists(
    st.one_of(
        st.tuples(st.just("loud"), st.integers(1, 40)),
        st.tuples(st.just("quiet"), st.integers(1, 60)),
        st.tuples(st.just("flush"), st.just(0)),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(SCRIPT, st.integers(1, 9000), st.data())
def test_any_cutting_of_the_audio_gives_the_same_results_as_the_whole(
    script: list[tuple[str, int]], chunk: int, data: st.DataObject
) -> None:
    """Chunks of any size, worked off at any moments, against everything at once; when silence is told may differ."""
    results = []
    for size in (10**6, chunk):
        it, out, marker = session(speech=True), [], 0
        for kind, frames in script:
            if kind == "flush":
                marker += 1
                it.flush(0, marker)
            else:
                samples = loud(frames) if kind == "loud" else quiet(frames)
                for at in range(0, len(samples), size):
                    it.receive(0, pcm16(samples[at : at + size]))
                    if size == chunk and data.draw(st.booleans()):
                        out += work_off(it)
        it.flush(0, marker + 1)
        out += work_off(it)
        results.append([e for e in out if not isinstance(e, m.Text) or e.piece])
    whole, cut = results
    assert [e for e in whole if not isinstance(e, m.Speech)] == [e for e in cut if not isinstance(e, m.Speech)]
    assert [e for e in whole if isinstance(e, m.Speech)] == [e for e in cut if isinstance(e, m.Speech)]
    assert [e.marker for e in whole if isinstance(e, m.Flushed)] == list(range(1, marker + 2))


def test_while_nobody_speaks_it_is_told_that_no_text_is_to_come() -> None:
    it = session()
    send(it, np.concatenate([loud(30), quiet(1200), loud(30), quiet(30)]), chunk=16_000)
    out = [e for e in work_off(it) if isinstance(e, m.Text)]
    spoken = [e for e in out if e.piece]
    silent = [e for e in out if not e.piece]
    assert len(spoken) == 2
    assert len(silent) == 3
    assert all(e.stable and e.start_ms == e.end_ms for e in silent)
    times = [e.end_ms for e in silent]
    assert all(10_000 <= after - before < 12_000 for before, after in itertools.pairwise([0, *times]))
    # What was told as silent holds no word, and speech is never told as silence.
    assert spoken[0].end_ms <= times[0]
    assert times[-1] <= spoken[1].start_ms


def test_a_session_that_listens_to_everything_tells_no_silence() -> None:
    it = session(gated=False)
    send(it, quiet(1200), chunk=16_000)
    assert [e for e in work_off(it) if isinstance(e, m.Text) and not e.piece] == []


def test_a_turn_that_nobody_ends_waits_once_all_of_it_was_heard_and_is_active_when_its_client_goes_on() -> None:
    it = session(gated=False)
    send(it, loud(10))
    assert it.state is State.ACTIVE
    work_off(it)
    assert it.rests
    assert it.state is State.WAITING
    send(it, loud(1))
    assert it.state is State.ACTIVE
    work_off(it)
    assert it.rests
    it.flush(0, 1)
    assert it.state is State.ACTIVE
    assert [type(each) for each in work_off(it)][-1] is m.Flushed
    assert it.state is State.WAITING
