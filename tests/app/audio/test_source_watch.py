"""Changes of a real sound server's microphones are noticed, and only they."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bounded import wait_for
from virtual_sound import VirtualSound, virtual_sound

from sayso.app.audio.source_watch import SourceWatch

pytestmark = pytest.mark.desktop


@pytest.fixture
def watch(sound: VirtualSound, monkeypatch: pytest.MonkeyPatch) -> Iterator[SourceWatch]:
    """One that has answered until there was nothing new."""
    monkeypatch.setenv("PULSE_SERVER", sound.environment["PULSE_SERVER"])
    watching = SourceWatch()
    assert watching.has_changed()
    wait_for(lambda: not watching.has_changed(), "nothing new", 15)
    yield watching
    watching.close()


def test_a_microphone_that_comes_or_goes_is_a_change(sound: VirtualSound, watch: SourceWatch) -> None:
    assert not watch.has_changed()
    microphone = sound.plug_microphone(name="newcomer")
    wait_for(watch.has_changed, "the microphone noticed", 15)
    wait_for(lambda: not watch.has_changed(), "nothing new", 15)
    sound.unplug(microphone)
    wait_for(watch.has_changed, "its end noticed", 15)


def test_a_server_that_goes_and_comes_back_is_asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    with virtual_sound() as first:
        monkeypatch.setenv("PULSE_SERVER", first.environment["PULSE_SERVER"])
        watch = SourceWatch()
        watch.has_changed()
        wait_for(lambda: not watch.has_changed(), "nothing new", 15)
    assert watch.has_changed()
    assert watch.has_changed(), "without a server nobody can tell, so that somebody must look"
    with virtual_sound() as second:
        monkeypatch.setenv("PULSE_SERVER", second.environment["PULSE_SERVER"])
        assert watch.has_changed()
        wait_for(lambda: not watch.has_changed(), "nothing new", 15)
        watch.close()
