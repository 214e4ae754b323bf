import pytest

from sayso.app.history import policy
from sayso.app.history.view import CHOICES, FOREVER, OFF
from sayso.app.snapshot import LineKind


def test_nothing_is_kept_unless_chosen() -> None:
    assert not any(policy.is_kept(kind, OFF) for kind in LineKind)


def test_what_is_said_while_asleep_or_was_lost_is_never_kept() -> None:
    kept = {kind for kind in LineKind if policy.is_kept(kind, 30)}
    assert kept == {LineKind.COMMAND, LineKind.DICTATED, LineKind.PLAIN}


def test_days_count_back_from_now() -> None:
    assert policy.cutoff(1_000_000.0, 2) == 1_000_000.0 - 2 * 86_400
    assert policy.cutoff(1_780_000_000.0, FOREVER) < 0
    assert CHOICES[0] == OFF


def test_old_utterances_are_looked_for_at_first_and_every_day_and_when_the_clock_went_back() -> None:
    assert policy.is_due(1000.0, None)
    assert not policy.is_due(1000.0 + 3600, 1000.0)
    assert policy.is_due(1000.0 + 86_400, 1000.0)
    assert policy.is_due(500.0, 1000.0)


@pytest.mark.parametrize(
    ("text", "plain"), [("Grüße aus Köln", "grusse aus koln"), ("ÉTÉ", "ete"), ("Łódź", "łodz"), ("ﬁle", "file")]
)
def test_text_is_searched_without_case_and_accents(text: str, plain: str) -> None:
    assert policy.folded(text) == plain


@pytest.mark.parametrize(
    ("term", "scan"), [("word", False), ("42", False), ("can't", True), ("100%", True), ("東京", True), ('"', True)]
)
def test_what_an_index_of_words_cannot_find_is_scanned_for(term: str, scan: bool) -> None:
    assert policy.needs_scan(term) is scan
