"""The history's file: SQLite, readable by the user only. Every method blocks and belongs to one worker thread.

There is no write-ahead log, so that what is deleted does not live on beside the file; freed pages are overwritten.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from sayso.app.history import policy, schema
from sayso.app.history.entry import Entry
from sayso.app.history.errors import HistoryError
from sayso.app.history.view import PAGE, Found, Rows
from sayso.app.snapshot import FeedState, LineKind

FILE = "history.sqlite3"
_ASIDE = "history.broken-*.sqlite3"
_BUSY_S = 2.0
"""How long another program that reads the file is waited for."""
_COLUMNS = "u.at, u.duration_s, u.text, u.kind, u.action, u.state, u.application, u.id"


class Store:
    """An open history."""

    def __init__(self, folder: Path) -> None:
        """Open or make the file. Raises HistoryError; ``history_broken`` where ``set_aside`` is due."""
        self.path = folder / FILE
        with _told(self.path):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self.path.chmod(0o600)
            self._connection = sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None)
        try:
            with _told(self.path):
                self._connection.execute("PRAGMA secure_delete = ON")
                self._connection.execute("PRAGMA temp_store = MEMORY")
                (state,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
                if state != "ok":
                    raise _broken(self.path)
                schema.migrate(self._connection)
                self._indexed = schema.index(self._connection)
        except HistoryError:
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def add(self, entry: Entry) -> None:
        """Keep one more utterance."""
        text = policy.folded(f"{entry.text} {entry.action}")
        state = entry.state.value if entry.state else ""
        with self._changing() as connection:
            cursor = connection.execute(
                "INSERT INTO utterances (at, duration_s, text, kind, action, state, application, folded)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    entry.at,
                    entry.duration_s,
                    entry.text,
                    entry.kind.value,
                    entry.action,
                    state,
                    entry.application,
                    text,
                ),
            )
            if self._indexed:
                connection.execute("INSERT INTO words (rowid, folded) VALUES (?, ?)", (cursor.lastrowid, text))

    def total(self) -> int:
        with _told(self.path):
            return int(self._connection.execute("SELECT count(*) FROM utterances").fetchone()[0])

    def find(self, query: str) -> Found:
        """How many utterances have all words of the query, from their beginnings on."""
        with _told(self.path):
            (newest,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM utterances").fetchone()
            source, values, _ = self._source(query)
            total = self._connection.execute(f"SELECT count(*) FROM {source}", (*values, newest)).fetchone()[0]
        return Found(query, total, newest)

    def rows(self, found: Found, rows: Rows) -> tuple[Entry, ...]:
        """Some rows of what was found, the newest first."""
        source, values, order = self._source(found.query)
        limit = rows.last - rows.first + 1
        with _told(self.path):
            cursor = self._connection.execute(
                f"SELECT {_COLUMNS} FROM {source} ORDER BY {order} DESC LIMIT ? OFFSET ?",
                (*values, found.newest, limit, rows.first),
            )
            return tuple(_entry(row) for row in cursor)

    def each(self, found: Found, parts: Sequence[Rows]) -> Iterator[Entry]:
        """All of these rows, the oldest first, read a page at a time."""
        for part in sorted(parts, key=lambda rows: -rows.first):
            last = part.last
            while last >= part.first:
                first = max(part.first, last - PAGE + 1)
                yield from reversed(self.rows(found, Rows(first, last)))
                last = first - 1

    def older_than(self, at: float) -> int:
        """How many utterances began before this."""
        with _told(self.path):
            return int(self._connection.execute("SELECT count(*) FROM utterances WHERE at < ?", (at,)).fetchone()[0])

    def forget_before(self, at: float) -> int:
        """Delete what began before this, and broken files of before; gives how many utterances that were."""
        with _told(self.path):
            for aside in self.path.parent.glob(_ASIDE):
                if aside.stat().st_mtime < at:
                    aside.unlink()
        return self._delete("at < ?", (at,)) if self.older_than(at) else 0

    def delete(self, found: Found, parts: Sequence[Rows]) -> int:
        """Delete rows of what was found, so that their text is in the file no more; gives how many."""
        identifiers = [entry.id for entry in self.each(found, parts)]
        gone = 0
        for start in range(0, len(identifiers), 500):
            chosen = identifiers[start : start + 500]
            gone += self._delete(f"id IN ({', '.join('?' * len(chosen))})", chosen)
        return gone

    def delete_all(self) -> None:
        """Delete everything, also what was set aside, and give the space back."""
        with self._changing() as connection:
            connection.execute("DELETE FROM utterances")
            if self._indexed:
                connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
        with _told(self.path):
            self._connection.execute("VACUUM")
            for aside in self.path.parent.glob(_ASIDE):
                aside.unlink()

    def _delete(self, where: str, values: Sequence[object]) -> int:
        with self._changing() as connection:
            if self._indexed:
                connection.execute(
                    "INSERT INTO words (words, rowid, folded)"
                    f" SELECT 'delete', id, folded FROM utterances WHERE {where}",
                    values,
                )
            gone = connection.execute(f"DELETE FROM utterances WHERE {where}", values).rowcount
            if self._indexed:
                # Until its parts are merged, the index still holds the words of what was deleted.
                connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        return gone

    def _source(self, query: str) -> tuple[str, list[str], str]:
        """The tables and conditions of a query with their values, and the identifier to go by.

        The newest identifier is the last value.
        """
        terms = policy.terms(query)
        scanned = [term for term in terms if not self._indexed or policy.needs_scan(term)]
        looked_up = [term for term in terms if term not in scanned]
        where = "".join(" u.folded LIKE ? ESCAPE '\\' AND" for _ in scanned)
        values = [f"%{_escaped(term)}%" for term in scanned]
        if not looked_up:
            return f"utterances u WHERE{where} u.id <= ?", values, "u.id"
        phrase = " AND ".join(f'"{term}"*' for term in looked_up)
        source = f"words JOIN utterances u ON u.id = words.rowid WHERE{where} words MATCH ? AND words.rowid <= ?"
        # By its own identifiers the index gives its rows in order without sorting them.
        return source, [*values, phrase], "words.rowid"

    @contextlib.contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with _told(self.path), self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection


def set_aside(folder: Path) -> Path:
    """Move a broken history out of the way, so that a new one can begin; gives its new place."""
    path = folder / FILE
    aside = folder / f"history.broken-{time.strftime('%Y%m%d-%H%M%S')}.sqlite3"
    with _told(path):
        path.replace(aside)
        for rest in ("-journal", "-wal", "-shm"):
            Path(f"{path}{rest}").unlink(missing_ok=True)
    return aside


def remove(folder: Path) -> None:
    """Remove the history with all that was set aside."""
    with _told(folder / FILE):
        for path in (folder / FILE, Path(f"{folder / FILE}-journal"), *folder.glob(_ASIDE)):
            path.unlink(missing_ok=True)


def _entry(row: Sequence[object]) -> Entry:
    at, duration_s, text, kind, action, state, application, identifier = row
    return Entry(
        float(str(at)),
        float(str(duration_s)),
        str(text),
        LineKind(str(kind)),
        str(action),
        FeedState(str(state)) if state else None,
        str(application),
        int(str(identifier)),
    )


def _escaped(term: str) -> str:
    return term.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _broken(path: Path) -> HistoryError:
    return HistoryError("history_broken", f"The history in {path} is damaged.")


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """What SQLite and the system say, in words for people."""
    try:
        yield
    except sqlite3.Error as error:
        raise _as_history_error(path, error) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full(path) from error
        raise HistoryError("history_unwritable", f"The history in {path} cannot be used: {error.strerror}.") from error


def _as_history_error(path: Path, error: sqlite3.Error) -> HistoryError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return _full(path)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return _broken(path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return HistoryError("history_busy", "Another program is using the history. Close it, and it goes on.")
    return HistoryError("history_unwritable", f"The history in {path} cannot be used: {error}.")


def _full(path: Path) -> HistoryError:
    return HistoryError(
        "history_full", f"No space is left for the history in {path.parent}. What is said now is not kept; free some."
    )
