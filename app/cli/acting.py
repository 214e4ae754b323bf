"""``sayso listen --act``: carries out commands as the desktop does, and reports each in the terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from sayso.app import settings
from sayso.app.actions import create
from sayso.app.cli.utterances import Report
from sayso.app.commander import Commander
from sayso.app.commands.grammar import Grammar
from sayso.app.question import Surroundings
from sayso.app.realtime.events import TurnDone
from sayso.app.said import Said
from sayso.app.snapshot import FeedItem, FeedState, LineKind

_TOLD = (FeedState.CONFIRM, FeedState.DONE, FeedState.FAILED, FeedState.REFUSED, FeedState.UNDONE)
_LAST_ACTIONS_S = 30.0


class Acting:
    """Gives whole utterances to a commander and calls ``show`` with what became of them; runs on the event loop."""

    def __init__(self, show: Callable[[Report], None]) -> None:
        """Raises GrammarError where the commands that come with the app are missing or broken."""
        self._show = show
        loaded = _settings()
        if loaded.warning:
            show(Report("error", loaded.warning, 0.0, 0.0, code="settings"))
        grammar = Grammar.load(own=loaded.settings.own_commands, off=loaded.settings.off_commands)
        self._commander = Commander(grammar, create(), self._changed, self._outcome)
        self._around: dict[int, asyncio.Task[Surroundings]] = {}
        self._times: dict[str, tuple[float, float]] = {}
        self._told: dict[int, FeedState] = {}
        self._work: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to work through what is submitted."""
        self._work = asyncio.get_running_loop().create_task(self._commander.run(), name="commander")

    def begin(self, turn: int) -> None:
        """An utterance begins: what it refers to is what is in front now."""
        self._around[turn] = asyncio.get_running_loop().create_task(self._commander.look_around(), name="surroundings")

    def is_complete(self, heard: str) -> bool:
        """Whether what was heard so far is a whole command."""
        return self._commander.is_complete(heard)

    @property
    def expected(self) -> tuple[Sequence[str], Sequence[str]]:
        """The words and the whole sentences that are likely to be said."""
        return self._commander.expected, self._commander.grammar.expected

    def submit(self, done: TurnDone, start: float, end: float) -> None:
        """An utterance is over; its times are seconds since listening began."""
        around, heard = self._around.pop(done.turn, None), done.text.strip()
        if around is not None and heard:
            self._times[heard] = (start, end)
            self._commander.submit(Said(done.turn, done.text, others=done.others), around)

    async def close(self) -> None:
        """Wait for what was submitted, for a bounded time, and end."""
        try:
            async with asyncio.timeout(_LAST_ACTIONS_S):
                await self._commander.finished()
        except TimeoutError:
            self._show(Report("error", "An action did not end in time.", 0.0, 0.0, code="action_timeout"))
        tasks = [*self._around.values(), *([self._work] if self._work is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _changed(self) -> None:
        for item in self._commander.feed.items:
            if item.state in _TOLD and self._told.get(item.id) is not item.state:
                self._told[item.id] = item.state
                start, end = self._times.get(item.heard.strip(), (0.0, 0.0))
                self._show(Report("action", _words(item), start, end, code=item.state.value))

    def _outcome(self, turn: int, kind: LineKind, meant: str) -> None:
        """The transcript in a terminal does not tell commands from other lines."""


def _settings() -> settings.Loaded:
    """What the desktop was told; where that cannot be read, why not."""
    try:
        return settings.load()
    except settings.SettingsError as error:
        return settings.Loaded(settings.Settings(), str(error))


def _words(item: FeedItem) -> str:
    if item.state is FeedState.CONFIRM:
        return f"{item.detail} Say “yes” or “no”."
    return f"{item.title}: {item.detail}" if item.detail else item.title
