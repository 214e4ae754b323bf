"""The tables of the history and how older ones become today's. ``user_version`` of the file is the number of steps."""

from __future__ import annotations

import sqlite3

from sayso.app.history.errors import HistoryError

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE utterances (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at REAL NOT NULL,
            duration_s REAL NOT NULL,
            text TEXT NOT NULL,
            kind TEXT NOT NULL,
            action TEXT NOT NULL,
            state TEXT NOT NULL,
            application TEXT NOT NULL,
            folded TEXT NOT NULL
        )""",
        "CREATE INDEX utterances_at ON utterances (at)",
    ),
)
"""A step is never changed once released; what changes later is a new step."""

INDEX = """CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    folded, content='utterances', content_rowid='id', tokenize='unicode61 remove_diacritics 0'
)"""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables up to date, all or nothing. Raises HistoryError ``history_newer`` and changes nothing."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(STEPS):
        raise HistoryError(
            "history_newer",
            "The history was written by a newer Sayso. It is left as it is and nothing is added; install that version.",
        )
    if version == len(STEPS):
        return
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for step in STEPS[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")


def index(connection: sqlite3.Connection) -> bool:
    """Make the index of words where this SQLite has one, and bring it up to date; says whether there is one."""
    try:
        connection.execute(INDEX)
    except sqlite3.OperationalError:
        return False
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        # An SQLite without the index may have added or removed utterances since.
        kept = connection.execute("SELECT count(*), coalesce(max(id), 0) FROM utterances").fetchone()
        known = connection.execute("SELECT count(*), coalesce(max(id), 0) FROM words_docsize").fetchone()
        if kept != known:
            connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
    return True
