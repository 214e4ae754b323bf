from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sayso.engine import step_threads
from sayso.engine.step_threads import LAST_TRIAL, StepThreads, ThreadChoice


def steps(choice: ThreadChoice, seconds: dict[int, float], count: int, kind: str = "decode") -> list[int]:
    """So many steps that take what their number of threads says; the numbers they took."""
    taken = []
    for _ in range(count):
        threads = choice.choose(kind)
        choice.took(kind, threads, seconds[threads])
        taken.append(threads)
    return taken


def test_the_first_steps_take_all_threads() -> None:
    assert ThreadChoice(4).choose("decode") == 4


def test_one_thread_stays_one_thread() -> None:
    assert set(steps(ThreadChoice(1), {1: 0.01}, 100)) == {1}


@given(st.sampled_from([2, 3, 4, 8]), st.data())
def test_almost_all_steps_take_the_number_that_is_soonest(most: int, data: st.DataObject) -> None:
    counts = sorted({1, most // 2, most})
    best = data.draw(st.sampled_from(counts))
    seconds = {count: 0.010 if count == best else data.draw(st.floats(0.012, 0.5)) for count in counts}
    choice = ThreadChoice(most)
    steps(choice, seconds, 30)
    assert steps(choice, seconds, 1000).count(best) >= 970


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1)])
def test_it_is_noticed_when_another_number_becomes_better(before: int, after: int) -> None:
    choice = ThreadChoice(2)
    steps(choice, {before: 0.01, after: 0.05}, 5000)
    steps(choice, {before: 0.05, after: 0.01}, LAST_TRIAL + 10)
    assert set(steps(choice, {before: 0.05, after: 0.01}, 4)) == {after}


def test_one_slow_step_does_not_change_the_choice_for_long() -> None:
    choice = ThreadChoice(2)
    steps(choice, {1: 0.02, 2: 0.01}, 100)
    choice.took("decode", 2, 0.5)
    steps(choice, {1: 0.02, 2: 0.01}, 40)
    assert steps(choice, {1: 0.02, 2: 0.01}, 100).count(2) >= 95


def test_what_one_kind_of_step_teaches_is_not_taken_for_another() -> None:
    choice = ThreadChoice(2)
    steps(choice, {1: 0.01, 2: 0.05}, 50, "decode")
    assert choice.choose("encode") == 2


def test_torch_is_told_of_threads_in_one_place() -> None:
    engine = Path(step_threads.__file__).parent
    assert [path.name for path in engine.rglob("*.py") if "set_num_threads" in path.read_text()] == ["step_threads.py"]


def test_a_step_runs_on_the_chosen_threads_and_the_number_comes_back() -> None:
    before, readings = torch.get_num_threads(), iter(range(1000))
    shared = StepThreads(2, lambda: float(next(readings)))
    with shared.step("decode"):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == before


def test_the_number_comes_back_after_an_error_which_teaches_nothing() -> None:
    before = torch.get_num_threads()
    shared = StepThreads(2, iter([0.0]).__next__)
    with pytest.raises(ValueError, match="broken"), shared.step("decode"):
        raise ValueError("broken")
    assert torch.get_num_threads() == before
