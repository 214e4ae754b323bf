"""What a server's word about its engine means for the connection."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from sayso.app.realtime.engine_news import told_by_engine
from sayso.app.realtime.events import Connection
from sayso.app.snapshot import ServerState
from sayso.server.protocol.events import EngineState

URL = "ws://one:1/v1/realtime"


def test_a_ready_engine_names_its_model_where_any_was_asked_for() -> None:
    told = told_by_engine(EngineState("ready", "tiny.en on cpu", "tiny.en"), URL, "auto")
    assert told == Connection(ServerState.READY, URL, "tiny.en", "tiny.en on cpu", "")


@pytest.mark.parametrize(("asked", "named"), [("auto", ""), ("large", "large")])
def test_a_server_that_names_no_model_leaves_the_one_that_was_asked_for(asked: str, named: str) -> None:
    assert told_by_engine(EngineState("ready"), URL, asked).model == named


@pytest.mark.parametrize("state", get_args(get_type_hints(EngineState)["state"]))
def test_every_word_means_something_and_only_a_ready_engine_needs_no_words(state: str) -> None:
    told = told_by_engine(EngineState(state), URL, "auto")  # type: ignore[arg-type]
    assert bool(told.detail) is (state != "ready")
    assert told.code == ("" if state == "ready" else state)
