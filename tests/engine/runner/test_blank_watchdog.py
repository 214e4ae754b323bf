from __future__ import annotations

from sayso.engine.runner.blank_watchdog import BlankWatchdog, RutOptions

OPTIONS = RutOptions(patience=200, voiced_frames=60, growth=0.1, bound=7.0)


def after(watchdog: BlankWatchdog, blanks: int, voiced_each: int, voiced: int = 0) -> int:
    for _ in range(blanks):
        voiced += voiced_each
        watchdog.push(blank=True, voiced_frames=voiced)
    return voiced


def test_a_silence_of_any_length_is_left_alone() -> None:
    watchdog = BlankWatchdog(OPTIONS)
    after(watchdog, 5000, voiced_each=0)
    assert not watchdog.alarmed


def test_a_healthy_pause_over_speech_is_left_alone() -> None:
    watchdog = BlankWatchdog(OPTIONS)
    after(watchdog, 165, voiced_each=2)
    assert not watchdog.alarmed


def test_blanks_over_speech_are_penalised_more_and_more_up_to_the_bound() -> None:
    watchdog = BlankWatchdog(OPTIONS)
    voiced = after(watchdog, 201, voiced_each=2)
    assert 0 < watchdog.penalty < 0.2
    voiced = after(watchdog, 30, voiced_each=2, voiced=voiced)
    assert 3.0 < watchdog.penalty < 3.3
    after(watchdog, 1000, voiced_each=2, voiced=voiced)
    assert watchdog.penalty == OPTIONS.bound


def test_a_word_ends_the_alarm_and_the_count_begins_anew() -> None:
    watchdog = BlankWatchdog(OPTIONS)
    voiced = after(watchdog, 300, voiced_each=2)
    watchdog.push(blank=False, voiced_frames=voiced)
    assert not watchdog.alarmed
    after(watchdog, 200, voiced_each=2, voiced=voiced)
    assert not watchdog.alarmed
