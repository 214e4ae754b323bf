"""The controller's own rules, with its collaborators recorded; the real chain is in tests/integration."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sayso.app.assistant import Assistant
from sayso.app.audio.level import Level
from sayso.app.audio.listener import MicrophoneChanged, SpeechAudio, SpeechEnded, SpeechMissed, SpeechStarted
from sayso.app.commands_view import CommandsView
from sayso.app.desktop_file import Autostart
from sayso.app.engine_view import EngineView
from sayso.app.feed import Feed
from sayso.app.first_run_view import FirstRunView
from sayso.app.history.view import HistoryView
from sayso.app.memory_view import MemoryView
from sayso.app.microphone_check_view import MicrophoneCheckView
from sayso.app.options import Options
from sayso.app.panels import Panels
from sayso.app.question import Surroundings
from sayso.app.realtime.errors import RealtimeError
from sayso.app.realtime.events import Connection, TurnDone, TurnStable, TurnTentative
from sayso.app.remote_server_view import RemoteServerView
from sayso.app.settings import Loaded, Settings, load
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import (
    DesktopState,
    LineKind,
    MicrophoneState,
    Mode,
    ServerKind,
    ServerState,
    ServerView,
    Snapshot,
)
from sayso.app.ways_view import WaysView


@dataclass
class Chain:
    """The assistant and what it asked of its collaborators."""

    assistant: Assistant
    published: list[Snapshot]
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    submitted: list[tuple[int, str]] = field(default_factory=list)
    complete: bool = False

    @property
    def now(self) -> Snapshot:
        return self.published[-1]

    async def settle(self) -> None:
        """Let every task that can run, run."""
        for _ in range(20):
            await asyncio.sleep(0)

    def record(self, *what: Any) -> None:
        self.asked.append(what)

    async def record_later(self, *what: Any) -> None:
        self.asked.append(what)


def collaborators(chain: Chain, beside: Any = ()) -> None:
    async def look_around() -> Surroundings:
        return Surroundings()

    async def microphones() -> list[SimpleNamespace]:
        return [SimpleNamespace(name="desk", label="Desk microphone")]

    async def use_remote(url: str, key: str, model: str | None) -> str:
        if url == "wrong address":
            raise RealtimeError("bad_url", "“wrong address” is no server address.", lasting=True)
        chain.record("remote", url, key)
        server.view = ServerView(ServerKind.REMOTE, ServerState.CONNECTING, url)
        server.model = model or ""
        return ""

    listener = SimpleNamespace(
        start=lambda device: chain.record_later("start", device),
        stop=lambda: chain.record_later("stop"),
        close=lambda: chain.record_later("close microphone"),
        expedite=lambda: chain.record("expedite"),
        is_running=True,
        set_wait_ms=lambda wait_ms: chain.record("wait", wait_ms),
        microphones=microphones,
    )
    turns = iter(range(1, 100))
    client = SimpleNamespace(
        begin=lambda: next(turns),
        append=lambda turn, samples: chain.record("append", turn, len(samples)),
        end=lambda turn: chain.record("end", turn),
        cancel=lambda turn: chain.record("cancel", turn),
        finished=lambda seconds: asyncio.sleep(0, True),
        expect_words=lambda words: chain.record("expect", words),
        weigh_texts=lambda on, expected: chain.record("weigh", on, expected),
        close=lambda: chain.record_later("close client"),
    )
    commander = SimpleNamespace(
        feed=Feed(),
        mode=Mode.COMMANDS,
        expected=("Volume up",),
        weighs=True,
        grammar=SimpleNamespace(expected=("Volume up.",)),
        expected_phrase="",
        asleep=False,
        wake=lambda: None,
        look_around=look_around,
        forget=lambda: chain.record("forget"),
        is_complete=lambda heard: chain.complete,
        submit=lambda said, around: chain.submitted.append((said.turn, said.text)),
        run=lambda: asyncio.sleep(3600),
        finished=lambda: asyncio.sleep(0),
        close=lambda: chain.record_later("close commander"),
    )
    server = SimpleNamespace(
        view=ServerView(ServerKind.EMBEDDED, ServerState.READY),
        begin=lambda: chain.record_later("begin"),
        apply=lambda event: chain.record_later("apply", event.state),
        use_remote=use_remote,
        use_embedded=lambda: chain.record_later("embedded"),
        close=lambda: chain.record_later("close server"),
    )
    options = Options(chain.assistant._store, listener, chain.assistant.changed, chain.assistant.spawn)  # type: ignore[arg-type]
    memory = SimpleNamespace(
        view=MemoryView(),
        about_to_speak=lambda: chain.record("about to speak"),
        connection=lambda event: chain.record("connection", event.state),
    )
    ways = SimpleNamespace(
        view=WaysView(),
        listens_at_start=chain.assistant._store.settings.listens_at_start,
        begin=lambda: chain.record("begin ways"),
        utterance_ended=lambda: chain.record("utterance ended"),
        close=lambda: chain.record("close ways"),
    )
    servers: Any = SimpleNamespace(view=RemoteServerView())
    check: Any = SimpleNamespace(view=MicrophoneCheckView())
    commands: Any = SimpleNamespace(view=CommandsView())
    history: Any = SimpleNamespace(
        view=HistoryView(),
        run=lambda: chain.record_later("run history"),
        close=lambda: chain.record_later("close history"),
    )
    engine: Any = SimpleNamespace(view=EngineView())
    guide: Any = SimpleNamespace(view=FirstRunView())
    panels = Panels(
        engine=engine,
        guide=guide,
        options=options,
        servers=servers,
        check=check,
        memory=memory,
        ways=ways,
        history=history,
        commands=commands,
    )  # type: ignore[arg-type]
    chain.assistant.join(listener, client, commander, server, panels, beside)  # type: ignore[arg-type]


@pytest.fixture
async def chain(tmp_path: Path) -> AsyncIterator[Chain]:
    published: list[Snapshot] = []
    store = SettingsStore(Loaded(Settings()), tmp_path)
    made = Chain(Assistant(published.append, store, Autostart(tmp_path)), published)
    collaborators(made)
    running = asyncio.create_task(made.assistant.run())
    await made.settle()
    yield made
    made.assistant.quit()
    await asyncio.wait_for(running, 10)


def speak(chain: Chain, seconds: float = 0.5) -> None:
    chain.assistant.hear(SpeechStarted(1000.0))
    chain.assistant.hear(SpeechAudio(np.zeros(int(seconds * 16_000), np.float32)))


async def test_it_listens_from_the_start(chain: Chain) -> None:
    assert chain.now.state is DesktopState.LISTENING
    assert ("start", "") in chain.asked


async def test_it_waits_to_be_started_where_the_user_wants_that(tmp_path: Path) -> None:
    published: list[Snapshot] = []
    store = SettingsStore(Loaded(Settings(listens_at_start=False)), tmp_path)
    made = Chain(Assistant(published.append, store, Autostart(tmp_path)), published)
    collaborators(made)
    running = asyncio.create_task(made.assistant.run())
    await made.settle()
    assert made.now.state is DesktopState.IDLE
    assert ("start", "") not in made.asked
    assert ("begin",) in made.asked
    made.assistant.start()
    await made.settle()
    assert ("start", "") in made.asked
    made.assistant.quit()
    await asyncio.wait_for(running, 10)


async def test_who_starts_listening_finds_what_rests_started_before_the_first_word(chain: Chain) -> None:
    chain.assistant.stop()
    chain.asked.clear()
    chain.assistant.start()
    await chain.settle()
    assert chain.asked.index(("about to speak",)) < chain.asked.index(("start", ""))


async def test_an_utterance_is_one_turn_and_its_text_goes_to_the_commander(chain: Chain) -> None:
    speak(chain)
    chain.assistant.hear(SpeechEnded(1000.5))
    chain.assistant.receive(TurnStable(1, "volume up"))
    chain.assistant.receive(TurnDone(1, "volume up"))
    assert [asked for asked in chain.asked if asked[0] in ("append", "end")] == [("append", 1, 8000), ("end", 1)]
    assert chain.submitted == [(1, "volume up")]
    assert chain.now.lines[0].stable == "volume up"


async def test_a_turn_without_words_leaves_no_line_and_commands_nothing(chain: Chain) -> None:
    speak(chain)
    chain.assistant.hear(SpeechEnded(1000.5))
    chain.assistant.receive(TurnDone(1, ""))
    assert chain.now.lines == ()
    assert chain.submitted == []


async def test_what_was_not_heard_is_shown_with_its_length_in_the_utterance_or_between_two(chain: Chain) -> None:
    speak(chain)
    chain.assistant.hear(SpeechMissed(2.5))
    chain.assistant.hear(SpeechEnded(1000.5))
    chain.assistant.receive(TurnDone(1, "volume up"))
    chain.assistant.hear(SpeechMissed(4.0))
    assert [(line.stable, line.lost_ms) for line in chain.now.lines] == [("volume up", 2500), ("", 4000)]
    assert chain.now.lines[1].kind is LineKind.MISSED


async def test_what_runs_beside_runs_as_long_as_the_assistant(tmp_path: Path) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def beside() -> None:
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    store = SettingsStore(Loaded(Settings()), tmp_path)
    made = Chain(Assistant(lambda _: None, store, Autostart(tmp_path)), [])
    collaborators(made, beside=[beside])
    running = asyncio.create_task(made.assistant.run())
    async with asyncio.timeout(15):
        await begun.wait()
    assert not ended.is_set()
    made.assistant.quit()
    await asyncio.wait_for(running, 15)
    assert ended.is_set()


async def test_a_whole_command_shortens_the_wait_only_while_it_is_being_said(chain: Chain) -> None:
    chain.complete = True
    speak(chain)
    chain.assistant.receive(TurnTentative(1, "volume up"))
    assert chain.asked.count(("expedite",)) == 1
    chain.assistant.hear(SpeechEnded(1000.5))
    chain.assistant.receive(TurnStable(1, "volume up"))
    assert chain.asked.count(("expedite",)) == 1


async def test_a_lost_server_is_shown_and_the_microphone_stays_open(chain: Chain) -> None:
    chain.assistant.receive(Connection(ServerState.LOST))
    await chain.settle()
    assert chain.now.state is DesktopState.RECONNECTING
    chain.assistant.receive(Connection(ServerState.CONNECTING))
    await chain.settle()
    assert chain.now.state is DesktopState.RECONNECTING
    chain.assistant.receive(Connection(ServerState.READY))
    await chain.settle()
    assert chain.now.state is DesktopState.LISTENING
    assert ("stop",) not in chain.asked


async def test_words_shown_before_a_loss_stay(chain: Chain) -> None:
    speak(chain)
    chain.assistant.receive(TurnStable(1, "the words"))
    chain.assistant.receive(Connection(ServerState.LOST))
    await chain.settle()
    assert chain.now.lines[0].stable == "the words"


async def test_stop_closes_the_microphone_and_start_opens_it_again(chain: Chain) -> None:
    chain.assistant.toggle()
    await chain.settle()
    assert chain.now.state is DesktopState.IDLE
    assert chain.asked[-1] == ("stop",)
    chain.assistant.toggle()
    await chain.settle()
    assert chain.now.state is DesktopState.LISTENING
    assert chain.asked[-1] == ("start", "")


async def test_what_is_cancelled_is_neither_shown_nor_done_and_the_next_utterance_is(chain: Chain) -> None:
    speak(chain)
    chain.assistant.hear(SpeechEnded(1000.5))
    speak(chain)
    chain.assistant.receive(TurnStable(2, "volume"))
    chain.assistant.cancel()
    assert [asked for asked in chain.asked if asked[0] == "cancel"] == [("cancel", 1), ("cancel", 2)]
    assert chain.now.lines == ()
    chain.assistant.hear(SpeechAudio(np.zeros(800, np.float32)))
    chain.assistant.hear(SpeechEnded(1001.0))
    chain.assistant.receive(TurnDone(2, "volume up"))
    assert [asked[1] for asked in chain.asked if asked[0] == "append"] == [1, 2]
    assert chain.submitted == []
    speak(chain)
    chain.assistant.receive(TurnDone(3, "mute"))
    assert chain.submitted == [(3, "mute")]


async def test_that_it_goes_on_in_the_tray_is_told_once_and_never_again(chain: Chain, tmp_path: Path) -> None:
    chain.assistant.retreated()
    assert [notice.code for notice in chain.now.notices] == ["tray"]
    chain.assistant.dismiss("tray")
    chain.assistant.retreated()
    assert chain.now.notices == ()
    await chain.assistant._store.written()
    assert load(tmp_path).settings.told_of_tray


async def test_whether_closing_goes_to_the_tray_is_kept(chain: Chain, tmp_path: Path) -> None:
    assert chain.now.close_to_tray
    chain.assistant.set_close_to_tray(False)
    assert not chain.now.close_to_tray
    await chain.assistant._store.written()
    assert not load(tmp_path).settings.close_to_tray


async def test_it_starts_with_the_session_when_asked_and_no_more_when_asked(chain: Chain, tmp_path: Path) -> None:
    for on in (True, False):
        chain.assistant.set_start_with_session(on)
        await asyncio.wait_for(asyncio.gather(*chain.assistant._tasks), 10)
        assert chain.now.starts_with_session is on
        assert (tmp_path / "autostart" / "sayso.desktop").exists() is on


async def test_what_cannot_be_written_for_the_session_is_told(chain: Chain, tmp_path: Path) -> None:
    (tmp_path / "autostart").write_text("in the way")
    chain.assistant.set_start_with_session(True)
    await asyncio.wait_for(asyncio.gather(*chain.assistant._tasks), 10)
    assert [notice.code for notice in chain.now.notices] == ["desktop_file_unwritable"]
    assert not chain.now.starts_with_session


async def test_a_wrong_address_is_told_and_changes_nothing(chain: Chain) -> None:
    chain.assistant.use_remote("wrong address", "")
    await chain.settle()
    assert [notice.code for notice in chain.now.notices] == ["server"]
    assert "wrong address" in chain.now.notices[0].text
    chain.assistant.dismiss("server")
    assert chain.now.notices == ()


async def test_the_microphone_is_shown_as_it_is(chain: Chain) -> None:
    chain.assistant.hear(MicrophoneChanged(MicrophoneState.NO_SIGNAL, "Desk microphone", "Only silence comes."))
    assert chain.now.microphone.state is MicrophoneState.NO_SIGNAL
    assert chain.now.microphone.detail == "Only silence comes."


async def test_a_level_that_looks_the_same_changes_nothing(chain: Chain) -> None:
    chain.assistant.hear(Level(-40.0, False))
    assert chain.now.microphone.level_db == -40.0
    published = len(chain.published)
    chain.assistant.hear(Level(-40.2, False))
    assert len(chain.published) == published
    chain.assistant.hear(Level(-40.2, True))
    chain.assistant.hear(Level(-30.0, True))
    assert [each.microphone.clipping for each in chain.published[published:]] == [True, True]
    assert chain.now.microphone.level_db == -30.0


async def test_the_server_is_told_what_is_likely_to_be_said_and_again_when_the_mode_changes(chain: Chain) -> None:
    assert chain.asked[0] == ("expect", ("Volume up",))
    assert ("weigh", True, ("Volume up.",)) in chain.asked
    commander: Any = chain.assistant._commander
    commander.mode, commander.expected, commander.weighs = Mode.DICTATION, (), False
    chain.assistant.changed()
    assert chain.asked[-2:] == [("expect", ()), ("weigh", False, ())]


async def test_the_server_is_told_when_other_texts_matter_no_more_and_asleep_to_look_for_nothing(chain: Chain) -> None:
    commander: Any = chain.assistant._commander
    commander.asleep = True
    chain.assistant.changed()
    assert chain.asked[-1] == ("weigh", True, ())
    commander.weighs = False
    chain.assistant.changed()
    assert chain.asked[-1] == ("weigh", False, ())


async def test_the_server_is_told_of_another_grammar(chain: Chain) -> None:
    commander: Any = chain.assistant._commander
    commander.grammar = SimpleNamespace(expected=("Make tea.",))
    chain.assistant.changed()
    assert chain.asked[-1] == ("weigh", True, ("Make tea.",))


async def test_the_server_is_told_the_wake_phrase_when_it_counts(chain: Chain) -> None:
    commander: Any = chain.assistant._commander
    commander.expected_phrase, commander.expected = "hey sayso", ("Hey sayso", "Volume up")
    chain.assistant.changed()
    chain.assistant.changed()
    assert chain.asked.count(("expect", ("Hey sayso", "Volume up"))) == 1


async def test_the_ways_to_listen_begin_with_it_are_told_of_utterances_and_end_with_it(chain: Chain) -> None:
    assert chain.asked[1] == ("begin ways",)
    speak(chain)
    assert ("utterance ended",) not in chain.asked
    chain.assistant.hear(SpeechEnded(1000.5))
    assert ("utterance ended",) in chain.asked
    chain.assistant.quit()
    await chain.settle()
    assert ("close ways",) in chain.asked


async def test_what_became_of_an_utterance_is_marked_on_its_line(chain: Chain) -> None:
    speak(chain)
    chain.assistant.receive(TurnDone(1, "volume up"))
    chain.assistant.outcome(1, LineKind.COMMAND)
    assert chain.now.lines[0].kind is LineKind.COMMAND


async def test_quitting_gives_everything_back(tmp_path: Path) -> None:
    published: list[Snapshot] = []
    made = Chain(Assistant(published.append, SettingsStore(Loaded(Settings()), tmp_path)), published)
    collaborators(made)
    running = asyncio.create_task(made.assistant.run())
    await made.settle()
    made.assistant.quit()
    await asyncio.wait_for(running, 10)
    assert published[-1].state is DesktopState.QUITTING
    assert {("close microphone",), ("close client",), ("close server",)} <= set(made.asked)


async def test_what_was_said_in_the_session_can_be_forgotten_and_the_open_line_goes_on(chain: Chain) -> None:
    for turn, text in ((1, "open firefox"), (2, "")):
        speak(chain)
        chain.assistant.hear(SpeechEnded(1001.0))
        if text:
            chain.assistant.receive(TurnDone(turn, text))
    chain.assistant.forget_session()
    chain.assistant.changed()
    assert [line.id for line in chain.now.lines] == [2]
    assert ("forget",) in chain.asked
