"""What a session keeps for a client whose connection was lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sayso.server.protocol.resumption import Claim, SentFrames, session_of


def test_only_the_token_with_the_key_it_was_given_to_fits() -> None:
    claim = Claim("sess-1", b"Bearer k")
    assert claim.fits(claim.token, b"Bearer k")
    assert not claim.fits(claim.token, b"Bearer x")
    assert not claim.fits(claim.token, b"")
    assert not claim.fits(claim.token + "x", b"Bearer k")
    assert not claim.fits("", b"Bearer k")
    assert not claim.fits("sess-1.ä", b"Bearer k")


def test_a_token_names_its_session_and_nobody_can_guess_it() -> None:
    first, second = Claim("sess-1", b""), Claim("sess-1", b"")
    assert session_of(first.token) == "sess-1"
    assert first.token != second.token
    assert len(first.token) > len("sess-1") + 40
    assert session_of("nonsense") == ""


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 45), st.integers(0, 45))
def test_what_follows_is_all_that_lasts_or_nothing_at_all(lasting: list[bool], told: int, asked: int) -> None:
    frames = SentFrames(10_000)
    for index, lasts in enumerate(lasting):
        frames.add(f"frame {index}", lasting=lasts)
    frames.heard(told)
    after = frames.after(asked)
    if min(told, len(lasting)) <= asked <= len(lasting):
        assert after == [f"frame {index}" for index in range(asked, len(lasting)) if lasting[index]]
    else:
        assert after is None


@given(st.lists(st.integers(0, 30), max_size=60))
def test_what_is_kept_stays_within_its_bound(sizes: list[int]) -> None:
    frames = SentFrames(100)
    for size in sizes:
        frames.add("x" * size, lasting=True)
    kept = next(after for count in range(len(sizes) + 1) if (after := frames.after(count)) is not None)
    assert sum(map(len, kept)) <= 100
    assert frames.after(len(sizes)) == []
    assert frames.count == len(sizes)
