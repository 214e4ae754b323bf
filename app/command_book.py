"""Which commands are understood: the user's own, and those that are off. In force at once, and kept. Event loop.

The grammar is built anew on a worker thread, as that takes longer than a frame; the newest choice wins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping
from typing import Any

from sayso.app.commander import Commander
from sayso.app.commands.grammar import ALWAYS_ON, Grammar
from sayso.app.commands.own import FAMILY, OwnCommand, explanation, value_problem
from sayso.app.commands.own_phrase import phrase_problem
from sayso.app.commands.phrase import after_phrase
from sayso.app.commands_view import CommandRow, CommandsView, Problems
from sayso.app.settings_store import SettingsStore


class CommandBook:
    """Implements the intents of the page about commands; ``view`` is its share of the snapshot."""

    def __init__(
        self,
        store: SettingsStore,
        commander: Commander,
        expect: Callable[[tuple[str, ...]], None],
        changed: Callable[[], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        environment: Mapping[str, str],
    ) -> None:
        """``expect`` is told what is likely to be said; ``environment`` tells which programs there are."""
        self._store = store
        self._commander = commander
        self._expect = expect
        self._changed = changed
        self._spawn = spawn
        self._environment = environment
        self._building = False
        self._view = self._rows()

    @property
    def view(self) -> CommandsView:
        return self._view

    def check(self, own: OwnCommand, replacing: str = "") -> Problems:
        """What stands against this command, whose place may be that of another one. Changes nothing."""
        grammar, names = self._commander.grammar, self._commander.names
        phrase = phrase_problem(own.phrase, grammar, names, replacing) or self._wakes(own.phrase)
        return Problems(phrase, value_problem(own, self._environment))

    def _wakes(self, phrase: str) -> str:
        wake = self._store.settings.wake_phrase
        if not wake or after_phrase(phrase, wake) is None:
            return ""
        return f"This begins like “{wake}”, which wakes Sayso and is taken away before commands."

    def add(self, own: OwnCommand) -> None:
        """One more command of the user's own; one that cannot be is left out."""
        if not self.check(own):
            self._use(own=(*self._store.settings.own_commands, own))

    def change(self, intent: str, own: OwnCommand) -> None:
        """Put this in the place of another of the user's own."""
        place, commands = _place(intent), list(self._store.settings.own_commands)
        if place < len(commands) and not self.check(own, intent):
            commands[place] = own
            self._use(own=tuple(commands))

    def remove(self, intent: str) -> None:
        """Forget one of the user's own."""
        place, commands = _place(intent), list(self._store.settings.own_commands)
        if place < len(commands):
            del commands[place]
            self._use(own=tuple(commands))

    def switch(self, intents: Collection[str], on: bool) -> None:
        """Understand these commands, or take their words for ordinary ones."""
        off = set(self._store.settings.off_commands)
        off = off - set(intents) if on else off | (set(intents) - ALWAYS_ON)
        self._use(off=tuple(sorted(off)))

    def _use(self, own: tuple[OwnCommand, ...] | None = None, off: tuple[str, ...] | None = None) -> None:
        settings = self._store.settings
        self._store.change(
            own_commands=settings.own_commands if own is None else own,
            off_commands=settings.off_commands if off is None else off,
        )
        self._view = self._rows()
        self._changed()
        if not self._building:
            self._building = True
            self._spawn(self._build())

    async def _build(self) -> None:
        """Until the grammar is that of the settings, which may change meanwhile."""
        try:
            built: tuple[object, object] | None = None
            while (wanted := (self._store.settings.own_commands, self._store.settings.off_commands)) != built:
                built = wanted
                self._commander.use(await asyncio.to_thread(Grammar.load, "en", *wanted))
        finally:
            self._building = False
        self._expect(self._commander.expected)
        self._changed()

    def _rows(self) -> CommandsView:
        settings = self._store.settings
        own = (
            CommandRow(f"{FAMILY}.{number}", each.phrase, explanation(each), own=each)
            for number, each in enumerate(settings.own_commands, 1)
        )
        off = set(settings.off_commands) - ALWAYS_ON
        known = (
            CommandRow(each.intent, each.say, each.help, each.intent not in off, each.intent in ALWAYS_ON)
            for each in self._commander.grammar.known
        )
        return CommandsView((*own, *known))


def _place(intent: str) -> int:
    """Which of the user's own an intent is, from 0."""
    family, _, number = intent.partition(".")
    if family != FAMILY or not number.isdecimal():
        raise ValueError(f"“{intent}” is no command of the user's own")
    return int(number) - 1
