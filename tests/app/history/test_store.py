"""The history's file, for real: what is in it, who may read it, what is found, and that deleted text is gone."""

import os
import sqlite3
import stat
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from sayso.app.history import schema
from sayso.app.history.entry import Entry
from sayso.app.history.errors import HistoryError
from sayso.app.history.store import FILE, Store, set_aside
from sayso.app.history.view import Found, Rows
from sayso.app.snapshot import FeedState, LineKind

ENTRY = Entry(1_780_000_000.0, 1.5, "Volume up.", LineKind.COMMAND, "Turn the volume up", FeedState.DONE, "XTerm")


def plain(text: str, at: float = 1_780_000_000.0) -> Entry:
    return Entry(at, 1.0, text, LineKind.PLAIN)


@pytest.fixture(params=["index", "no index"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    if request.param == "no index":
        monkeypatch.setattr(schema, "INDEX", "CREATE VIRTUAL TABLE words USING no_such_module (folded)")
    opened = Store(tmp_path / "history")
    assert opened._indexed is (request.param == "index")
    yield opened
    opened.close()


def fill(store: Store, texts: Iterable[str]) -> None:
    """Many utterances, without waiting for the disk after each."""
    store._connection.execute("PRAGMA synchronous = OFF")
    for text in texts:
        store.add(plain(text))
    store._connection.execute("PRAGMA synchronous = FULL")


def texts(store: Store, query: str = "") -> list[str]:
    found = store.find(query)
    entries = store.rows(found, Rows(0, 1000))
    assert len(entries) == found.total
    return [entry.text for entry in entries]


def whole(found: Found) -> list[Rows]:
    return [Rows(0, found.total - 1)]


def test_an_utterance_is_kept_with_all_there_is_to_tell(store: Store) -> None:
    store.add(ENTRY)
    (entry,) = store.rows(store.find(""), Rows(0, 0))
    assert entry == Entry(
        ENTRY.at, 1.5, "Volume up.", LineKind.COMMAND, "Turn the volume up", FeedState.DONE, "XTerm", entry.id
    )


def test_only_the_user_can_read_it(store: Store) -> None:
    store.add(ENTRY)
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    assert [path.name for path in store.path.parent.iterdir()] == [FILE]


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / FILE).touch(0o644)
    tmp_path.chmod(0o755)
    Store(tmp_path).close()
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["東京の天気", "100% sure, can't fail_", "Grüße aus Köln", "open the garden gate"]),
        ("garden", ["open the garden gate"]),
        ("GATE gar", ["open the garden gate"]),
        ("grusse", ["Grüße aus Köln"]),
        ("Köln GRÜSSE", ["Grüße aus Köln"]),
        ("京", ["東京の天気"]),
        ("can't", ["100% sure, can't fail_"]),
        ("100%", ["100% sure, can't fail_"]),
        ("l_", ["100% sure, can't fail_"]),
        ('" OR "', []),
        ("nothing", []),
    ],
)
def test_words_are_found_in_any_case_accents_and_script(store: Store, query: str, expected: list[str]) -> None:
    for text in ("open the garden gate", "Grüße aus Köln", "100% sure, can't fail_", "東京の天気"):
        store.add(plain(text))
    assert texts(store, query) == expected


def test_what_was_done_is_found_too(store: Store) -> None:
    store.add(ENTRY)
    assert texts(store, "turn") == ["Volume up."]


def test_what_was_found_stays_the_same_while_more_is_said(store: Store) -> None:
    for number in range(5):
        store.add(plain(f"word {number}"))
    found = store.find("word")
    store.add(plain("word new"))
    assert [entry.text for entry in store.rows(found, Rows(1, 2))] == ["word 3", "word 2"]
    assert [entry.text for entry in store.each(found, [Rows(0, 4)])] == [f"word {number}" for number in range(5)]


def test_deleted_words_are_in_the_file_no_more(store: Store) -> None:
    fill(store, (f"ordinary words number {number}" for number in range(200)))
    store.add(plain("my secret is xylophone"))
    store.add(plain("the last words"))
    assert b"xylophone" in store.path.read_bytes()
    assert store.delete(store.find(""), [Rows(1, 1)]) == 1
    assert b"xylophone" not in store.path.read_bytes()
    assert texts(store, "xylophone") == []
    assert store.total() == 201


def test_deleting_all_leaves_no_word_and_no_broken_file_behind(store: Store) -> None:
    fill(store, (f"xylophone number {number} " * 5 for number in range(300)))
    aside = store.path.parent / "history.broken-20260101-000000.sqlite3"
    aside.write_text("xylophone")
    large = store.path.stat().st_size
    store.delete_all()
    assert store.total() == 0
    assert store.path.stat().st_size < large / 2
    assert not any(b"xylophone" in path.read_bytes() for path in store.path.parent.iterdir())
    store.add(plain("and it goes on"))
    assert texts(store, "goes") == ["and it goes on"]


