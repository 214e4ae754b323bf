"""Small controls that pages share."""

from __future__ import annotations

import pytest

from sayso.ui.controls import plain_tip


@pytest.mark.parametrize(
    ("words", "tip"),
    [
        ("volume up & down", "volume up & down"),
        ("type <b>bold</b> & go", "<qt>type &lt;b&gt;bold&lt;/b&gt; &amp; go</qt>"),
    ],
)
def test_words_from_elsewhere_are_never_mark_up_in_a_tip(words: str, tip: str) -> None:
    assert plain_tip(words) == tip
