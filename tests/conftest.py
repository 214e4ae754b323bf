"""Fixtures for all tests: a desktop with sound for a whole module, and a microphone for one test."""

from __future__ import annotations

import os
from collections.abc import Iterator

# Threads that wait sleep, as in the engine's own process: tests run side by side. Read when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import hypothesis
import keyring
import keyring.backends.fail
import pytest
from virtual_desktop import Microphone, VirtualDesktop, VirtualSound, virtual_desktop, virtual_sound

# How long an example takes says how busy the machine is, and nothing of what is tested.
hypothesis.settings.register_profile("sayso", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("sayso")


@pytest.fixture(scope="module")
def desktop() -> Iterator[VirtualDesktop]:
    """A private X display with window manager, D-Bus session, home and sound server."""
    with virtual_desktop() as started:
        yield started


@pytest.fixture(scope="module")
def sound() -> Iterator[VirtualSound]:
    """A private sound server without a display; no microphone is plugged in."""
    with virtual_sound() as started:
        yield started


@pytest.fixture
def microphone(sound: VirtualSound) -> Iterator[Microphone]:
    """A 48 kHz mono microphone on the private sound server, unplugged after the test."""
    plugged = sound.plug_microphone()
    yield plugged
    sound.unplug(plugged)


@pytest.fixture
def no_keyring() -> Iterator[None]:
    """A system without a keyring, whatever this one has."""
    before = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.fail.Keyring())
    yield
    keyring.set_keyring(before)
