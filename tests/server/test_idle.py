"""When the engine gives its memory back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sayso.server.idle import PRESSED_S, IdleSettings, Situation, rest

BOTH = IdleSettings(unload_after_s=60, end_after_s=600)


def test_nothing_is_done_unless_a_setting_asks_for_it() -> None:
    assert rest(Situation(busy=False, unused_s=1e9, pressure=100), IdleSettings()) == "keep"


def test_the_weights_go_first_and_the_process_later() -> None:
    assert rest(Situation(False, 59.9), BOTH) == "keep"
    assert rest(Situation(False, 60), BOTH) == "unload"
    assert rest(Situation(False, 599, loaded=False), BOTH) == "keep"
    assert rest(Situation(False, 600, loaded=False), BOTH) == "end"


def test_what_was_asked_for_is_done_at_once() -> None:
    assert rest(Situation(False, 0, asked="unload"), BOTH) == "unload"
    assert rest(Situation(False, 0, asked="end"), BOTH) == "end"
    assert rest(Situation(False, 0, loaded=False, asked="unload"), BOTH) == "keep"
    assert rest(Situation(False, 0, loaded=False, asked="end"), BOTH) == "end"


def test_scarce_memory_ends_an_engine_that_nobody_uses_but_not_one_that_has_just_come() -> None:
    scarce = IdleSettings(end_at_pressure=10)
    assert rest(Situation(False, PRESSED_S, pressure=9.9), scarce) == "keep"
    assert rest(Situation(False, PRESSED_S, pressure=10), scarce) == "end"
    assert rest(Situation(False, PRESSED_S - 0.1, pressure=100), scarce) == "keep"


seconds = st.floats(0, 1e6)


@given(
    st.builds(Situation, st.just(True), seconds, st.booleans(), st.sampled_from(["keep", "unload", "end"]), seconds),
    st.builds(IdleSettings, seconds, seconds, seconds),
)
def test_a_busy_engine_is_never_touched(now: Situation, settings: IdleSettings) -> None:
    assert rest(now, settings) == "keep"


def test_on_battery_the_engine_ends_sooner_but_never_under_a_speaker() -> None:
    saving = IdleSettings(end_after_s=600, end_on_battery_after_s=60)
    assert rest(Situation(False, 61, on_battery=True), saving) == "end"
    assert rest(Situation(False, 59, on_battery=True), saving) == "keep"
    assert rest(Situation(False, 61), saving) == "keep"
    assert rest(Situation(True, 61, on_battery=True), saving) == "keep"
    assert rest(Situation(False, 9_999, on_battery=True), IdleSettings()) == "keep"
