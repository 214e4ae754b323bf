"""The history as the desktop has it: takes what was said, answers the window, forgets in time. Runs on the event loop.

The file is the affair of one worker thread, which does one thing after another. Nothing that happens to it stops
listening: a fault is told, once for as long as it lasts, and the next utterance is tried again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

from sayso.app.carried_out import CarriedOut
from sayso.app.history import policy
from sayso.app.history.entry import Entry
from sayso.app.history.errors import HistoryError
from sayso.app.history.export import Format, written
from sayso.app.history.store import FILE, Store, remove, set_aside
from sayso.app.history.view import OFF, Found, HistoryView, Rows
from sayso.app.settings_store import SettingsStore

log = logging.getLogger(__name__)

Result = TypeVar("Result")

_LOOK_EVERY_S = 3600.0
"""How often it is looked whether a day has passed; a computer that was suspended would sleep through longer waits."""


def history_folder() -> Path:
    """Where the user's history is kept: data of their own, and not settings, which people copy and share."""
    return platformdirs.user_data_path("sayso", appauthor=False) / "history"


class History:
    """Implements the intents of the history window; ``view`` is its share of the snapshot.

    ``changed`` is told of every change, ``tell`` gets a notice's code and text, ``spawn`` runs work whose faults the
    user is to see. Answers are given on the event loop.
    """

    def __init__(
        self,
        settings: SettingsStore,
        folder: Path,
        changed: Callable[[], None],
        tell: Callable[[str, str], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._changed = changed
        self._tell = tell
        self._spawn = spawn
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="history")
        self._store: Store | None = None
        self._view = HistoryView(place=str(folder / FILE))
        self._told = ""
        self._forgot_at: float | None = None

    @property
    def view(self) -> HistoryView:
        return replace(self._view, days=self._settings.settings.history_days)

    async def run(self) -> None:
        """Open what there is and forget what is too old, now and every day, until cancelled."""
        while True:
            now = time.time()
            if policy.is_due(now, self._forgot_at):
                self._forgot_at = now
                await self._guarded(self._keep_within_days())
            await asyncio.sleep(_LOOK_EVERY_S)

    async def close(self) -> None:
        """Finish what is being written and close the file."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close_store)
        self._thread.shutdown(wait=False)

    def record(self, said: CarriedOut) -> None:
        """Keep an utterance, where the user wants that; returns at once."""
        if not policy.is_kept(said.kind, self._settings.settings.history_days):
            return
        began = said.moments.began_at or time.time()
        entry = Entry(
            began,
            max(0.0, said.moments.ended_at - began),
            said.text,
            said.kind,
            said.item.title if said.item else "",
            said.item.state if said.item else None,
            said.application,
        )
        # Handed to the thread at once, so that quitting right afterwards does not lose it.
        adding = self._in_thread(lambda store: store.add(entry))
        self._spawn(self._guarded(self._count(adding), once=True))

    # What the window asks for.

    def set_days(self, days: int) -> None:
        """How long utterances are kept from now on; what is older than that is deleted at once."""
        self._settings.change(history_days=days)
        self._changed()
        self._spawn(self._guarded(self._forget(days)))

    def find(self, query: str, answer: Callable[[Found], None]) -> None:
        """Look for utterances with all these words; everything for an empty query."""
        if self._exists:
            self._ask(lambda store: store.find(query), answer)
        else:
            # Looking makes no file.
            answer(Found(query, 0, 0))

    def rows(self, found: Found, rows: Rows, answer: Callable[[tuple[Entry, ...]], None]) -> None:
        """Some rows of what was found, the newest first."""
        self._ask(lambda store: store.rows(found, rows), answer)

    def words(self, found: Found, parts: Sequence[Rows], answer: Callable[[str], None]) -> None:
        """The words of these rows, a line each, the oldest first."""
        self._ask(lambda store: "\n".join(entry.text for entry in store.each(found, parts)), answer)

    def count_older(self, days: int, answer: Callable[[int], None]) -> None:
        """How many utterances would be deleted if they were kept for these days only."""
        if self._exists:
            self._ask(lambda store: store.older_than(policy.cutoff(time.time(), days)), answer)
        else:
            answer(0)

    def delete(self, found: Found, parts: Sequence[Rows]) -> None:
        self._spawn(self._guarded(self._count(self._in_thread(lambda store: store.delete(found, parts)))))

    def delete_all(self) -> None:
        self._spawn(self._guarded(self._count(self._in_thread(self._delete_all))))

    def export(self, found: Found, parts: Sequence[Rows], path: Path, answer: Callable[[str], None]) -> None:
        """Write these rows to a file, whose suffix is the format; answers with a line for people."""

        async def export() -> None:
            try:
                count = await self._in_thread(partial(_export, found=found, parts=parts, path=path))
            except HistoryError as error:
                # Told where it was asked for, and as every fault, since that window may be gone.
                answer(str(error))
                raise
            answer(f"{count} utterance{'s' if count != 1 else ''} written to {path.name}.")

        self._spawn(self._guarded(export()))

    def _ask(self, question: Callable[[Store], Result], answer: Callable[[Result], None]) -> None:
        async def ask() -> None:
            answer(await self._in_thread(question))

        self._spawn(self._guarded(ask()))

    async def _keep_within_days(self) -> None:
        days = self._settings.settings.history_days
        if days != OFF:
            await self._forget(days)
        elif self._exists:
            # Nobody chose to delete it: the settings may have been reset.
            await self._count(self._in_thread(lambda store: store.total()))

    async def _forget(self, days: int) -> None:
        if days != OFF or self._exists:
            before = policy.cutoff(time.time(), days)
            await self._count(self._in_thread(lambda store: store.forget_before(before)))

    @property
    def _exists(self) -> bool:
        return (self._folder / FILE).exists()

    async def _count(self, work: asyncio.Future[Any]) -> None:
        """After a change, how many utterances there are."""
        await work
        total = await self._in_thread(lambda store: store.total())
        self._told = ""
        self._view = replace(self._view, total=total, revision=self._view.revision + 1)
        self._changed()

    async def _guarded(self, work: Coroutine[Any, Any, None], *, once: bool = False) -> None:
        """Tell of a fault; with ``once`` not again until something has gone well."""
        try:
            await work
        except HistoryError as error:
            if once and error.code == self._told:
                return
            self._told = error.code
            log.warning("history: %s", error.code)
            self._tell(error.code, str(error))

    def _in_thread(self, work: Callable[[Store], Result]) -> asyncio.Future[Result]:
        loop = asyncio.get_running_loop()

        def run() -> Result:
            try:
                return work(self._opened())
            except HistoryError as error:
                if error.code != "history_broken":
                    raise
                self._renew(loop)
                return work(self._opened())

        return loop.run_in_executor(self._thread, run)

    def _opened(self) -> Store:
        """The open file, in the worker thread."""
        if self._store is None:
            self._store = Store(self._folder)
        return self._store

    def _renew(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin a new file in place of a broken one, in the worker thread."""
        self._close_store()
        aside = set_aside(self._folder)
        text = f"The history could not be read and a new one was begun; the old file is {aside}."
        loop.call_soon_threadsafe(self._tell, "history_broken", text)

    def _delete_all(self, store: Store) -> None:
        """In the worker thread. On a full disk not even deleting has the space it needs: then the file itself goes."""
        try:
            store.delete_all()
        except HistoryError as error:
            if error.code != "history_full":
                raise
            self._close_store()
            remove(self._folder)
            self._opened()

    def _close_store(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()


def _export(store: Store, found: Found, parts: Sequence[Rows], path: Path) -> int:
    """Write the file whole or not at all; gives the number of utterances."""
    entries = _Counted(store.each(found, parts))
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.writelines(written(entries, Format(path.suffix.lstrip(".").lower())))
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise HistoryError("export_failed", f"{path} cannot be written: {error.strerror}.") from error
    return entries.count


class _Counted:
    """Entries that are counted as they pass."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = entries
        self.count = 0

    def __iter__(self) -> Iterator[Entry]:
        for entry in self._entries:
            self.count += 1
            yield entry
