"""Utterances begin, pause and end where the probabilities say, and a click is no utterance."""

from hypothesis import given
from hypothesis import strategies as st

from sayso.engine.options import Segmentation
from sayso.engine.segmentation import FRAME_SAMPLES, Change, Edge, Segmenter

OPTIONS = Segmentation()


def edges(probabilities: list[float], finish: bool = False) -> list[Change]:
    segmenter = Segmenter(OPTIONS)
    changes = [change for p in probabilities for change in segmenter.push(p)]
    return changes + (segmenter.finish() if finish else [])


def test_speech_begins_at_its_first_frame_though_it_is_noticed_later() -> None:
    assert edges([0.1] * 10 + [0.9] * 3) == [Change(Edge.BEGIN, 10 * FRAME_SAMPLES)]


def test_one_loud_frame_is_no_speech() -> None:
    assert edges(([0.1] * 5 + [0.9]) * 20) == []


def test_silence_pauses_then_ends_the_utterance_where_the_voice_ended() -> None:
    changes = edges([0.9] * 10 + [0.0] * 40)
    end = 10 * FRAME_SAMPLES
    assert changes == [Change(Edge.BEGIN, 0), Change(Edge.PAUSE, end), Change(Edge.END, end)]


def test_speech_after_a_pause_belongs_to_the_same_utterance() -> None:
    changes = edges([0.9] * 10 + [0.0] * 10 + [0.9] * 5)
    assert [change.edge for change in changes] == [Edge.BEGIN, Edge.PAUSE, Edge.RESUME]


def test_a_doubtful_frame_keeps_speech_going_but_does_not_end_a_silence() -> None:
    assert [c.edge for c in edges([0.9] * 5 + [0.4] * 50)] == [Edge.BEGIN]
    assert [c.edge for c in edges([0.9] * 5 + [0.0] + [0.4] * 50)] == [Edge.BEGIN, Edge.PAUSE, Edge.END]


def test_a_turn_that_ends_right_after_one_speech_frame_still_has_an_utterance() -> None:
    changes = edges([0.1, 0.1, 0.9, 0.1], finish=True)
    assert changes == [Change(Edge.BEGIN, 2 * FRAME_SAMPLES), Change(Edge.END, 3 * FRAME_SAMPLES)]


def test_the_beginning_tells_how_sure_the_frames_before_it_were() -> None:
    (begin,) = edges([0.1, 0.7, 0.8, 0.9])
    assert begin.voiced == (0.7, 0.8)
    assert edges([0.1, 0.7], finish=True)[0].voiced == (0.7,)


def test_a_quiet_turn_has_none() -> None:
    assert edges([0.1] * 50, finish=True) == []


@given(st.lists(st.floats(0, 1), max_size=400))
def test_edges_come_in_a_sensible_order_for_any_probabilities(probabilities: list[float]) -> None:
    allowed = {
        None: {Edge.BEGIN},
        Edge.BEGIN: {Edge.PAUSE, Edge.END},
        Edge.PAUSE: {Edge.RESUME, Edge.END},
        Edge.RESUME: {Edge.PAUSE, Edge.END},
        Edge.END: {Edge.BEGIN},
    }
    before = None
    last_end = 0
    for change in edges(probabilities, finish=True):
        assert change.edge in allowed[before]
        assert 0 <= change.at <= len(probabilities) * FRAME_SAMPLES
        if change.edge is Edge.BEGIN:
            assert change.at >= last_end
        if change.edge is Edge.END:
            last_end = change.at
        before = change.edge
    assert before in (None, Edge.END)
