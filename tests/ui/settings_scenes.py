"""Realistic states of the settings window, used by ``screenshots.py``: a page, what it shows, and what is searched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import memory_scenes
import scenes

from sayso.app.commands.grammar import Grammar
from sayso.app.commands_view import CommandRow, CommandsView
from sayso.app.engine_view import EngineFacts, EngineView, ModelRow
from sayso.app.history.view import HistoryView
from sayso.app.microphone_check_view import CheckState, MicrophoneCheckView
from sayso.app.remote_server_view import Finding, KeyPlace, RemoteServerView
from sayso.app.snapshot import MicrophoneChoice, OptionsView, ServerState, Snapshot
from sayso.app.ways_view import Way, WaysView

SECURE = "wss://speech.example.org/v1/realtime"
MICROPHONES = (MicrophoneChoice("usb", "USB headset"), MicrophoneChoice("desk", "Built-in Audio Analog Stereo"))
OWN = ModelRow(
    "/home/ada/models/whisper-small-legal",
    ("many",),
    967_000_000,
    891_000_000,
    "",
    True,
    factor=1.94,
    title="whisper-small-legal",
    own=True,
)
GONE = ModelRow(
    "/media/disk/voxtral-mini",
    (),
    0,
    0,
    "",
    False,
    title="voxtral-mini",
    own=True,
    fault="There is no folder /media/disk/voxtral-mini. If it is on another disk, connect that.",
)
WRITES = (
    "The model in /home/ada/models/SmolLM2-360M continues text and cannot hear: it is of no use for listening. A "
    "server takes such a model beside one that hears: sayso serve --text-model."
)
ENGINE = EngineView(
    facts=EngineFacts("ready", "tiny.en", "cpu", 2, 2100, 430_000_000),
    models=(
        ModelRow("tiny.en", ("en",), 76_000_000, 420_000_000, "MIT", True, is_automatic=True, factor=0.21),
        ModelRow("base.en", ("en",), 145_000_000, 500_000_000, "MIT", False),
        ModelRow("small", ("many",), 484_000_000, 891_000_000, "MIT", False, fetched_bytes=121_000_000),
        OWN,
    ),
    devices=("cpu",),
    most_threads=4,
)
TAKEN = "Another program has taken “F9” already. Choose another key."
FACTS = (("Server", "Sayso 0.1.0"), ("Engine", "ready"), ("Model", "tiny.en"), ("Round trip", "3.4 ms"))
WORKS = Finding(True, "works", "It works", facts=FACTS, models=("auto", "tiny.en", "base.en"))
EXPIRED = Finding(
    False,
    "tls_expired",
    "Its certificate is not trusted",
    "The certificate of speech.example.org has expired. Its owner must renew it.",
)


@dataclass(frozen=True)
class SettingsScene:
    page: str
    snapshot: Snapshot
    search: str = ""
    height: int = 140
    """Of the window, in units of the theme's spacing."""
    session: int = 0
    """Which row of the table of sessions is chosen, counted from 0; none for the first."""
    typed: str = ""
    """An address that was typed on the page *Server*, with a key, and not used."""
    folder: str = ""
    """A folder that was typed on the page *Engine*."""
    model: int = 0
    """Which row of the models is chosen."""


@cache
def _rows() -> tuple[CommandRow, ...]:
    return tuple(CommandRow(each.intent, each.say, each.help) for each in Grammar.load().commands.values())


def _snapshot(**changes: object) -> Snapshot:
    values = {
        "options": OptionsView("", MICROPHONES),
        "engine": ENGINE,
        "memory": memory_scenes.balanced().memory,
        "commands": CommandsView(_rows()),
        **changes,
    }
    return replace(scenes.listening(), **values)  # type: ignore[arg-type]


def _page(title: str, **changes: object) -> SettingsScene:
    return SettingsScene(title, _snapshot(**changes))


