"""What the window may ask of the application: the only way from a widget to anything that happens.

The window calls these in the Qt thread; every one returns at once and shows its effect in a later snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from sayso.app.commands.own import OwnCommand
from sayso.app.commands_view import Problems
from sayso.app.history.entry import Entry
from sayso.app.history.view import Found, Rows
from sayso.app.memory_policy import Preset
from sayso.app.memory_view import Place
from sayso.app.snapshot import Mode
from sayso.app.ways_view import OverlayPlace, Way
from sayso.ui.engine_intents import EngineIntents
from sayso.ui.first_run_intents import FirstRunIntents


class OptionIntents(Protocol):
    """What the settings window may ask for besides."""

    def use_microphone(self, name: str) -> None:
        """Listen to this microphone from now on; empty follows the system's default."""

    def look_for_microphones(self) -> None:
        """Find out which microphones there are now."""

    def set_wait_ms(self, wait_ms: int) -> None:
        """How long a pause ends an utterance."""

    def set_listens_at_start(self, on: bool) -> None:
        """Whether Sayso listens as soon as it runs."""

    def set_overlay(self, on: bool) -> None:
        """Whether what is heard is shown over other windows."""

    def place_overlay(self, place: OverlayPlace) -> None:
        """Where on the screen that stands."""

    def tell(self, text: str) -> None:
        """Show a passing message on the desktop, in the place of the one before."""


class WayIntents(Protocol):
    """What may be asked for about the ways to listen."""

    def use_way(self, way: Way) -> None:
        """Listen in this way from now on."""

    def use_key(self, text: str) -> None:
        """Take this key, such as “Ctrl+Alt+Space”, for the way in force; empty takes none."""

    def listen_for_key(self, on: bool) -> None:
        """While a key is being chosen the present one does nothing, so that it can be pressed."""

    def set_phrase(self, phrase: str) -> None:
        """What wakes Sayso besides “start listening”; empty for nothing."""

    def ask_phrase(self, on: bool) -> None:
        """Whether an utterance acts only after the phrase."""


class ActionIntents(Protocol):
    """What may be asked about the actions in the feed."""

    def confirm(self, item_id: int) -> None:
        """Yes: do what the feed item ``item_id`` asks about."""

    def refuse(self, item_id: int) -> None:
        """No: leave it."""

    def insert(self, text: str) -> None:
        """Type these words into the window that was used before this one."""


class MemoryIntents(Protocol):
    """What the page about sessions and memory may ask for."""

    def watch(self, on: bool) -> None:
        """Whether somebody looks at the page: only then is anything measured."""

    def use_preset(self, preset: Preset) -> None:
        """Give memory back as this preset says, from now on."""

    def set_control(self, name: str, value: float) -> None:
        """Change one of the controls behind the presets, by its name in ``Controls``."""

    def free_now(self) -> None:
        """Give memory back as soon as nobody speaks, and measure how much."""

    def close_session(self, session: str) -> None:
        """Finish the session's open turn and close it."""

    def put_away(self, session: str, place: Place) -> None:
        """Put what the engine holds for the session there, unless it has work; its next sound brings it back."""


class MicrophoneCheckIntents(Protocol):
    """A check of the microphone by ear."""

    def start_check(self) -> None:
        """Record three seconds of the chosen microphone and play them back."""

    def stop_check(self) -> None:
        """End the check that runs, and forget what it recorded."""


class ServerIntents(Protocol):
    """What may be asked about remote servers; nothing of it changes which one is used."""

    def try_server(self, address: str, key: str, model: str) -> None:
        """Find out whether the server at this address works; an empty key means the saved one or none."""

    def stop_trial(self) -> None:
        """End the trial that runs."""

    def look_for_key(self, address: str) -> None:
        """Find out whether a key is kept for this server, and where."""

    def remove_key(self, address: str) -> None:
        """Forget the key of this server."""


