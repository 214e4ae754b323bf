"""Reports of utterances from what is heard."""

from __future__ import annotations

from sayso.app.cli.utterances import Report, Utterances
from sayso.app.realtime.events import TurnDone, TurnLost, TurnStable, TurnTentative


def told(*steps: object) -> list[Report]:
    reports: list[Report] = []
    utterances = Utterances(reports.append)
    utterances.begin(1, 2.0)
    utterances.heard_until(1, 3.5)
    for step in steps:
        utterances.apply(step)  # type: ignore[arg-type]
    return reports


def test_each_change_is_told_with_all_text_and_its_stable_part() -> None:
    assert told(TurnTentative(1, "op"), TurnStable(1, "open"), TurnTentative(1, " fire")) == [
        Report("partial", "op", 2.0, 3.5, ""),
        Report("partial", "open", 2.0, 3.5, "open"),
        Report("partial", "open fire", 2.0, 3.5, "open"),
    ]


def test_what_did_not_change_is_not_told_again() -> None:
    assert len(told(TurnTentative(1, "op"), TurnTentative(1, "op"))) == 1


def test_the_end_is_told_once_and_an_utterance_of_nothing_is_not_told() -> None:
    assert told(TurnDone(1, "open"), TurnDone(1, "open")) == [Report("final", "open", 2.0, 3.5, "open")]
    assert told(TurnDone(1, " ")) == []


def test_lost_speech_is_an_error_with_its_length() -> None:
    (report,) = told(TurnLost(1, 1500, "engine_failed", "The engine stopped."))
    assert (report.type, report.code) == ("error", "engine_failed")
    assert "1.5 s" in report.text


def test_other_turns_are_not_mixed_in() -> None:
    assert told(TurnStable(2, "other"), TurnTentative(2, "other"), TurnDone(2, "other")) == []
