"""The ways to listen: what the key does in each, and what is told when it cannot. The key and the rest are recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from sayso.app.hotkeys.base import Escaped, HotkeyError, KeyEvent, KeysFound, KeysLost, Pressed, Released
from sayso.app.hotkeys.shortcut import Shortcut
from sayso.app.settings import Loaded, Settings, load
from sayso.app.settings_store import SettingsStore
from sayso.app.ways import Ways
from sayso.app.ways_view import Way


class Recorded:
    """Controller, microphone and commander at once: they only write down what they were asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.notices: dict[str, str] = {}
        self.listening = True
        self.asleep = False
        self.attentive = False
        self.tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self.listening = True
        self.asked.append(("start",))

    def stop(self) -> None:
        self.listening = False
        self.asked.append(("stop",))

    def wake(self) -> None:
        self.asleep = False

    def sleep(self) -> None:
        self.asleep = True

    def notify(self, code: str, text: str) -> None:
        self.notices[code] = text

    def dismiss(self, code: str) -> None:
        self.notices.pop(code, None)

    def changed(self) -> None:
        pass

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *values, **named: self.asked.append((name, *values, *named.values()))


class PlayedKeys:
    """Keys of a desktop that refuses some."""

    tells_escape = True

    def __init__(self) -> None:
        self.taken: Shortcut | None = None
        self.refused: dict[str, str] = {}
        self.given = ""
        self.closed = False

    async def use(self, shortcut: Shortcut | None, purpose: str) -> str:
        assert purpose
        self.taken = None
        if shortcut is not None and shortcut.text in self.refused:
            raise HotkeyError("key_taken", self.refused[shortcut.text])
        self.taken = shortcut
        return self.given

    def close(self) -> None:
        self.closed = True


class Made:
    def __init__(self, folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        self.keys = PlayedKeys()
        self.rest = Recorded()
        monkeypatch.setattr("sayso.app.ways.choose", lambda environment, on_event: self.keys)
        self.store = SettingsStore(Loaded(settings), folder)
        rest: Any = self.rest
        self.ways = Ways(rest, self.store, rest, rest, {})

    async def settle(self) -> None:
        await asyncio.wait_for(asyncio.gather(*self.rest.tasks), 10)
        await asyncio.wait_for(self.store.written(), 10)

    async def begun(self) -> Made:
        self.ways.begin()
        await self.settle()
        self.rest.asked.clear()
        return self

    def press(self, *events: KeyEvent) -> list[object]:
        """What these events led to."""
        self.rest.asked.clear()
        for event in events:
            self.ways.key(event)
        return [asked[0] if len(asked) == 1 else asked for asked in self.rest.asked]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Made]:
    return lambda **settings: Made(tmp_path, Settings(**settings), monkeypatch)


async def test_each_way_takes_its_own_key_and_tells_the_microphone_whether_a_voice_counts(
    make: Callable[..., Made],
) -> None:
    made = make(way=Way.HOLD, hold_shortcut="Pause", toggle_shortcut="Ctrl+Alt+T")
    made.ways.begin()
    await made.settle()
    assert made.keys.taken == Shortcut((), "Pause")
    assert ("set_by_voice", False) in made.rest.asked
    made.ways.use_way(Way.TOGGLE)
    await made.settle()
    assert made.keys.taken == Shortcut(("Ctrl", "Alt"), "T")
    assert made.rest.asked[-1] == ("stop",)
    made.ways.use_way(Way.HANDS_FREE)
    await made.settle()
    assert made.keys.taken is None
    assert ("set_by_voice", True) in made.rest.asked
    assert made.rest.listening


async def test_holding_takes_what_is_said_and_lets_deeds_wait(make: Callable[..., Made]) -> None:
    made = await make(way=Way.HOLD).begun()
    made.rest.asleep = True
    assert made.press(Pressed()) == [("hold_back", True), "press"]
    assert made.ways.view.held
    assert not made.rest.asleep
    assert made.press(Released()) == ["release", ("hold_back", False)]
    assert not made.ways.view.held
    made.ways.close()


