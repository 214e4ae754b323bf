"""Token sessions: what stays in the context, why a chunk ends, and what is computed for the next one."""

import pytest

from sayso.engine.sampling import Chosen, SamplingParams
from sayso.engine.token_session import TRANSITIONS, Chunk, Model, Output, State, TokenSession, tokens_fault

EOS = 99


def make(*, max_length: int = 1000, feeds_stop_token: bool = False, piece=lambda token: b"") -> TokenSession:
    return TokenSession("id", Model(max_length, frozenset({EOS}), feeds_stop_token, piece))


def chunk(*tokens: int, most: int | None = 5, **params: object) -> Chunk:
    return Chunk(tokens, SamplingParams(max_tokens=most, temperature=0, **params))  # type: ignore[arg-type]


def answer(session: TokenSession, *tokens: int) -> list[Output]:
    """Compute what is pending before each of these tokens, then choose it."""
    for token in tokens:
        session.choice()
        session.advance(session.pending)
        session.chosen(Chosen(token))
    return session.take()


def test_all_outputs_but_the_last_stay_and_only_the_new_tokens_are_computed() -> None:
    """vLLM's own numbers: [1,2,3] answered 10, 11 with 4 computed; [4,5] joins: [1,2,3,10,4,5], two to compute."""
    session = make()
    session.push(chunk(1, 2, 3, most=2))
    first, last = answer(session, 10, 11)
    assert (first.in_context, last.in_context) == (True, False)
    assert session.computed == 4
    session.push(chunk(4, 5))
    assert session.context == (1, 2, 3, 10, 4, 5)
    assert session.computed == 4
    assert session.pending == 2
    assert session.next_tokens(9) == (4, 5)


@pytest.mark.parametrize(
    ("most", "said", "context"),
    [
        ((1, 3, 2), "D1|C2 D2 E2|C3 D3", "A1 B1 C1 A2 B2 C2 D2 A3 C3"),
        ((1, 2, 2), "D1|C2 D2|C3 D3", "A1 B1 C1 A2 B2 C2 A3 C3"),
    ],
)
def test_the_worked_examples(most: tuple[int, int, int], said: str, context: str) -> None:
    """vLLM #37842: each chunk's own ``max_tokens`` counts."""
    names = [letter + number for number in "123" for letter in "ABCDE"]
    session, out = make(), []
    chunks = zip(("A1 B1 C1", "A2 B2", "A3"), most, said.split("|"), strict=True)
    for number, (tokens, limit, expected) in enumerate(chunks):
        session.push(chunk(*map(names.index, tokens.split()), most=limit))
        outputs = answer(session, *map(names.index, expected.split()))
        assert [output.in_context for output in outputs] == [True] * (limit - 1) + [False]
        assert [output.finish_reason for output in outputs] == [None] * (limit - 1) + ["length"]
        assert {output.chunk for output in outputs} == {number}
        assert session.state is State.WAITING
        out.append(" ".join(names[output.token or 0] for output in outputs))
    assert "|".join(out) == said
    assert " ".join(names[token] for token in session.context) == context


@pytest.mark.parametrize("feeds", [False, True])
def test_a_stop_token_stays_only_in_models_that_must_see_it(feeds: bool) -> None:
    """[1,2,3] → 10 → stop; [4,5] → [1,2,3,10,4,5], or with the stop token, which is then computed before the chunk."""
    session = make(feeds_stop_token=feeds)
    session.push(chunk(1, 2, 3))
    word, stop = answer(session, 10, EOS)
    assert (word.in_context, stop.in_context) == (True, feeds)
    assert stop.finish_reason == "stop"
    assert session.computed == 4
    session.push(chunk(4, 5, most=1))
    assert session.context == (1, 2, 3, 10, *([EOS] if feeds else []), 4, 5)
    assert session.next_tokens(9) == (*([EOS] if feeds else []), 4, 5)
    [last] = answer(session, 7)
    assert last.usage is not None
    assert last.usage.computed_tokens == 2 + feeds


@pytest.mark.parametrize("feeds", [False, True])
def test_a_last_token_that_is_no_stop_token_is_dropped_in_both_kinds(feeds: bool) -> None:
    session = make(feeds_stop_token=feeds)
    session.push(chunk(1, 2, most=1))
    answer(session, 10)
    session.push(chunk(4))
    assert session.context == (1, 2, 4)


def test_an_answer_that_begins_with_a_stop_token_is_an_empty_answer() -> None:
    """vLLM #52693: the first token of a turn is a stop token."""
    session = make()
    session.push(chunk(1, 2))
    session.push(chunk(3, most=1))
    [stop] = answer(session, EOS)
    assert (stop.finish_reason, stop.finished, stop.text) == ("stop", False, "")
    assert session.next_tokens(9) == (3,)
    assert [output.chunk for output in answer(session, 8)] == [1]


def test_chunks_that_come_early_wait_and_join_in_order() -> None:
    """vLLM #42490: two quick chunks."""
    session = make()
    for number in range(3):
        session.push(chunk(number, most=2))
    assert session.context == (0,)
    assert session.queued == 2
    assert [output.chunk for output in answer(session, 5, 6, 5, 6, 5, 6)] == [0, 0, 1, 1, 2, 2]
    assert session.context == (0, 5, 1, 5, 2, 5)


