"""Presets are controls and controls are presets; a server is told its share by its own names. Pure."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.app.memory_policy import (
    OWN,
    PRESETS,
    Controls,
    MemoryPolicyError,
    Preset,
    changed,
    from_server,
    preset_of,
    server_limits,
)

NAMES = Controls.__struct_fields__
durations = st.floats(0, 86_400)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_the_controls_of_a_preset_are_that_preset(preset: Preset) -> None:
    assert preset_of(PRESETS[preset]) is preset


def test_the_presets_differ_and_give_back_more_from_one_to_the_next() -> None:
    assert len(set(PRESETS.values())) == 3
    ready, balanced, everything = (PRESETS[each] for each in PRESETS)
    assert ready == Controls()
    assert 0 < everything.end_after_s < balanced.end_after_s
    assert everything.end_server
    assert everything.close_after_s
    assert not balanced.end_server


@pytest.mark.parametrize("preset", list(PRESETS))
@pytest.mark.parametrize("name", NAMES)
def test_a_control_changed_by_hand_makes_it_custom_and_changed_back_the_preset_again(preset: Preset, name: str) -> None:
    before = PRESETS[preset]
    old = getattr(before, name)
    after = changed(before, name, not old if isinstance(old, bool) else old + 7)
    assert preset_of(after) is Preset.CUSTOM
    assert type(getattr(after, name)) is type(old)
    assert preset_of(changed(after, name, old)) is preset


@pytest.mark.parametrize(
    ("name", "value"), [("end_after_s", -1), ("end_after_s", 86_401), ("end_at_pressure", 101), ("device_mb", -5)]
)
def test_what_is_not_possible_is_refused_with_what_is(name: str, value: float) -> None:
    with pytest.raises(MemoryPolicyError, match="choose from 0 to"):
        changed(Controls(), name, value)


def test_a_control_that_there_is_not_is_refused() -> None:
    with pytest.raises(MemoryPolicyError):
        changed(Controls(), "end_everything", 1)


@given(st.builds(Controls, durations, durations, durations, st.floats(0, 100), durations, durations, durations))
def test_what_a_server_reports_of_its_limits_is_what_it_was_told(controls: Controls) -> None:
    told = server_limits(controls)
    assert from_server(told, Controls()) == controls


def test_every_control_is_the_servers_or_the_desktops_own() -> None:
    assert len(server_limits(Controls())) + len(OWN) == len(NAMES)
    assert OWN == ("close_after_s", "end_server")


def test_what_a_server_does_not_tell_stays_as_it_is_here() -> None:
    own = PRESETS[Preset.EVERYTHING_BACK]
    theirs = from_server({"engine_end_after_s": 7.0, "idle_s": 3.0}, own)
    assert theirs == changed(own, "end_after_s", 7)


def test_controls_that_a_server_would_refuse_are_not_read_from_a_file() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"end_after_s": -1}', type=Controls)


def test_a_server_of_this_version_takes_every_limit_that_it_is_told() -> None:
    from sayso.server.config import ServerConfig

    for preset in PRESETS.values():
        msgspec.convert(server_limits(preset), ServerConfig).check()
