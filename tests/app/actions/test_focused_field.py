"""A password field is found by what programs tell screen readers, whatever else goes on among these programs.

The programs are played on a real bus; a real field in a real program is in ``tests/integration/test_dictation.py``.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from played_service import PlayedService, played

from sayso.app.actions import focused_field
from sayso.app.actions.bus import Bus
from sayso.app.actions.focused_field import ToldFields

PASSWORD, ENTRY = 40, 79
FOCUSED, SHOWING = 1 << 12, 1 << 25
PROGRAM, FIELD = "org.played.Program", "org.played.Field"
Names = list[tuple[str, str]]


def element(children: Names, role: int = ENTRY, states: int = SHOWING) -> PlayedService:
    answers = {"GetState": ("au", ([states, 0],)), "GetRole": ("u", (role,)), "GetChildren": ("a(so)", (children,))}
    return PlayedService(on_call=lambda method, body: answers[method])


@contextlib.contextmanager
def programs(bus: str, *names: str) -> Iterator[None]:
    """The session's accessibility is on, and these programs take part in it."""
    session = PlayedService({("org.a11y.Status", "IsEnabled"): ("b", True)}, on_call=lambda method, body: ("s", (bus,)))
    registry = element([(name, "/root") for name in names])
    with played(bus, "org.a11y.Bus", session), played(bus, "org.a11y.atspi.Registry", registry):
        yield


@pytest.mark.parametrize(("role", "found"), [(PASSWORD, True), (ENTRY, False)])
def test_a_password_field_with_the_keyboard_is_told_from_another_field(bus: str, role: int, found: bool) -> None:
    field = element([], role, FOCUSED | SHOWING)
    with programs(bus, PROGRAM), played(bus, PROGRAM, element([(FIELD, "/f")])), played(bus, FIELD, field):
        assert ToldFields(Bus(bus)).is_secret(os.getpid()) is found


def test_programs_and_elements_that_have_just_gone_hide_no_password_field(bus: str) -> None:
    field = element([], PASSWORD, FOCUSED | SHOWING)
    program = element([("org.played.Gone", "/e"), (FIELD, "/f")])
    with programs(bus, "org.played.Ended", PROGRAM), played(bus, PROGRAM, program), played(bus, FIELD, field):
        assert ToldFields(Bus(bus)).is_secret(os.getpid())


def test_a_program_that_does_not_answer_is_not_waited_for(bus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(focused_field, "_ANSWER_S", 0.2)
    over = threading.Event()

    def hang(method: str, body: tuple[Any, ...]) -> None:
        over.wait(10)

    with programs(bus, PROGRAM), played(bus, PROGRAM, PlayedService(on_call=hang)):
        began = time.monotonic()
        found = ToldFields(Bus(bus)).is_secret(os.getpid())
        took_s = time.monotonic() - began
        over.set()
    assert not found
    # A call that is waited for as long as others are would take five seconds.
    assert took_s < 4
