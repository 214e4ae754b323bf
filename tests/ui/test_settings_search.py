"""A page is found by the beginnings of its words, whatever their case."""

from __future__ import annotations

import pytest

from sayso.ui.settings_search import Match, match

WAIT, KEY = "Pause that ends what you say: 0.55 s", "API-key"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("pause", Match((WAIT,))),
        ("PAU says", Match((WAIT,))),
        ("pauses ended", None),
        ("ends keys", None),
        ("keys", Match((KEY,))),
        ("keyring", None),
        ("say pau", Match((WAIT,))),
        ("ause", None),
        ("key", Match((KEY,))),
        ("api-key", Match((KEY,))),
        ("server key", Match((KEY,))),
        ("serv", Match()),
        ("", Match()),
        ("key pause", None),
    ],
)
def test_every_word_of_the_search_begins_a_word_of_one_text_or_the_title(query: str, found: Match | None) -> None:
    assert match(query, "Server", (WAIT, KEY)) == found
