"""The history on the event loop, with its real file."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sayso.app.carried_out import CarriedOut
from sayso.app.history.errors import HistoryError
from sayso.app.history.history import History
from sayso.app.history.store import FILE, Store
from sayso.app.history.view import Found, Rows
from sayso.app.settings import Loaded, Settings
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import FeedItem, FeedState, LineKind
from sayso.app.why import Moments


@dataclass
class Stage:
    history: History
    folder: Path
    told: list[tuple[str, str]]
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def settle(self) -> None:
        async with asyncio.timeout(20):
            while self.tasks:
                await asyncio.gather(*self.tasks)

    async def answer(self, ask: Callable[..., None], *what: Any) -> Any:
        answers: list[Any] = []
        ask(*what, answers.append)
        await self.settle()
        return answers[0]

    def say(self, text: str, kind: LineKind = LineKind.PLAIN, **moments: float) -> None:
        self.history.record(CarriedOut(text, kind, Moments(**moments), application="XTerm"))

    async def texts(self, query: str = "") -> list[str]:
        found: Found = await self.answer(self.history.find, query)
        return [entry.text for entry in await self.answer(self.history.rows, found, Rows(0, 100))]


def make(folder: Path, days: int) -> Stage:
    told: list[tuple[str, str]] = []
    tasks: set[asyncio.Task[None]] = set()

    def spawn(work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    store = SettingsStore(Loaded(Settings(history_days=days)), folder / "settings")
    history = History(store, folder / "history", lambda: None, lambda *notice: told.append(notice), spawn)
    return Stage(history, folder / "history", told, tasks)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = make(tmp_path, 30)
    yield made
    await made.settle()
    await made.history.close()
    await made.history._settings.written()


async def test_nothing_is_kept_and_no_file_is_made_unless_chosen(tmp_path: Path) -> None:
    off = make(tmp_path, 0)
    running = asyncio.create_task(off.history.run())
    off.say("said in private")
    assert await off.answer(off.history.find, "private") == Found("private", 0, 0)
    assert await off.answer(off.history.count_older, 7) == 0
    off.history.set_days(0)
    await asyncio.sleep(0)
    await off.settle()
    assert not off.folder.exists()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await off.history.close()


async def test_an_utterance_is_kept_with_its_time_its_length_and_what_was_done(stage: Stage) -> None:
    item = FeedItem(1, "volume up", "Turn the volume up", FeedState.DONE)
    moments = Moments(began_at=1_780_000_000.0, ended_at=1_780_000_001.5)
    stage.history.record(CarriedOut("Volume up.", LineKind.COMMAND, moments, item, "XTerm"))
    await stage.settle()
    found = await stage.answer(stage.history.find, "")
    (entry,) = await stage.answer(stage.history.rows, found, Rows(0, 0))
    assert (entry.at, entry.duration_s, entry.text) == (1_780_000_000.0, 1.5, "Volume up.")
    assert (entry.action, entry.state, entry.application) == ("Turn the volume up", FeedState.DONE, "XTerm")
    assert (stage.history.view.total, stage.history.view.days) == (1, 30)


async def test_what_is_said_while_asleep_is_not_kept(stage: Stage) -> None:
    stage.say("said to somebody else", LineKind.ASLEEP)
    stage.say("said to Sayso")
    await stage.settle()
    assert await stage.texts() == ["said to Sayso"]


async def test_choosing_a_shorter_time_deletes_what_is_older_and_off_deletes_all(stage: Stage) -> None:
    stage.say("of long ago", began_at=1_000_000.0)
    stage.say("of now")
    await stage.settle()
    assert await stage.answer(stage.history.count_older, 7) == 1
    stage.history.set_days(7)
    await stage.settle()
    assert await stage.texts() == ["of now"]
    stage.history.set_days(0)
    await stage.settle()
    assert await stage.texts() == []
    stage.say("not any more")
    await stage.settle()
    assert await stage.texts() == []


async def test_what_is_too_old_is_forgotten_at_start(tmp_path: Path) -> None:
    first = make(tmp_path, 30)
    first.say("of long ago", began_at=1_000_000.0)
    first.say("of now")
    await first.settle()
    await first.history.close()
    second = make(tmp_path, 30)
    forgotten = asyncio.Event()
    second.history._changed = forgotten.set
    running = asyncio.create_task(second.history.run())
    async with asyncio.timeout(20):
        await forgotten.wait()
    assert second.history.view.total == 1
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await second.history.close()


async def test_settings_that_were_reset_delete_nothing(tmp_path: Path) -> None:
    first = make(tmp_path, 30)
    first.say("kept words")
    await first.settle()
    await first.history.close()
    second = make(tmp_path, 0)
    counted = asyncio.Event()
    second.history._changed = counted.set
    running = asyncio.create_task(second.history.run())
    async with asyncio.timeout(20):
        await counted.wait()
    assert second.history.view.total == 1
    assert await second.texts() == ["kept words"]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await second.history.close()


async def test_the_last_words_before_quitting_are_kept(tmp_path: Path) -> None:
    first = make(tmp_path, 30)
    first.say("the last words")
    await asyncio.sleep(0)
    for task in list(first.tasks):
        task.cancel()
    await first.history.close()
    second = make(tmp_path, 30)
    assert await second.texts() == ["the last words"]
    await second.history.close()


async def test_a_damaged_file_is_told_and_a_new_one_begins(stage: Stage) -> None:
    stage.folder.mkdir(parents=True)
    (stage.folder / FILE).write_bytes(b"no database at all " * 400)
    stage.say("the first words")
    await stage.settle()
    assert [code for code, _ in stage.told] == ["history_broken"]
    assert "history.broken-" in stage.told[0][1]
    assert await stage.texts() == ["the first words"]


async def test_a_full_disk_is_told_once_and_when_there_is_space_again_it_goes_on(stage: Stage) -> None:
    stage.say("before")
    await stage.settle()

    def limit(pages: str) -> Callable[[Any], None]:
        return lambda store: store._connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()

    await stage.history._in_thread(limit("1"))
    for _ in range(3):
        stage.say("words " * 5000)
        await stage.settle()
    assert [code for code, _ in stage.told] == ["history_full"]
    await stage.history._in_thread(limit("100000"))
    stage.say("after")
    await stage.settle()
    assert await stage.texts() == ["after", "before"]
    assert [code for code, _ in stage.told] == ["history_full"]


async def test_everything_can_be_deleted_on_a_full_disk(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(store: Store) -> None:
        raise HistoryError("history_full", "No space is left.")

    stage.say("xylophone")
    await stage.settle()
    (stage.folder / "history.broken-20260101-000000.sqlite3").write_text("xylophone")
    with monkeypatch.context() as patched:
        patched.setattr(Store, "delete_all", full)
        stage.history.delete_all()
        await stage.settle()
    assert stage.history.view.total == 0
    assert not any(b"xylophone" in path.read_bytes() for path in stage.folder.iterdir())
    stage.say("and it goes on")
    await stage.settle()
    assert await stage.texts() == ["and it goes on"]


async def test_a_fault_of_what_was_asked_for_is_told_each_time(stage: Stage, tmp_path: Path) -> None:
    stage.say("one")
    await stage.settle()
    found = await stage.answer(stage.history.find, "")
    for _ in range(2):
        stage.history.export(found, [Rows(0, 0)], tmp_path / "missing" / "said.txt", lambda _: None)
        await stage.settle()
    assert [code for code, _ in stage.told] == ["export_failed"] * 2


async def test_rows_are_copied_exported_and_deleted(stage: Stage, tmp_path: Path) -> None:
    for text in ("one", "two", "three"):
        stage.say(text)
    await stage.settle()
    found = await stage.answer(stage.history.find, "")
    assert await stage.answer(stage.history.words, found, [Rows(0, 1)]) == "two\nthree"
    told = await stage.answer(stage.history.export, found, [Rows(0, 2)], tmp_path / "said.srt")
    assert told == "3 utterances written to said.srt."
    assert (tmp_path / "said.srt").read_text().count("-->") == 3
    stage.history.delete(found, [Rows(2, 2)])
    await stage.settle()
    assert await stage.texts() == ["three", "two"]
    stage.history.delete_all()
    await stage.settle()
    assert stage.history.view.total == 0


async def test_an_export_that_cannot_be_written_is_told_and_leaves_nothing(stage: Stage, tmp_path: Path) -> None:
    stage.say("one")
    await stage.settle()
    found = await stage.answer(stage.history.find, "")
    answer = await stage.answer(stage.history.export, found, [Rows(0, 0)], tmp_path / "missing" / "said.txt")
    assert stage.told == [("export_failed", answer)]
    assert "said.txt cannot be written" in answer
