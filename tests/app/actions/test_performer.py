"""Actions run one at a time, within a limit, and never on the event loop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable

import pytest
from spoken_actions import Hands
from virtual_desktop import Terminal

from sayso.app.actions import ActionError, Performer, create
from sayso.app.actions.base import Done, Job
from sayso.app.actions.desktop import detect
from sayso.app.actions.desktop.none import NO_DISPLAY, Refusing
from sayso.app.actions.typing import Typist
from sayso.app.actions.undo import UndoLog
from sayso.app.alarms import Alarms
from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match
from sayso.app.commands.names import Named

Said = Callable[[str], Match]


class Slow:
    """An action that goes on until it is told to stop, in place of the volume."""

    family = "volume"

    def __init__(self) -> None:
        self.started = threading.Event()
        self.stopped = threading.Event()
        self.running = 0
        self.most = 0

    def describe(self, match: Match) -> str:
        return match.title

    def perform(self, job: Job) -> Done:
        self.running += 1
        self.most = max(self.most, self.running)
        self.started.set()
        halted = job.halt.wait(0.05 if job.match.command.verb == "mute" else 10)
        self.running -= 1
        if halted:
            self.stopped.set()
            raise ActionError("cancelled", "Cancelled.")
        return Done()

    def names(self) -> list[Named]:
        return []


def performer_of(action: Slow, timeout_s: float = 20.0) -> Performer:
    backend = Refusing("none", NO_DISPLAY)
    return Performer([action], backend, Typist(backend, 0), UndoLog(), 0, timeout_s)


async def test_the_event_loop_goes_on_while_an_action_runs_and_a_cancelled_action_stops(said: Said) -> None:
    slow = Slow()
    running = asyncio.ensure_future(performer_of(slow).perform(said("volume up")))
    await asyncio.to_thread(slow.started.wait, 5)
    assert slow.started.is_set()

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert slow.stopped.is_set()


async def test_an_action_that_takes_too_long_is_stopped_and_said_to_have_timed_out(said: Said) -> None:
    slow = Slow()

    with pytest.raises(ActionError) as refused:
        await performer_of(slow, timeout_s=0.1).perform(said("volume up"))

    assert refused.value.code == "timed_out"
    assert slow.stopped.is_set()


class Faulty(Slow):
    """An action with a mistake in it, whose exception repeats what was said."""

    heard = "swordfish"

    def perform(self, job: Job) -> Done:
        raise ValueError(self.heard)


async def test_a_fault_that_nothing_foresaw_is_one_of_the_action_and_its_words_are_not_logged(
    said: Said, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ActionError) as refused:
        await performer_of(Faulty()).perform(said("volume up"))

    assert refused.value.code == "fault"
    assert "ValueError" in caplog.text
    assert "in perform" in caplog.text
    assert "swordfish" not in caplog.text


async def test_actions_run_one_at_a_time(said: Said) -> None:
    slow = Slow()
    performer = performer_of(slow)

    await asyncio.gather(*(performer.perform(said("mute")) for _ in range(5)))

    assert slow.most == 1


async def test_what_the_assistant_does_itself_is_not_performed(said: Said) -> None:
    performer = create(environment={})
    for sentence in ("stop listening", "start listening", "command mode", "dictation mode"):
        match = said(sentence)
        assert not performer.performs(match)
        assert performer.describe(match) == match.title
        with pytest.raises(ActionError) as refused:
            await performer.perform(match)
        assert refused.value.code == "not_an_action"


async def test_every_other_command_of_the_grammar_has_an_action(said: Said) -> None:
    performer = create(environment={}, alarms=Alarms())
    for command in Grammar.load().commands.values():
        match = said(command.say)
        assert performer.performs(match) is (command.family not in ("listening", "mode"))
        assert performer.describe(match)


async def test_undo_that_with_nothing_to_undo_is_refused(said: Said) -> None:
    with pytest.raises(ActionError) as refused:
        await create(environment={}).perform(said("undo that"))

    assert refused.value.code == "nothing_to_undo"


@pytest.mark.desktop
async def test_a_display_that_goes_away_is_a_coded_error_and_a_new_one_is_used(
    hands: Hands, terminal: Terminal
) -> None:
    backend = detect(hands.desktop.environment)
    performer = create(backend, environment=hands.desktop.environment)
    await performer.perform(hands.read("type one"))
    backend.interrupt()

    with pytest.raises(ActionError) as refused:
        await performer.perform(hands.read("type two"))
    await performer.perform(hands.read("type three"))
    await performer.close()

    assert refused.value.code == "display_lost"
    await asyncio.to_thread(terminal.wait_for_text, "three")
    assert terminal.text == "onethree"


@pytest.mark.desktop
async def test_a_stuck_display_is_given_up_within_the_limit(hands: Hands, terminal: Terminal) -> None:
    performer = create(environment=hands.desktop.environment, timeout_s=0.5)
    await performer.perform(hands.read("type one"))
    x_server = _x_server(hands.desktop.display)
    os.kill(x_server, signal.SIGSTOP)
    started = time.monotonic()
    try:
        with pytest.raises(ActionError) as refused:
            await performer.perform(hands.read("type two"))
    finally:
        os.kill(x_server, signal.SIGCONT)
    await performer.close()

    assert refused.value.code == "timed_out"
    assert time.monotonic() - started < 10


@pytest.mark.desktop
async def test_no_typed_text_is_logged(hands: Hands, terminal: Terminal, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await hands.do("type swordfish")
        await hands.performer.type("swordfish again")
        await hands.do("scratch that")

    assert "swordfish" not in caplog.text
    assert "typing.text" in caplog.text


async def test_what_needs_a_display_says_what_to_do(said: Said) -> None:
    for environment, hint in (
        ({}, "DISPLAY"),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, "Wayland"),
        ({"XDG_SESSION_TYPE": "wayland", "DISPLAY": ":0"}, "Wayland"),
    ):
        performer = create(environment=environment)
        for sentence in ("type hello", "press enter", "close window", "next window", "switch to firefox"):
            with pytest.raises(ActionError) as refused:
                await performer.perform(said(sentence))
            assert refused.value.code == "needs_x11"
            assert hint in str(refused.value)
        assert await performer.target() is None
        assert len(await performer.names()) >= 0


async def test_a_display_that_is_not_there_is_a_coded_error(said: Said) -> None:
    performer = create(environment={"DISPLAY": ":9876"})

    with pytest.raises(ActionError) as refused:
        await performer.perform(said("type hello"))

    assert refused.value.code == "display_missing"
    assert await performer.target() is None


def _x_server(display: str) -> int:
    """The process at the other end of a display's socket."""
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(f"/tmp/.X11-unix/X{display.removeprefix(':')}")
        return struct.unpack("=iII", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
