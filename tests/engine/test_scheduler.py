"""The scheduler: nearest deadline first, equal keys only, bounded number and cost, nothing starves."""

from dataclasses import replace

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


TOKEN_WORKS = st.lists(
    st.builds(
        Work,
        session=st.uuids().map(str),
        cost_ms=st.just(0.0),
        deadline=st.floats(0, 100),
        batch_key=st.sampled_from([("tokens", "a"), ("tokens", "b")]),
        tokens=st.integers(1, 60),
    ).map(lambda work: replace(work, divisible=work.tokens > 1)),
    max_size=20,
)


@given(TOKEN_WORKS)
def test_a_step_of_prompts_stays_within_its_tokens_and_answers_are_never_cut(works: list[Work]) -> None:
    scheduler = Scheduler(batch=8, batch_cost_ms=400.0, step_tokens=16)
    picked = scheduler.pick(works)
    assert bool(picked) == bool(works)
    offered = {work.session: work for work in works}
    for work in picked:
        assert 1 <= work.tokens <= offered[work.session].tokens
        assert work.divisible or work.tokens == offered[work.session].tokens
    if picked:
        assert sum(work.tokens for work in picked) <= 16
        assert len(picked) <= 8
        assert picked[0].session == min(works, key=lambda work: work.deadline).session
        assert len({work.batch_key for work in picked}) == 1


def test_a_long_prompt_leaves_every_answer_its_token_and_takes_the_rest() -> None:
    prompt = Work("prompt", 0.0, 1.0, tokens=1000, divisible=True)
    answers = [Work(f"answer {i}", 0.0, 2.0 + i, tokens=1) for i in range(5)]
    picked = Scheduler(batch=16, batch_cost_ms=400.0, step_tokens=32).pick([*answers, prompt])
    assert {work.session: work.tokens for work in picked} == {
        "prompt": 27,
        **{f"answer {i}": 1 for i in range(5)},
    }


def test_an_overdue_prompt_goes_on_however_many_answers_there_are() -> None:
    prompt = Work("prompt", 0.0, 0.0, tokens=1000, divisible=True)
    answers = [Work(f"answer {i}", 0.0, 2.0 + i, tokens=1) for i in range(100)]
    picked = Scheduler(batch=200, batch_cost_ms=400.0, step_tokens=32).pick([*answers, prompt])
    assert picked[0] == replace(prompt, tokens=8)
    assert [work.session for work in picked[1:]] == [f"answer {i}" for i in range(24)]


def test_speech_and_text_take_turns_by_their_deadlines() -> None:
    speech, text = Work("speech", 80.0, 1.0, ("voice",)), Work("text", 0.0, 2.0, ("tokens",), 5, True)
    assert SCHEDULER.pick([text, speech]) == [speech]
    assert SCHEDULER.pick([text, replace(speech, deadline=3.0)]) == [text]
