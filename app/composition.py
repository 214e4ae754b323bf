"""The composition root of the desktop without widgets: builds the assistant and everything it drives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from sayso.app.actions import HARDWARE, Performer, create
from sayso.app.alarms import Alarms
from sayso.app.assistant import Assistant
from sayso.app.audio.gate import GateOptions
from sayso.app.audio.listener import Listener
from sayso.app.audio.muffler import Muffler
from sayso.app.command_book import CommandBook
from sayso.app.commander import Commander
from sayso.app.commands.grammar import Grammar
from sayso.app.engine_panel import EnginePanel
from sayso.app.first_run import FirstRun
from sayso.app.history.history import History, history_folder
from sayso.app.local_server import LocalServer
from sayso.app.memory_panel import MemoryPanel
from sayso.app.messages import Messages
from sayso.app.microphone_check import MicrophoneCheck
from sayso.app.options import Options
from sayso.app.panels import Panels
from sayso.app.realtime.client import RealtimeClient
from sayso.app.remote_servers import RemoteServers
from sayso.app.server_choice import ServerChoice
from sayso.app.settings import KeyStore, Loaded, Settings
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import Snapshot
from sayso.app.suspend_watch import SuspendWatch
from sayso.app.ways import Ways


def compose(
    publish: Callable[[Snapshot], None],
    loaded: Loaded,
    local: LocalServer,
    environment: Mapping[str, str],
    hardware: Path = HARDWARE,
    own_has_keyboard: Callable[[], bool] = lambda: False,
) -> Assistant:
    """An assistant ready to ``run`` on the current event loop. ``local`` may have been spawned before.

    ``environment`` is what the user's session gave us: it tells what can be acted on, and started programs get it.
    ``hardware`` is the kernel's folder of device classes. ``own_has_keyboard`` tells whether one of our windows has the
    keyboard; any thread calls it.

    Raises GrammarError where the commands that come with the app are missing or broken.
    """
    store = SettingsStore(loaded)
    assistant = Assistant(publish, store)
    client = RealtimeClient(local.endpoint, assistant.receive)
    history = History(store, history_folder(), assistant.changed, assistant.notify, assistant.spawn)
    acts = partial(create, environment=environment, hardware=hardware, own_has_keyboard=own_has_keyboard)
    commander = _commander(assistant, history, loaded.settings, acts)
    keys = KeyStore()
    server = ServerChoice(client, local, keys, loaded.settings)
    messages = Messages(environment, assistant.spawn)
    muffler = Muffler(assistant.hear)
    listener = Listener(muffler, GateOptions(wait_ms=loaded.settings.wait_ms))
    panels = Panels(
        engine=EnginePanel(store, server, local, assistant.changed, assistant.spawn),
        guide=FirstRun(store, server, commander, assistant.changed),
        commands=CommandBook(store, commander, client.expect_words, assistant.changed, assistant.spawn, environment),
        history=history,
        options=Options(store, listener, assistant.changed, assistant.spawn, messages.tell),
        check=MicrophoneCheck(store, listener.sound, muffler, assistant.changed, assistant.spawn),
        servers=RemoteServers(store, keys, assistant.changed, assistant.spawn),
        ways=Ways(assistant, store, listener, commander, environment),
        memory=MemoryPanel(store, client, server, local, assistant.changed, assistant.spawn),
    )
    suspends = SuspendWatch(assistant, store, listener, client.proof, environment)
    assistant.join(listener, client, commander, server, panels, beside=[suspends.run])
    return assistant


def _commander(assistant: Assistant, history: History, settings: Settings, acts: Callable[..., Performer]) -> Commander:
    """What acts, by the user's commands, for this assistant; ``acts`` makes who carries them out."""
    alarms = Alarms()
    return Commander(
        Grammar.load(own=settings.own_commands, off=settings.off_commands),
        acts(alarms=alarms),
        assistant.changed,
        assistant.outcome,
        mode=settings.mode,
        alarms=alarms,
        on_carried_out=history.record,
    )
