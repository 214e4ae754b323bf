"""Who makes room: paused sessions first, then the newest, and nobody for nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.engine.admission import Holder, Need, admit, make_room
from sayso.engine.errors import SessionError


def test_a_full_engine_refuses_with_a_code() -> None:
    admit(1, 2)
    with pytest.raises(SessionError) as caught:
        admit(2, 2)
    assert caught.value.code == "session_limit"
    assert "try again" in str(caught.value)


def test_a_session_that_was_paused_longest_makes_room_first() -> None:
    holders = [Holder("old pause", 2, 1, 10.0), Holder("new pause", 2, 2, 20.0), Holder("active", 2, 3)]
    room = make_room([Need("new", 3, 9)], holders, free=1)
    assert (room.granted, room.preempted) == ({"new": 3}, ("old pause",))


def test_an_older_chunk_takes_from_the_newest_and_a_newer_one_waits() -> None:
    """vLLM #49439: two sessions that each hold memory and each need more never wait for each other."""
    holders = [Holder("first", 3, 1), Holder("second", 3, 2), Holder("third", 2, 3)]
    room = make_room([Need("second", 2, 2), Need("first", 2, 1), Need("third", 1, 3)], holders, free=0)
    assert room.granted == {"first": 2}
    assert room.preempted == ("third",)
    assert set(room.waiting) == {"second", "third"}


def test_nobody_is_preempted_when_that_would_not_be_enough() -> None:
    room = make_room([Need("new", 9, 5)], [Holder("paused", 2, 1, 0.0), Holder("active", 4, 2)], free=1)
    assert room == make_room([Need("new", 9, 5)], [], free=1)
    assert room.preempted == ()
    assert room.waiting == ("new",)


def test_who_begins_leaves_some_blocks_to_those_who_were_there_before() -> None:
    holders = [Holder("older", 4, 1), Holder("paused", 9, 2, 0.0), Holder("newer", 3, 9)]
    begins = Need("new", 4, 5, begins=True)
    assert make_room([begins], holders, free=5).preempted == ("paused",)
    assert make_room([begins], holders[:1], free=5).waiting == ("new",)
    assert make_room([begins], holders[:1], free=6).granted == {"new": 4}
    assert make_room([Need("new", 4, 5)], holders[:1], free=5).granted == {"new": 4}


SESSIONS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 6), st.one_of(st.none(), st.floats(0, 9))), min_size=1, max_size=8
)


@given(SESSIONS, st.integers(0, 12))
def test_the_oldest_goes_on_whenever_it_fits_and_no_block_is_given_twice(sessions: list, free: int) -> None:
    holders = [Holder(str(at), held, at, paused) for at, (held, _, paused) in enumerate(sessions) if held]
    needs = [Need(str(at), need, at) for at, (_, need, paused) in enumerate(sessions) if paused is None]
    room = make_room(needs, holders, free)
    gained = sum(holder.blocks for holder in holders if holder.session in room.preempted)
    assert sum(room.granted.values()) <= free + gained
    assert not set(room.granted) & (set(room.preempted) | set(room.waiting))
    assert {need.session for need in needs} == set(room.granted) | set(room.waiting)
    if needs:
        others = sum(holder.blocks for holder in holders if holder.session != needs[0].session)
        assert (needs[0].session in room.granted) == (needs[0].blocks <= free + others)