class CommandIntents(Protocol):
    """What the page about commands may ask for."""

    def check(self, own: OwnCommand, replacing: str = "") -> Problems:
        """What stands against this command, whose place may be that of another one. Answers at once."""

    def add(self, own: OwnCommand) -> None:
        """Understand one more command of the user's own."""

    def change(self, intent: str, own: OwnCommand) -> None:
        """Put it in the place of another one."""

    def remove(self, intent: str) -> None:
        """Forget one of the user's own."""

    def switch(self, intents: Collection[str], on: bool) -> None:
        """Understand these commands, or take their words for ordinary ones."""


class HistoryIntents(Protocol):
    """What the history window may ask for. Answers come later, in the Qt thread."""

    def set_days(self, days: int) -> None:
        """Keep utterances for these days from now on, and delete what is older."""

    def count_older(self, days: int, answer: Callable[[int], None]) -> None:
        """How many utterances that would delete."""

    def find(self, query: str, answer: Callable[[Found], None]) -> None:
        """Look for utterances with all these words."""

    def rows(self, found: Found, rows: Rows, answer: Callable[[tuple[Entry, ...]], None]) -> None:
        """Some of what was found, the newest first."""

    def words(self, found: Found, parts: Sequence[Rows], answer: Callable[[str], None]) -> None:
        """The words of these rows, a line each, the oldest first."""

    def export(self, found: Found, parts: Sequence[Rows], path: Path, answer: Callable[[str], None]) -> None:
        """Write these rows to a file whose suffix is the format; the answer is a line for people."""

    def delete(self, found: Found, parts: Sequence[Rows]) -> None:
        """Delete these rows for good."""

    def delete_all(self) -> None:
        """Delete everything for good."""


class Intents(Protocol):
    @property
    def engine(self) -> EngineIntents:
        """The part about models and the engine on this machine."""

    @property
    def guide(self) -> FirstRunIntents:
        """The part of the first-run guide."""

    @property
    def options(self) -> OptionIntents:
        """The part that only the settings window uses."""

    @property
    def ways(self) -> WayIntents:
        """The part about the ways to listen."""

    @property
    def memory(self) -> MemoryIntents:
        """The part that the page about sessions and memory uses."""

    @property
    def commands(self) -> CommandIntents:
        """The part that the page about commands uses."""

    @property
    def history(self) -> HistoryIntents:
        """The part that the history window uses."""

    @property
    def actions(self) -> ActionIntents:
        """The part that the action feed uses."""

    def start(self) -> None:
        """Open the microphone and listen."""

    def stop(self) -> None:
        """Finish the open utterance and close the microphone."""

    def toggle(self) -> None:
        """Start when stopped, stop when started."""

    def use_embedded(self) -> None:
        """Send speech to the engine on this machine from now on."""

    @property
    def check(self) -> MicrophoneCheckIntents:
        """The part that the page of the microphone uses."""

    @property
    def servers(self) -> ServerIntents:
        """The part that the page of servers uses."""

    def use_remote(self, url: str, key: str, model: str | None = None) -> None:
        """Send speech to the server at ``url`` from now on; an empty ``key`` means the saved one or none.

        An empty ``model`` takes the server's own; None keeps the one chosen for this server.
        """

    def set_mode(self, mode: Mode) -> None:
        """Choose what happens to an utterance that is no command."""

    def undo(self, item_id: int) -> None:
        """Take back the action of the feed item ``item_id``."""

    def forget_session(self) -> None:
        """Drop what was said and done in this session, but for what goes on; the history is not touched."""

    def dismiss(self, notice_code: str) -> None:
        """Remove the notice with this code."""

    def retreated(self) -> None:
        """The window was closed and Sayso goes on in the tray."""

    def set_close_to_tray(self, on: bool) -> None:
        """Whether closing the window leaves Sayso in the tray, where there is one, or ends it."""

    def set_start_with_session(self, on: bool) -> None:
        """Whether Sayso starts when the user's session does."""

    def quit(self) -> None:
        """Finish and leave the application."""
