"""Turns of a client whose engine or connection is lost at moments drawn from a seed, over a real model.

``LostTurn`` is the server's turn engine, ``LostConnection`` the desktop's uplink before one such server after another.
Everything runs in this process, without sockets or clocks: what is heard when follows from the seed alone.
"""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Iterable, Sequence

import msgspec

from sayso.app.realtime.events import TurnDone, TurnStable
from sayso.app.realtime.uplink import Uplink, UplinkEvent
from sayso.app.realtime.wire import decode, encode
from sayso.engine import messages as m
from sayso.engine.loading import Loaded
from sayso.engine.session import Session
from sayso.server.protocol import intents
from sayso.server.protocol.dialects.vllm import VllmDialect
from sayso.server.protocol.events import ClientEvent, SaysoOptions, SessionUpdate
from sayso.server.protocol.intents import EngineNews, Served
from sayso.server.turns import Output, TurnEngine

PIECES = (3_200, 6_400, 6_400, 16_000, 64_000)
"""Bytes of one append."""
ROUNDS = (0, 1, 1, 2, 4, 100)
"""So often an engine that has little or much time looks at what came."""
MOST_ROUNDS = 10_000
SERVED = Served(frozenset({"auto"}), certain=True)


class Ear:
    """An engine with one session; another one has heard nothing."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._session: Session | None = None

    def handle(self, message: m.Message) -> None:
        runner, session = self._loaded.runner, self._session
        match message:
            case m.Open():
                self._session = Session(
                    message.session, message.epoch, message.options, runner.stream, gated=runner.gated
                )
            case m.Audio() if session is not None:
                session.receive(message.epoch, message.samples)
            case m.Flush() if session is not None:
                session.flush(message.epoch, message.marker)

    def round(self) -> tuple[list[m.Up], bool]:
        """What is to be said, and whether anything was left to do."""
        session, out, worked = self._session, list[m.Message](), False
        if session is None:
            return [], False
        if session.examinable:
            worked = True
            frames = session.examine(62)
            rows, states = self._loaded.detector.run([frames], [session.detector_state])  # type: ignore[list-item]
            session.detector_state = states[0]
            session.heard(rows[0])
        out += session.results()
        if session.offer(0.0) is not None and session.stream is not None:
            worked = True
            self._loaded.runner.run([session.stream])
            out += session.results()
        return out, worked  # type: ignore[return-value]


class LostTurn:
    """One turn of a client, with ``losses`` of its engine."""

    def __init__(self, loaded: Loaded, seed: int, losses: int) -> None:
        self._loaded, self._chance = loaded, random.Random(seed)
        self._losses = losses
        self._turns = TurnEngine("c", SERVED, EngineNews("ready"))
        self._ear = Ear(loaded)
        self._away = False
        self._text = ""
        self._done: str | None = None

    def said(self, pcm: bytes) -> list[str]:
        """The words of the turn, which its deltas make up."""
        moments = sorted(self._chance.randrange(32_000, len(pcm)) for _ in range(self._losses))
        self._take(self._turns.intent(intents.Choose("auto")))
        self._take(self._turns.intent(intents.StartTurn()))
        at = 0
        while at < len(pcm):
            size = self._chance.choice(PIECES)
            self._take(self._turns.intent(intents.AddAudio(pcm[at : at + size])))
            at += size
            if self._away and self._chance.random() < 0.4:
                self._come_back()
            self._hear(self._chance.choice(ROUNDS))
            if moments and at >= moments[0] and not self._away:
                del moments[0]
                self._lose()
        self._take(self._turns.intent(intents.EndTurn()))
        self._come_back()
        self._hear(MOST_ROUNDS)
        assert self._done == self._text
        return words(self._text)

    def _lose(self) -> None:
        self._ear, self._away = Ear(self._loaded), True
        self._take(self._turns.engine_news(EngineNews("restarting"), SERVED))

    def _come_back(self) -> None:
        self._away = False
        self._take(self._turns.engine_news(EngineNews("ready"), SERVED))

    def _hear(self, rounds: int) -> None:
        for _ in range(rounds):
            out, worked = self._ear.round()
            for message in out:
                self._take(self._turns.engine_message(message))
            if not worked:
                return

    def _take(self, outputs: Iterable[Output]) -> None:
        for output in outputs:
            match output:
                case intents.StableText():
                    self._text += output.piece
                case intents.TurnDone():
                    self._done = output.text
                case intents.Trouble():
                    raise AssertionError(output)
                case m.Message():
                    self._ear.handle(output)


class LostConnection:
    """One turn of the desktop, with ``losses`` of its server; what both say goes through the wire's own form."""

    def __init__(self, loaded: Loaded, seed: int, losses: int) -> None:
        self._loaded, self._chance = loaded, random.Random(seed)
        self._losses = losses
        self._uplink = Uplink()
        self._text = ""
        self._done: str | None = None
        self._away = True

    def said(self, pcm: bytes) -> list[str]:
        """The words of the turn."""
        moments = sorted(self._chance.randrange(32_000, len(pcm)) for _ in range(self._losses))
        self._connect()
        turn, at = self._uplink.begin(), 0
        while at < len(pcm):
            size = self._chance.choice(PIECES)
            self._note(self._uplink.append(turn, pcm[at : at + size]))
            at += size
            if self._away and self._chance.random() < 0.4:
                self._connect()
            self._talk(self._chance.choice(ROUNDS))
            if moments and at >= moments[0] and not self._away:
                del moments[0]
                self._away = True
                self._note(self._uplink.disconnected())
        self._note(self._uplink.end(turn))
        if self._away:
            self._connect()
        self._talk(MOST_ROUNDS)
        assert self._done == self._text
        return words(self._text)

    def _connect(self) -> None:
        """Another server, with an engine that has heard nothing."""
        self._away, self._ear = False, Ear(self._loaded)
        self._turns, self._dialect = TurnEngine("c", SERVED, EngineNews("ready")), VllmDialect("c")
        self._put(SessionUpdate(model="auto", sayso=SaysoOptions(("partial", "words", "marker", "engine"))))
        self._uplink.connected(sayso=True)

    def _talk(self, rounds: int) -> None:
        """What is to be sent, and what comes back for it."""
        while not self._away and (message := self._uplink.next_message()) is not None:
            self._put(message)
        for _ in range(0 if self._away else rounds):
            out, worked = self._ear.round()
            for message in out:
                self._take(self._turns.engine_message(message))
            if not worked:
                return

    def _put(self, event: ClientEvent) -> None:
        self._take(self._turns.intent(self._dialect.decode(encode(event))))

    def _take(self, outputs: Iterable[Output]) -> None:
        for output in outputs:
            if isinstance(output, m.Message):
                self._ear.handle(output)
                continue
            for event in self._dialect.encode(output):
                received = decode(msgspec.json.encode(event))
                if received is not None:
                    self._note(self._uplink.received(received))

    def _note(self, events: Sequence[UplinkEvent]) -> None:
        for event in events:
            match event:
                case TurnStable():
                    self._text += event.text
                case TurnDone():
                    self._done = event.text


def words(text: str) -> list[str]:
    return re.sub(r"[^\w' ]", "", text.casefold()).split()


def torn(expected: list[str], found: list[str]) -> list[str]:
    """Places at which ``found`` has more than two words too many or too few; a recogniser may differ by fewer."""
    places = difflib.SequenceMatcher(None, expected, found, autojunk=False).get_opcodes()
    return [
        f"{' '.join(expected[a:b])!r} became {' '.join(found[c:d])!r}"
        for kind, a, b, c, d in places
        if kind != "equal" and abs((b - a) - (d - c)) > 2
    ]
