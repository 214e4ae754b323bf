"""Accounting of cache memory: everything or nothing, nothing shared, nothing lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.engine.blocks import Blocks, Budget, OutOfBlocks, Paging

OWNERS = st.sampled_from("abcde")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.dictionaries(OWNERS, st.integers(0, 6), max_size=3)),
        st.tuples(st.just("give back"), OWNERS),
        st.tuples(st.just("give back first"), st.tuples(OWNERS, st.integers(0, 4))),
    ),
    max_size=40,
)


@given(STEPS, st.integers(0, 200))
def test_no_block_has_two_owners_and_none_is_lost_whatever_is_taken_and_given_back(steps: list, total: int) -> None:
    budget = Budget(total)
    pages, rings = Blocks(12, 5, budget), Blocks(3, 40, budget)
    for number, (kind, what) in enumerate(steps):
        blocks = rings if number % 3 == 0 else pages
        if kind == "give back":
            blocks.give_back(what)
        elif kind == "give back first":
            owner, count = what
            held = list(blocks.held(owner))
            assert list(blocks.give_back_first(owner, count)) == held[:count]
            assert list(blocks.held(owner)) == held[count:]
        elif blocks.ask(what):
            before = {owner: len(blocks.held(owner)) for owner in what}
            blocks.take(what)
            assert all(len(blocks.held(owner)) == before[owner] + want for owner, want in what.items())
        else:
            before_all = {owner: list(blocks.held(owner)) for owner in "abcde"}, budget.taken_bytes
            with pytest.raises(OutOfBlocks):
                blocks.take(what)
            assert ({owner: list(blocks.held(owner)) for owner in "abcde"}, budget.taken_bytes) == before_all
        for each in (pages, rings):
            held = [block for owner in "abcde" for block in each.held(owner)]
            assert len(held) == len(set(held)) == each.used
            assert set(held) <= set(range(each.count))
            assert each.owners == {owner for owner in "abcde" if each.held(owner)}
        assert budget.taken_bytes == pages.used * 5 + rings.used * 40 <= total


def test_the_lowest_blocks_are_given_first_and_a_table_only_grows() -> None:
    blocks = Blocks(8)
    blocks.take({"a": 2, "b": 1})
    table = blocks.held("a")
    assert blocks.give_back("b") == (2,)
    blocks.take({"a": 2})
    assert list(table) == [0, 1, 2, 3]


def test_a_table_in_use_goes_on_when_its_beginning_is_given_back() -> None:
    blocks = Blocks(8)
    blocks.take({"a": 3})
    table = blocks.held("a")
    assert blocks.give_back_first("a", 2) == (0, 1)
    blocks.take({"a": 2})
    assert list(table) == [2, 0, 1]


@given(st.integers(1, 9), st.integers(1, 40), st.integers(0, 200), st.integers(1, 12))
def test_behind_a_window_are_exactly_the_blocks_that_no_later_token_sees(
    block_tokens: int, window: int, computed: int, blocks: int
) -> None:
    paging = Paging(block_tokens, window)
    seen = {position // block_tokens for position in range(max(0, computed - window + 1), computed + 1)}
    assert paging.behind(computed) == min(seen)
    portion = paging.portion(blocks)

    def most(count: int) -> int:
        """Blocks that a session ever needs for so many tokens more."""
        return max(paging.reaching(at + count) - paging.behind(at) for at in range(window + 3 * block_tokens))

    assert portion == 0 or most(portion) <= blocks
    assert most(portion + 1) > blocks


def test_without_a_window_nothing_is_behind() -> None:
    assert (Paging(4).behind(1000), Paging(4).portion(1000), Paging(4).reaching(9)) == (0, 0, 3)


def test_pages_and_rings_draw_on_the_same_bytes() -> None:
    budget = Budget(100)
    pages, rings = Blocks(100, 10, budget), Blocks(4, 60, budget)
    rings.take({"speech": 1})
    assert pages.free == 4
    assert not pages.ask({"text": 5})
    with pytest.raises(OutOfBlocks) as caught:
        pages.take({"text": 5})
    assert caught.value.code == "out_of_memory"
    rings.give_back("speech")
    pages.take({"text": 5})
    assert rings.free == 0


def test_lenders_are_asked_only_for_what_is_lacking_and_only_when_it_is() -> None:
    budget, asked = Budget(100), []
    blocks = Blocks(10, 10, budget)
    blocks.take({"idle": 6})

    def lend(nbytes: int) -> None:
        asked.append(nbytes)
        if nbytes <= 60:
            blocks.give_back("idle")

    budget.lenders.append(lend)
    assert budget.make_room(40)
    assert asked == []
    assert not budget.make_room(101)
    assert budget.make_room(90)
    assert asked == [61, 50]
    assert budget.taken_bytes == 0


def test_giving_back_tells_those_who_wait_that_there_may_be_room() -> None:
    budget = Budget(100)
    blocks = Blocks(4, 10, budget)
    blocks.take({"a": 1})
    before = budget.returns
    blocks.take({"b": 1})
    assert budget.returns == before
    blocks.give_back("a")
    assert budget.returns > before
