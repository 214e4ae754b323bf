"""Text while tokens come: whole characters only, nothing lost at any cut."""

from hypothesis import given
from hypothesis import strategies as st

from sayso.engine.detokenizer import Detokenizer


@given(st.text(), st.data())
def test_a_text_comes_out_whole_wherever_its_bytes_are_cut(text: str, data: st.DataObject) -> None:
    raw = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    parts = [raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    detokenizer = Detokenizer(parts.__getitem__)
    pieces = [detokenizer.push(token) for token in range(len(parts))]
    assert "".join(pieces) == text
    assert detokenizer.finish() == ""


def test_a_character_comes_with_the_token_that_completes_it() -> None:
    detokenizer = Detokenizer(lambda token: "🙂".encode()[token : token + 1])
    assert [detokenizer.push(token) for token in range(4)] == ["", "", "", "🙂"]


def test_bytes_that_are_no_character_are_shown_as_such() -> None:
    detokenizer = Detokenizer([b"a\xff", b"b\xf0\x9f"].__getitem__)
    assert detokenizer.push(0) + detokenizer.push(1) == "a�b"
    assert detokenizer.finish() == "�"
