"""The scheduler: nearest deadline first, equal keys only, bounded number and cost, nothing starves."""

from hypothesis import given
from hypothesis import strategies as st

from sayso.engine.scheduler import Scheduler, Work

SCHEDULER = Scheduler(batch=4, batch_cost_ms=400.0)
WORKS = st.lists(
    st.builds(
        Work,
        session=st.uuids().map(str),
        cost_ms=st.floats(1, 1000),
        deadline=st.floats(0, 100),
        batch_key=st.sampled_from([("a", 1), ("a", 2), ("b",)]),
    ),
    max_size=40,
)


@given(WORKS)
def test_the_batch_holds_the_nearest_deadline_and_only_its_like_within_bounds(works: list[Work]) -> None:
    picked = SCHEDULER.pick(works)
    assert bool(picked) == bool(works)
    if picked:
        assert picked[0].deadline == min(work.deadline for work in works)
        assert {work.batch_key for work in picked} == {picked[0].batch_key}
        assert len(picked) <= SCHEDULER.batch
        assert len(picked) == 1 or sum(work.cost_ms for work in picked) <= SCHEDULER.batch_cost_ms
        assert len(set(picked)) == len(picked)


@given(WORKS)
def test_everything_offered_is_run_in_the_end(works: list[Work]) -> None:
    left = list(works)
    for _ in range(len(works)):
        picked = SCHEDULER.pick(left)
        left = [work for work in left if work not in picked]
    assert left == []


def test_a_session_with_dear_work_does_not_keep_the_others_from_their_turn() -> None:
    """One session always has a second of work due at once; four others have small work, each due a second later."""
    clock, ran = 0.0, {"dear": 0, **{f"small {i}": 0 for i in range(4)}}
    due = dict.fromkeys(ran, 0.0)
    while clock < 60.0:
        works = [
            Work(name, 1000.0 if name == "dear" else 80.0, since + (0.0 if name == "dear" else 1.0), (name == "dear",))
            for name, since in due.items()
        ]
        picked = SCHEDULER.pick(works)
        clock += sum(work.cost_ms for work in picked) / 1000
        for work in picked:
            ran[work.session] += 1
            due[work.session] = clock
    assert min(ran[f"small {i}"] for i in range(4)) >= 25


def test_works_with_another_key_wait() -> None:
    first, other, alike = Work("a", 10, 1.0, (1,)), Work("b", 10, 2.0, (2,)), Work("c", 10, 3.0, (1,))
    assert SCHEDULER.pick([other, alike, first]) == [first, alike]
