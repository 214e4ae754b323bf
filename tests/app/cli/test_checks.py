"""What the doctor says about a microphone."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from sayso.app.audio.level import Level
from sayso.app.audio.listener import MicrophoneChanged
from sayso.app.cli.checks import microphone_result, model_files
from sayso.app.snapshot import MicrophoneState

CLOSED = MicrophoneChanged(MicrophoneState.CLOSED, "USB")


def state(kind: MicrophoneState, detail: str = "") -> list[MicrophoneChanged]:
    return [MicrophoneChanged(MicrophoneState.OPENING), MicrophoneChanged(kind, "USB", detail), CLOSED]


def test_a_microphone_that_is_heard_works() -> None:
    result = microphone_result(state(MicrophoneState.READY), [Level(-60.0, False), Level(-31.4, False)])
    assert result.works is True
    assert "USB" in result.words
    assert "-31 dBFS" in result.words


def test_only_zeros_are_a_fault_with_something_to_do() -> None:
    result = microphone_result(state(MicrophoneState.NO_SIGNAL), [Level(-96.0, False)])
    assert result.works is False
    assert "Unmute" in result.words


def test_no_microphone_is_a_fault_in_the_listeners_words() -> None:
    result = microphone_result(state(MicrophoneState.MISSING, "No microphone was found."), [])
    assert (result.works, result.words) == (False, "No microphone was found.")


def test_a_microphone_that_another_program_has_is_a_fault_in_the_listeners_words() -> None:
    result = microphone_result(state(MicrophoneState.UNUSABLE, "It is in use."), [])
    assert (result.works, result.words) == (False, "It is in use.")


def test_clipping_is_worth_knowing() -> None:
    result = microphone_result(state(MicrophoneState.HEARING), [Level(-1.0, True)])
    assert result.works is None
    assert "clips" in result.words


@pytest.fixture
def _nothing_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without fetched models, on which any connection fails the test."""

    def refuse(*address: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setenv("SAYSO_MODELS", str(tmp_path))
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("_nothing_fetched")
def test_a_model_that_is_not_here_is_told_and_not_fetched() -> None:
    for name in ("large-v3", "somebody/some-model"):
        result = model_files(name)
        assert result.works is False
        assert result.words.endswith(f"sayso models pull {name}")


@pytest.mark.usefixtures("_nothing_fetched")
def test_a_model_that_nobody_knows_is_told_with_those_that_are_known() -> None:
    result = model_files("no model")
    assert result.works is False
    assert "tiny.en" in result.words
