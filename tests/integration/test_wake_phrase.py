"""The wake phrase through the real recogniser in four voices: found when said, and ordinary speech not taken for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from running_engine import EngineProcess
from speech import say

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.phrase import after_phrase

pytestmark = [pytest.mark.engine, pytest.mark.timeout(180)]

PHRASE = "hey sayso"
VOICES = ("hibari", "american", "british", "woman")
ORDINARY = ("Hey, so what did you say?", "I told her to close the window.")


class Recogniser:
    """The engine, told to expect the phrase and the commands, as the desktop tells it."""

    def __init__(self, engine: EngineProcess) -> None:
        self._engine = engine
        self._expected = (PHRASE.capitalize(), *(each.say.capitalize() for each in Grammar.load().commands.values()))
        self._sessions = 0

    def hear(self, text: str, voice: str) -> str:
        self._sessions += 1
        session = f"s{self._sessions}"
        self._engine.open(session, bias=self._expected)
        self._engine.audio(session, say(text, voice))
        self._engine.flush(session, 1)
        return self._engine.transcript(session)


@pytest.fixture(scope="module")
def recogniser() -> Iterator[Recogniser]:
    with EngineProcess() as engine:
        engine.load()
        yield Recogniser(engine)


@pytest.mark.parametrize("voice", VOICES)
def test_the_phrase_is_found_alone_and_before_a_command(recogniser: Recogniser, voice: str) -> None:
    alone = recogniser.hear("hey sayso", voice)
    assert after_phrase(alone, PHRASE) == "", alone
    before = recogniser.hear("hey sayso, open firefox", voice)
    rest = after_phrase(before, PHRASE)
    assert rest is not None, before
    assert rest.lower().strip(".!") == "open firefox"


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_speech_is_not_taken_for_it(recogniser: Recogniser, text: str, voice: str) -> None:
    heard = recogniser.hear(text, voice)
    assert after_phrase(heard, PHRASE) is None, heard