async def test_holding_opens_a_closed_microphone_and_closes_it_after_the_utterance(make: Callable[..., Made]) -> None:
    made = await make(way=Way.HOLD).begun()
    made.rest.listening = False
    assert made.press(Pressed(), Released())[0] == "start"
    made.rest.asked.clear()
    made.ways.utterance_ended()
    assert made.rest.asked == [("stop",)]
    made.ways.close()


async def test_escape_drops_what_is_said(make: Callable[..., Made]) -> None:
    made = await make(way=Way.HOLD).begun()
    made.press(Pressed())
    assert made.ways.view.drops_with_escape
    assert made.press(Escaped(), Released()) == ["cancel", "release", ("hold_back", False)]
    made.ways.close()


async def test_a_release_that_nobody_saw_is_told(make: Callable[..., Made]) -> None:
    made = await make(way=Way.HOLD).begun()
    made.press(Pressed(), Released(seen=False))
    assert "unseen" in made.rest.notices["key"]
    made.ways.close()


async def test_the_key_starts_and_stops(make: Callable[..., Made]) -> None:
    made = await make(way=Way.TOGGLE).begun()
    made.rest.listening = False
    assert made.press(Pressed(), Released()) == ["start"]
    assert made.press(Pressed(), Released()) == ["stop"]


async def test_hands_free_the_key_sends_to_sleep_and_wakes_and_opens_a_closed_microphone(
    make: Callable[..., Made],
) -> None:
    made = await make(sleep_shortcut="Pause").begun()
    for asleep in (True, False):
        made.press(Pressed(), Released())
        assert made.rest.asleep is asleep
    made.rest.listening = False
    assert made.press(Pressed(), Released()) == ["start"]


async def test_a_chosen_key_is_in_force_at_once_and_kept(make: Callable[..., Made], tmp_path: Path) -> None:
    made = await make(way=Way.HOLD).begun()
    made.ways.use_key("Ctrl+Shift+F8")
    await made.settle()
    assert made.keys.taken == Shortcut(("Ctrl", "Shift"), "F8")
    assert (made.ways.view.key, made.ways.view.key_works) == ("Ctrl+Shift+F8", True)
    assert load(tmp_path).settings.hold_shortcut == "Ctrl+Shift+F8"
    made.ways.use_key("")
    await made.settle()
    assert (made.keys.taken, made.ways.view.key, made.ways.view.key_works) == (None, "", False)


async def test_an_unfit_key_is_refused_with_its_reason_and_the_old_one_stays(make: Callable[..., Made]) -> None:
    made = await make(way=Way.HOLD, hold_shortcut="Pause").begun()
    made.ways.use_key("A")
    await made.settle()
    assert made.keys.taken == Shortcut((), "Pause")
    assert "needed for typing" in made.ways.view.key_detail
    made.ways.use_key("Hyper+A")
    assert "no key that Sayso knows" in made.ways.view.key_detail


async def test_a_key_that_is_taken_is_told_in_the_page_and_in_the_window_until_another_works(
    make: Callable[..., Made],
) -> None:
    made = await make(way=Way.HOLD, hold_shortcut="Pause").begun()
    made.keys.refused["F9"] = "Another program has taken “F9” already."
    made.ways.use_key("F9")
    await made.settle()
    view = made.ways.view
    assert (view.key, view.key_works, view.key_detail) == ("F9", False, "Another program has taken “F9” already.")
    assert made.rest.notices["key"] == view.key_detail
    made.ways.use_key("Pause")
    await made.settle()
    assert made.ways.view.key_works
    assert made.rest.notices == {}


