"""The single controller: microphone, server, transcript and commands in; snapshots out. Runs on the event loop.

It is the only file that knows all of them. Data flows one way down (speech to the server) and one way up (text to
lines, commands and a snapshot); the window sees only snapshots and calls only intents.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from sayso.app.audio.level import Level, looks_different
from sayso.app.audio.listener import (
    Listener,
    ListenerEvent,
    MicrophoneChanged,
    SpeechAudio,
    SpeechEnded,
    SpeechMissed,
    SpeechStarted,
)
from sayso.app.cancellation import cancel
from sayso.app.commander import Commander
from sayso.app.commands.grammar import Grammar
from sayso.app.desktop_file import Autostart
from sayso.app.desktop_state import DesktopStateMachine
from sayso.app.errors import AppError, where_from
from sayso.app.panels import PanelIntents, Panels
from sayso.app.question import Surroundings
from sayso.app.realtime.client import RealtimeClient
from sayso.app.realtime.events import Behind, Connection, RealtimeEvent, TurnDone, TurnStable, TurnTentative
from sayso.app.said import Said
from sayso.app.server_choice import ServerChoice
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import (
    DesktopState,
    LineKind,
    MicrophoneState,
    MicrophoneView,
    Mode,
    Notice,
    ServerKind,
    ServerState,
    Snapshot,
)
from sayso.app.transcript import Transcript
from sayso.app.why import TurnMoments

log = logging.getLogger(__name__)

_LAST_WORDS_S = 3.0
"""How long quitting waits for the text of what was said."""
_CLOSE_S = 6.0
"""How long quitting waits for each part to finish; what does not is left to the end of the process."""


class Assistant(PanelIntents):
    """Implements the window's intents; ``publish`` gets a snapshot after every change.

    The collaborators' callbacks are ``hear`` (listener), ``receive`` (client), ``changed`` and ``outcome`` (commander);
    ``app.composition`` ties them.
    """

    def __init__(
        self, publish: Callable[[Snapshot], None], store: SettingsStore, autostart: Autostart | None = None
    ) -> None:
        self._publish = publish
        self._store = store
        self._autostart = autostart or Autostart()
        self._starts_with_session = self._autostart.on
        self._states = DesktopStateMachine()
        self._transcript = Transcript()
        self._microphone = MicrophoneView(MicrophoneState.CLOSED)
        self._notices: tuple[Notice, ...] = ()
        self._behind_ms = 0
        self._moments = TurnMoments()
        self._turn: int | None = None
        self._expecting: tuple[Mode, str, bool, bool, Grammar] | None = None
        self._around: dict[int, asyncio.Task[Surroundings]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._quit = asyncio.Event()
        self._listener: Listener
        self._client: RealtimeClient
        self._commander: Commander
        self._server: ServerChoice

    def join(
        self,
        listener: Listener,
        client: RealtimeClient,
        commander: Commander,
        server: ServerChoice,
        panels: Panels,
        beside: Sequence[Callable[[], Coroutine[Any, Any, None]]] = (),
    ) -> None:
        """Take the collaborators, which were built with this assistant's callbacks; once, before ``run``.

        ``beside`` runs for as long as the assistant does.
        """
        self._listener, self._client, self._commander, self._server = listener, client, commander, server
        self._panels, self._beside = panels, beside
        client.expect_words(commander.expected)
        self._store.on_fault = self._settings_not_kept
        if self._store.warning:
            self._notice("settings", self._store.warning)

    async def run(self) -> None:
        """Listen and act until ``quit``; then finish what was said and give everything back."""
        commander = asyncio.create_task(self._commander.run(), name="commander")
        try:
            self._panels.ways.begin()
            if self._panels.ways.listens_at_start:
                self.start()
            else:
                self._states.move(DesktopState.IDLE)
                self.changed()
            for work in (self._panels.history.run, *self._beside):
                self.spawn(work())
            await self._server.begin()
            await self._quit.wait()
            await self._finish()
        finally:
            await _bounded("what goes on", cancel(commander, *self._tasks, *self._around.values()))
            await _bounded("microphone", self._listener.close())
            await _bounded("actions", self._commander.close())
            await _bounded("connection", self._client.close())
            await _bounded("local server", self._server.close())
            await _bounded("history", self._panels.history.close())
            await _bounded("settings", self._store.written())

    async def _finish(self) -> None:
        self._panels.ways.close()
        await _bounded("microphone", self._listener.stop())
        if await self._client.finished(_LAST_WORDS_S):
            await _bounded("last commands", self._commander.finished())

    # What the window asks for.

    @property
    def actions(self) -> Commander:
        return self._commander

    @property
    def listening(self) -> bool:
        return self._states.listening

    def start(self) -> None:
        if not self._states.listening and self._states.move(DesktopState.LISTENING):
            self._commander.wake()
            self._panels.memory.about_to_speak()
            self.spawn(self._listener.start(self._store.settings.microphone))
            self.changed()

    def stop(self) -> None:
        if self._states.move(DesktopState.IDLE):
            self.spawn(self._listener.stop())
            self.changed()

    def toggle(self) -> None:
        if self._states.listening:
            self.stop()
        else:
            self.start()

    def cancel(self) -> None:
        """Drop what is being said, and what was said and has no text yet: it is not shown and nothing is done."""
        self._turn = None
        for turn, around in self._around.items():
            around.cancel()
            self._client.cancel(turn)
            self._transcript = self._transcript.remove(turn)
        self._around.clear()
        self.changed()

    def forget_session(self) -> None:
        self._transcript = self._transcript.without_finished()
        self._commander.forget()

    def use_embedded(self) -> None:
        self.spawn(self._use(self._server.use_embedded()))
        self._store.change(server=ServerKind.EMBEDDED)

    def use_remote(self, url: str, key: str, model: str | None = None) -> None:
        self.spawn(self._use_remote(url, key, model))

    def set_mode(self, mode: Mode) -> None:
        self._commander.set_mode(mode)

    def undo(self, item_id: int) -> None:
        self._commander.undo(item_id)

    def retreated(self) -> None:
        if not self._store.settings.told_of_tray:
            self._notice("tray", "Sayso goes on in the tray. Quit is in its menu there, and in the window's.")
            self._store.change(told_of_tray=True)
            self.changed()

    def set_close_to_tray(self, on: bool) -> None:
        self._store.change(close_to_tray=on)
        self.changed()

    def set_start_with_session(self, on: bool) -> None:
        self.spawn(self._start_with_session(on))

    @property
    def quitting(self) -> bool:
        return self._quit.is_set()

    def dismiss(self, notice_code: str) -> None:
        self._notices = tuple(notice for notice in self._notices if notice.code != notice_code)
        self.changed()

    def quit(self) -> None:
        self._states.move(DesktopState.QUITTING)
        self.changed()
        self._quit.set()

    # What the collaborators tell.

    def hear(self, event: ListenerEvent) -> None:
        """From the microphone: speech goes to the server as a turn."""
        match event:
            case SpeechStarted(at):
                self._begin(at)
            case SpeechAudio(samples):
                if self._turn is not None:
                    self._client.append(self._turn, samples)
                return
            case SpeechEnded(at):
                self._moments.ended(self._turn, at)
                self._end()
                self._panels.ways.utterance_ended()
            case SpeechMissed(seconds):
                self._transcript = self._transcript.missed(self._turn, time.time(), round(seconds * 1000))
            case Level(db=db, clipping=clipping):
                shown = self._microphone
                if clipping is shown.clipping and not looks_different(db, shown.level_db):
                    return
                self._microphone = replace(self._microphone, level_db=db, clipping=clipping)
            case MicrophoneChanged(state, name, detail):
                self._microphone = replace(self._microphone, state=state, name=name, detail=detail)
        self.changed()

    def receive(self, event: RealtimeEvent) -> None:
        """From the server: text goes to the transcript, and whole utterances to the commander."""
        self._transcript = self._transcript.apply(event)
        match event:
            case TurnStable(turn) | TurnTentative(turn):
                self._expedite(turn)
            case TurnDone():
                self._submit(event)
            case Connection():
                self.spawn(self._connection(event))
            case Behind(ms):
                self._behind_ms = ms
        self.changed()

    def outcome(self, turn: int, kind: LineKind, meant: str = "") -> None:
        """From the commander: what became of an utterance, and which command may have been meant."""
        self._transcript = self._transcript.mark(turn, kind, meant)
        self.changed()

    def changed(self) -> None:
        """Something that the window shows has changed."""
        commander = self._commander
        expecting = (commander.mode, commander.expected_phrase, commander.weighs, commander.asleep, commander.grammar)
        if expecting != self._expecting:
            self._expecting = expecting
            self._store.change(mode=self._commander.mode)
            self._client.expect_words(self._commander.expected)
            awake = commander.weighs and not commander.asleep
            self._client.weigh_texts(commander.weighs, commander.grammar.expected if awake else ())
        self._publish(
            Snapshot(
                state=self._states.state,
                microphone=self._microphone,
                server=self._server.view,
                mode=self._commander.mode,
                lines=self._transcript.lines,
                feed=self._commander.feed.items,
                notices=self._notices,
                behind_ms=self._behind_ms,
                asleep=self._commander.asleep,
                close_to_tray=self._store.settings.close_to_tray,
                starts_with_session=self._starts_with_session,
                **self._panels.views,
            )
        )

    def _begin(self, at: float) -> None:
        self._end()
        turn = self._turn = self._client.begin()
        self._moments.began(turn, at)
        self._transcript = self._transcript.begin(turn, at)
        self._around[turn] = asyncio.create_task(self._commander.look_around(), name="surroundings")

    def _end(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            self._client.end(turn)

    def _submit(self, done: TurnDone) -> None:
        around, moments = self._around.pop(done.turn, None), self._moments.text(done.turn)
        if done.text.strip() and around is not None:
            self._commander.submit(Said(done.turn, done.text, moments, done.others), around)

    def _expedite(self, turn: int) -> None:
        """A whole command needs no long silence after it: act while the speaker still draws breath."""
        line = self._transcript.find(turn)
        if line is not None and turn == self._turn and self._commander.is_complete(line.stable + line.tentative):
            self._listener.expedite()

    async def _connection(self, event: Connection) -> None:
        await self._server.apply(event)
        self._panels.memory.connection(event)
        if self._states.listening:
            lost = event.state is ServerState.LOST or (
                event.state is ServerState.CONNECTING and self._states.state is DesktopState.RECONNECTING
            )
            self._states.move(DesktopState.RECONNECTING if lost else DesktopState.LISTENING)
        self.changed()

    async def _use_remote(self, url: str, key: str, model: str | None) -> None:
        async def switch() -> None:
            warning = await self._server.use_remote(url, key, model)
            chosen = self._server
            self._store.change(server=ServerKind.REMOTE, remote_url=chosen.view.url, remote_model=chosen.model)
            if warning:
                self._notice("key_in_file", warning)

        await self._use(switch())

    async def _start_with_session(self, on: bool) -> None:
        try:
            await asyncio.to_thread(self._autostart.set, on)
            self._starts_with_session = on
        finally:
            self.changed()

    async def _use(self, switch: Coroutine[Any, Any, None]) -> None:
        self.dismiss("server")
        try:
            await switch
        except AppError as error:
            self._notice("server", str(error), severe=True)
        self.changed()

    def notify(self, code: str, text: str) -> None:
        """Show a notice until it is dismissed."""
        self._notice(code, text)
        self.changed()

    def _settings_not_kept(self, fault: str) -> None:
        self._notice("settings", fault, severe=True)
        self.changed()

    def _notice(self, code: str, text: str, *, severe: bool = False) -> None:
        others = tuple(notice for notice in self._notices if notice.code != code)
        self._notices = (*others, Notice(code, text, severe))

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run it beside everything else; its faults are shown to the user."""
        task = asyncio.get_running_loop().create_task(self._guard(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # A task that is cancelled before it began never awaits its work; closing finished work does nothing.
        task.add_done_callback(lambda _: work.close())

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        """A fault that nothing foresaw is shown and logged, and the assistant goes on."""
        try:
            await work
        except AppError as error:
            self._notice(error.code, str(error), severe=True)
            self.changed()
        except Exception as error:  # noqa: BLE001
            log.error("something went wrong at %s: %s", time.strftime("%H:%M:%S"), where_from(error))
            self._notice("internal", "Something went wrong inside Sayso; see the log.", severe=True)
            self.changed()


async def _bounded(what: str, work: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout(_CLOSE_S):
            await work
    except TimeoutError:
        log.warning("%s: not finished within %g seconds; going on without", what, _CLOSE_S)