def test_the_last_output_is_marked_when_the_input_had_ended_and_a_marker_comes_when_it_ends_later() -> None:
    known = make()
    known.push(chunk(1, most=1))
    known.end_input()
    assert [(output.finished, output.finish_reason) for output in answer(known, 5)] == [(True, "length")]
    assert known.state is State.CLOSED
    later = make()
    later.push(chunk(1, most=1))
    assert [output.finished for output in answer(later, 5)] == [False]
    later.end_input()
    assert later.take() == [Output("id", 0, None, "", False, None, True)]


def test_no_chunk_at_all_gives_the_marker_only() -> None:
    """vLLM #34532: an empty stream runs no junk generation."""
    session = make()
    session.end_input()
    assert session.take() == [Output("id", -1, None, "", False, None, True)]
    assert session.pending == 0


def test_each_chunk_s_own_parameters_count() -> None:
    session = make()
    session.push(chunk(1, most=3, stop_token_ids=(7,)))
    session.push(chunk(2, most=2))
    session.push(chunk(3, most=4, ignore_eos=True, min_tokens=2))
    reasons = [output.finish_reason for output in answer(session, 7, 7, 8, EOS, EOS, EOS, EOS)]
    assert reasons == ["stop", None, "length", None, None, None, "length"]


def test_stop_tokens_are_banned_until_the_chunk_has_its_least_number() -> None:
    session = make()
    session.push(chunk(1, most=2, min_tokens=1, stop_token_ids=(7,)))
    session.push(chunk(2, most=2, min_tokens=1, ignore_eos=True, stop_token_ids=(7,)))
    assert session.choice().banned == (7, EOS)
    answer(session, 5)
    assert session.choice().banned == ()
    answer(session, 5)
    assert session.choice().banned == (7,)


def test_the_length_limit_ends_the_session_with_a_reason() -> None:
    """vLLM #39996: reaching the model's length is an end, not a crash."""
    session = make(max_length=6)
    session.push(chunk(1, 2, 3, 4, most=None))
    session.push(chunk(5))
    outputs = answer(session, 10, 11)
    assert [(output.finish_reason, output.finished) for output in outputs] == [(None, False), ("context_length", True)]
    assert session.state is State.CLOSED


def test_a_chunk_for_which_there_is_no_place_ends_the_session_with_a_reason() -> None:
    """vLLM #42489: the accumulated prompt is checked, not only the chunk."""
    session = make(max_length=6)
    session.push(chunk(1, 2, 3, most=1))
    answer(session, 10)
    session.push(chunk(4, 5, 6))
    assert session.take() == [Output("id", 1, None, "", False, "context_length", True)]
    session.push(chunk(7))
    assert session.take() == []


def test_a_session_that_lost_its_cache_computes_exactly_what_it_kept() -> None:
    paused, running = make(), make()
    paused.push(chunk(1, 2, 3, most=2))
    answer(paused, 10, 11)
    paused.preempt()
    assert paused.pending == 0
    paused.push(chunk(4, most=1))
    assert paused.next_tokens(9) == (1, 2, 3, 10, 4)
    [last] = answer(paused, 7)
    assert last.usage is not None
    assert last.usage.computed_tokens == 5
    running.push(chunk(1, 2, 3))
    answer(running, 10, 11)
    running.preempt()
    assert running.next_tokens(9) == (1, 2, 3, 10, 11)


def test_a_choice_is_the_same_when_it_is_asked_for_again() -> None:
    session = make()
    session.push(Chunk((1,), SamplingParams(seed=3)))
    first = session.choice()
    assert session.choice() == first
    session.advance(1)
    session.chosen(Chosen(5))
    assert session.choice().draw != first.draw


def test_a_character_survives_the_edge_between_chunks() -> None:
    raw = "ü".encode()
    session = make(piece=lambda token: raw[token : token + 1])
    session.push(chunk(5, most=1))
    session.push(chunk(6, most=1))
    assert [output.text for output in answer(session, 0, 1)] == ["", "ü"]
    session.push(chunk(6, most=1))
    session.end_input()
    assert [output.text for output in answer(session, 0)] == ["�"]


@pytest.mark.parametrize("reason", ["abort", "idle"])
def test_an_ended_session_says_so_once_and_drops_what_waited(reason: str) -> None:
    """vLLM #53861: an abort in the middle of a chunk is the end of the session, not of the chunk."""
    session = make()
    session.push(chunk(1, 2))
    session.push(chunk(3))
    answer(session, 5)
    session.end(reason)  # type: ignore[arg-type]
    [marker] = session.take()
    assert (marker.token, marker.finish_reason, marker.finished) == (None, reason, True)
    session.end("abort")
    session.end_input()
    assert session.take() == []
    assert (session.pending, session.queued) == (0, 0)


def test_a_state_changes_only_as_the_table_says() -> None:
    assert set(TRANSITIONS) == set(State)
    session = make()
    session.become(State.CLOSED)
    with pytest.raises(ValueError, match="closed to active"):
        session.become(State.ACTIVE)


@pytest.mark.parametrize(
    ("tokens", "code"),
    [
        ([], "empty_prompt"),
        ([1] * 10, "prompt_too_long"),
        ([5, 50], "bad_token"),
        ([-1], "bad_token"),
        ([True], "bad_token"),
        (["1"], "bad_token"),
    ],
)
def test_tokens_that_cannot_be_a_chunk_are_named(tokens: list, code: str) -> None:
    fault = tokens_fault(tokens, vocabulary=50, max_length=10)
    assert fault is not None
    assert fault[0] == code
    assert tokens_fault([0, 49], vocabulary=50, max_length=10) is None