async def test_while_a_key_is_chosen_the_present_one_is_free(make: Callable[..., Made]) -> None:
    made = await make(way=Way.HOLD, hold_shortcut="Pause").begun()
    made.ways.listen_for_key(True)
    await made.settle()
    assert made.keys.taken is None
    made.ways.listen_for_key(False)
    await made.settle()
    assert made.keys.taken == Shortcut((), "Pause")


async def test_a_lost_key_is_told_until_it_is_found(make: Callable[..., Made]) -> None:
    made = await make(way=Way.HOLD).begun()
    made.press(KeysLost("This keyboard has no key “Pause”."))
    assert not made.ways.view.key_works
    assert "no key" in made.rest.notices["key"]
    made.press(KeysFound())
    assert made.ways.view.key_works
    assert made.rest.notices == {}


@pytest.mark.parametrize(("given", "key"), [("Meta+Space", "Meta+Space"), ("Press Space twice", "Pause")])
async def test_a_desktop_that_gives_another_key_is_believed(make: Callable[..., Made], given: str, key: str) -> None:
    made = make(way=Way.HOLD, hold_shortcut="Pause")
    made.keys.given = given
    await made.begun()
    assert made.ways.view.key == key
    assert given in made.ways.view.key_detail
    made.press(KeysLost("The desktop has taken the key back."))
    assert made.ways.view.key == "Pause"
    made.press(KeysFound(given))
    assert made.ways.view.key == key


async def test_where_a_key_is_held_commands_stand_for_its_going_down_and_up(make: Callable[..., Made]) -> None:
    made = await make(way=Way.HOLD).begun()

    def asked(command: Callable[[], None]) -> list[object]:
        made.rest.asked.clear()
        command()
        return [each[0] for each in made.rest.asked]

    assert asked(made.ways.start) == ["hold_back", "press"]
    assert made.ways.view.held
    assert asked(made.ways.start) == []
    assert asked(made.ways.stop) == ["release", "hold_back"]
    assert asked(made.ways.toggle) == ["hold_back", "press"]
    made.press(Escaped())
    # The key that stands for it cannot go up unless it goes down once more.
    assert asked(made.ways.toggle) == ["hold_back", "press"]
    assert asked(made.ways.toggle) == ["release", "hold_back"]
    assert asked(made.ways.stop) == ["stop"]


async def test_in_the_other_ways_commands_start_and_stop(make: Callable[..., Made]) -> None:
    made = await make(way=Way.TOGGLE).begun()
    for command in (made.ways.start, made.ways.stop, made.ways.toggle):
        command()
    assert [each[0] for each in made.rest.asked] == ["start", "stop", "toggle"]


async def test_the_wake_phrase_counts_hands_free_only(make: Callable[..., Made], tmp_path: Path) -> None:
    made = await make().begun()
    made.ways.set_phrase("  okay   sayso ")
    made.ways.ask_phrase(True)
    assert made.rest.asked[-1] == ("use_phrase", "okay sayso", True)
    made.ways.use_way(Way.HOLD)
    assert ("use_phrase", "okay sayso", False) in made.rest.asked
    await made.settle()
    settings = load(tmp_path).settings
    assert (settings.wake_phrase, settings.asks_phrase) == ("okay sayso", True)


@pytest.mark.parametrize(
    ("way", "wanted", "listens"),
    [(Way.HANDS_FREE, True, True), (Way.HOLD, True, True), (Way.TOGGLE, True, False), (Way.HANDS_FREE, False, False)],
)
async def test_where_a_key_starts_it_nothing_else_does(
    make: Callable[..., Made], way: Way, wanted: bool, listens: bool
) -> None:
    assert make(way=way, listens_at_start=wanted).ways.listens_at_start is listens


async def test_closing_ends_what_is_taken_and_gives_the_key_back(make: Callable[..., Made]) -> None:
    made = await make(way=Way.HOLD).begun()
    made.press(Pressed())
    made.rest.asked.clear()
    made.ways.close()
    assert made.rest.asked == [("release",), ("hold_back", False)]
    assert made.keys.closed
    assert made.ways._ticking is None