def _server(finding: Finding | None, *, trying: bool = False, state: ServerState = ServerState.READY) -> SettingsScene:
    url = SECURE if finding is EXPIRED else scenes.REMOTE.url
    servers = RemoteServerView(url, "", url, KeyPlace.KEYRING, trying, url if trying or finding else "", finding)
    detail = finding.advice if finding is not None and state is not ServerState.READY else ""
    return _page("Server", server=replace(scenes.REMOTE, url=url, state=state, detail=detail), servers=servers)


def _listening(ways: WaysView) -> SettingsScene:
    return SettingsScene("Listening", _snapshot(ways=ways), height=160)


def _recording() -> SettingsScene:
    return _page("Microphone", check=MicrophoneCheckView(CheckState.RECORDING, level_db=-14.0))


def _recorded() -> SettingsScene:
    check = MicrophoneCheckView(CheckState.DONE, detail="The level is good (-12 dBFS at most).")
    return _page("Microphone", check=check, microphone=scenes.hot().microphone)


def _no_microphone() -> SettingsScene:
    options = OptionsView("Headset of yesterday")
    return _page("Microphone", microphone=scenes.no_microphone().microphone, options=options)


def _privacy_remote() -> SettingsScene:
    url = scenes.REMOTE.url
    servers = RemoteServerView(url, key_url=url, key_place=KeyPlace.FILE)
    history = HistoryView(30, 412, place="/home/ada/.local/share/sayso/history/history.db")
    return _page("Privacy", server=scenes.REMOTE, servers=servers, history=history)


def _memory(make: Callable[[], Snapshot]) -> SettingsScene:
    memory = make().memory
    others = max(0, len(memory.sessions) - 2)
    return SettingsScene("Sessions and memory", _snapshot(memory=memory), height=312, session=others)


ALL: dict[str, Callable[[], SettingsScene]] = {
    "settings-microphone": lambda: _page("Microphone"),
    "settings-microphone-recording": _recording,
    "settings-microphone-recorded-too-loud": _recorded,
    "settings-microphone-missing": _no_microphone,
    "settings-listening": lambda: _listening(WaysView(phrase="hey sayso")),
    "settings-listening-hold": lambda: _listening(WaysView(Way.HOLD, "Ctrl+Alt+Space", True, phrase="hey sayso")),
    "settings-listening-taken": lambda: _listening(WaysView(Way.TOGGLE, "F9", key_detail=TAKEN)),
    "settings-engine": lambda: replace(_page("Engine"), model=3),
    "settings-engine-text-model": lambda: replace(
        _page("Engine", engine=replace(ENGINE, fault=WRITES)), folder="~/models/SmolLM2-360M"
    ),
    "settings-engine-gone": lambda: replace(
        _page("Engine", engine=replace(ENGINE, models=(*ENGINE.models, GONE))), model=4
    ),
    "settings-server-embedded": lambda: _page("Server"),
    "settings-server": lambda: _server(WORKS),
    "settings-server-trying": lambda: _server(None, trying=True),
    "settings-server-fault": lambda: _server(EXPIRED, state=ServerState.REFUSED),
    "settings-commands": lambda: _page("Commands"),
    **{f"settings-{name}": partial(_memory, make) for name, make in memory_scenes.ALL.items()},
    "settings-privacy": lambda: _page("Privacy"),
    "settings-privacy-remote": _privacy_remote,
    "settings-about": lambda: _page("About"),
    "settings-server-typed": lambda: replace(_server(None), typed="speech.example.org"),
    "settings-typed-elsewhere": lambda: replace(_server(None), page="Privacy", typed="speech.example.org"),
    "settings-search": lambda: SettingsScene("Listening", _snapshot(), "microphone"),
    "settings-search-nothing": lambda: SettingsScene("Listening", _snapshot(), "aquarium"),
}
DOCUMENTED = (
    "settings-typed-elsewhere",
    *(name for name in ALL if name.count("-") == 1),
    *(f"settings-memory-{state}" for state in ("freed", "everything-back", "custom", "remote", "plain")),
)
"""One picture of each page, and the main states of the one about memory."""