def test_what_is_too_old_is_forgotten(store: Store) -> None:
    store.add(plain("xylophone of yesterday", 1000.0))
    store.add(plain("of today", 2000.0))
    assert store.older_than(1500.0) == 1
    assert store.forget_before(1500.0) == 1
    assert store.forget_before(1500.0) == 0
    assert texts(store) == ["of today"]
    assert b"xylophone" not in store.path.read_bytes()


def test_a_broken_file_is_kept_no_longer_than_what_is_in_it(store: Store) -> None:
    folder = store.path.parent
    old, newer = (folder / f"history.broken-2026010{day}-000000.sqlite3" for day in (1, 2))
    for path, changed in ((old, 1000.0), (newer, 2000.0)):
        path.write_text("xylophone")
        os.utime(path, (changed, changed))
    store.forget_before(1500.0)
    assert [path.exists() for path in (old, newer)] == [False, True]


def test_a_full_disk_is_told_and_what_was_kept_stays_readable(store: Store) -> None:
    store.add(plain("before"))
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(HistoryError) as caught:
        fill(store, (f"more and more words {number} " * 200 for number in range(100)))
    assert caught.value.code == "history_full"
    kept = store.total()
    store._connection.execute("PRAGMA max_page_count = 1000000")
    store.add(plain("after"))
    assert store.total() == kept + 1
    assert texts(store)[0] == "after"


def test_it_is_all_there_when_opened_again(tmp_path: Path) -> None:
    first = Store(tmp_path)
    first.add(plain("kept words"))
    first.close()
    second = Store(tmp_path)
    assert texts(second, "kept") == ["kept words"]
    second.close()


def test_words_added_without_an_index_are_found_once_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(schema, "INDEX", "CREATE VIRTUAL TABLE words USING no_such_module (folded)")
        without = Store(tmp_path)
        without.add(plain("kept words"))
        without.close()
    with_index = Store(tmp_path)
    assert with_index._indexed
    assert texts(with_index, "kept") == ["kept words"]
    with_index.close()


@pytest.mark.parametrize("damage", [lambda content: b"no database " * 500, lambda content: content[:5000]])
def test_a_damaged_file_is_told_and_set_aside_readable_by_the_user_only(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    store = Store(tmp_path)
    fill(store, (f"words {number}" for number in range(200)))
    store.close()
    store.path.write_bytes(damage(store.path.read_bytes()))
    with pytest.raises(HistoryError) as caught:
        Store(tmp_path)
    assert caught.value.code == "history_broken"
    aside = set_aside(tmp_path)
    assert stat.S_IMODE(aside.stat().st_mode) == 0o600
    fresh = Store(tmp_path)
    assert fresh.total() == 0
    fresh.close()


def test_a_history_of_a_newer_version_is_left_as_it_is(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as newer:
        newer.execute("CREATE TABLE utterances (something, else_)")
        newer.execute("PRAGMA user_version = 99")
    newer.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(HistoryError) as caught:
        Store(tmp_path)
    assert caught.value.code == "history_newer"
    assert (tmp_path / FILE).read_bytes() == before


def test_an_older_history_is_brought_up_to_date_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = Store(tmp_path)
    old.add(plain("from before"))
    old.close()
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, ("ALTER TABLE utterances ADD COLUMN mood TEXT DEFAULT ''",)))
    migrated = Store(tmp_path)
    assert migrated._connection.execute("PRAGMA user_version").fetchone() == (2,)
    assert migrated._connection.execute("SELECT text, mood FROM utterances").fetchall() == [("from before", "")]
    migrated.close()


def test_a_step_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path).close()
    broken = ("ALTER TABLE utterances ADD COLUMN mood TEXT", "NO SQL AT ALL")
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, broken))
    with pytest.raises(HistoryError):
        Store(tmp_path)
    with sqlite3.connect(tmp_path / FILE) as left:
        assert left.execute("PRAGMA user_version").fetchone() == (1,)
        columns = [row[1] for row in left.execute("PRAGMA table_info(utterances)")]
    left.close()
    assert "mood" not in columns


def test_a_file_that_another_program_holds_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    store._connection.execute("PRAGMA busy_timeout = 10")
    with pytest.raises(HistoryError) as caught:
        store.add(ENTRY)
    assert caught.value.code == "history_busy"
    other.execute("ROLLBACK")
    other.close()
    store.add(ENTRY)
    assert store.total() == 1


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("")
    with pytest.raises(HistoryError) as caught:
        Store(tmp_path / "in the way" / "history")
    assert caught.value.code == "history_unwritable"


def test_a_page_of_many_utterances_takes_the_memory_of_a_page(tmp_path: Path) -> None:
    store = Store(tmp_path)
    rows = [(float(n), 1.0, f"words {n}", "plain", "", "", "", f"words {n}") for n in range(20_000)]
    with store._connection as connection:
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO utterances (at, duration_s, text, kind, action, state, application, folded)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
    del rows
    found = store.find("words")
    assert found.total == 20_000
    tracemalloc.start()
    for first in range(0, 20_000, 2_000):
        page = store.rows(found, Rows(first, first + 99))
        assert page[0].text == f"words {19_999 - first}"
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500_000
    store.close()
