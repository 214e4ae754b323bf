"""Realistic states of the page about sessions and memory, used by its tests and by ``screenshots.py``."""

from __future__ import annotations

from dataclasses import replace

import scenes

from sayso.app.memory_policy import PRESETS, Controls, Preset, changed
from sayso.app.memory_view import Freeing, MemoryView, Place, Sample, SessionRow, Source, StartTimes
from sayso.app.session_orders import KEPT_WORDS
from sayso.app.snapshot import MicrophoneState, MicrophoneView, ServerKind, ServerState, ServerView, Snapshot

MB = 1_000_000
OWN = SessionRow("sess-9f1c2ab4d7e0", "streaming", 0.4, 1210.0, 0, 0, 0, 620_000, own=True)
STARTS = StartTimes("tiny.en", unloaded_ms=820, ended_ms=2140, everything_ms=3360)


def samples(seconds: int, *, engine: int = 412, device: int = 0, end_at: int | None = None) -> tuple[Sample, ...]:
    """One a second; the engine works now and then, and ends at a second if told to."""
    taken = []
    for second in range(seconds):
        held = engine + (25 if second % 90 > 60 else 0) + second // 40
        ended = end_at is not None and second >= end_at
        card = None if not device else 0 if ended else device * MB
        taken.append(Sample(1000.0 + second, 128 * MB, 86 * MB, 0 if ended else held * MB, card))
    return tuple(taken)


def shown(view: MemoryView, **changes: object) -> Snapshot:
    return replace(scenes.snapshot(**changes), memory=view)


def of(preset: Preset, **changes: object) -> MemoryView:
    values: dict[str, object] = {
        "preset": preset,
        "controls": PRESETS.get(preset, Controls()),
        "source": Source.LOCAL,
        "engine": "ready",
        "samples": samples(600),
        "sessions": (OWN,),
        "starts": STARTS,
    }
    return MemoryView(**{**values, **changes})  # type: ignore[arg-type]


def balanced() -> Snapshot:
    return shown(of(Preset.BALANCED))


def first_look() -> Snapshot:
    return shown(of(Preset.BALANCED, samples=(), sessions=(), engine="", starts=StartTimes(), source=Source.UNREACHED))


def freed() -> Snapshot:
    taken = samples(420, end_at=360)
    view = of(
        Preset.BALANCED,
        engine="idle",
        samples=(*taken[:200], *taken[260:]),
        sessions=(replace(OWN, state="ready", idle_s=74.0, audio=0),),
        freeing=Freeing.DONE,
        freed=(taken[359], taken[360]),
    )
    resting = ServerView(ServerKind.EMBEDDED, ServerState.RESTING, model="tiny.en")
    return shown(view, server=resting)


def everything_back() -> Snapshot:
    ended = tuple(Sample(1300.0 + second, 121 * MB, 0, 0, 0) for second in range(200))
    view = of(Preset.EVERYTHING_BACK, source=Source.ENDED, engine="", samples=(*samples(300), *ended), sessions=())
    resting = ServerView(ServerKind.EMBEDDED, ServerState.RESTING, model="tiny.en")
    return shown(view, server=resting)


def custom_with_sessions() -> Snapshot:
    controls = changed(changed(PRESETS[Preset.BALANCED], "drop_after_s", 45.0), "device_mb", 900)
    rows = (
        SessionRow("sess-04aa7712b1c8", "parked", 340.0, 7300.0, 0, 23 * MB, 0, 1_900_000),
        SessionRow("sess-77d1e0ffa2b3", "dropped", 903.0, 4100.0, 0, 0, 0, 2_400_000),
        SessionRow("sess-c0ffee12aa90", "hibernated", 1900.0, 9000.0, 0, 0, 23 * MB, 800_000),
        SessionRow("sess-5513bd2200aa", "disconnected", 12.0, 600.0, 23 * MB, 0, 0, 1_100_000),
        replace(OWN, device=23 * MB),
    )
    view = of(Preset.CUSTOM, controls=controls, sessions=rows, samples=samples(600, engine=1340, device=1650), fault="")
    return shown(view)


def kept() -> Snapshot:
    snapshot = custom_with_sessions()
    return replace(snapshot, memory=replace(snapshot.memory, session_fault=KEPT_WORDS[Place.HOST]))


def keeper_only() -> Snapshot:
    view = of(
        Preset.BALANCED,
        source=Source.REMOTE,
        server="speech.example.org:8000",
        sessions=(),
        refusal="Only the keeper of this server may see or change this: it asks for an admin key.",
    )
    return shown(view, server=scenes.REMOTE)


def remote() -> Snapshot:
    rows = (SessionRow("sess-04aa7712b1c8", "ready", 340.0, 7300.0, 23 * MB, 0, 0, 1_900_000), OWN)
    theirs = replace_controls(end_after_s=600.0, park_after_s=60.0, device_mb=4000)
    view = of(
        Preset.BALANCED,
        source=Source.REMOTE,
        server="192.168.1.20:8000",
        sessions=rows,
        theirs=theirs,
        samples=samples(300, engine=2100, device=6400),
    )
    return shown(view, server=scenes.REMOTE)


def plain() -> Snapshot:
    taken = tuple(Sample(each.at_s, each.desktop) for each in samples(240))
    view = of(Preset.BALANCED, source=Source.PLAIN, server="192.168.1.30:8000", engine="", samples=taken, sessions=())
    return shown(view, server=replace(scenes.REMOTE, url="ws://192.168.1.30:8000/v1/realtime"))


def waiting() -> Snapshot:
    hearing = MicrophoneView(MicrophoneState.HEARING, "USB headset", level_db=-20.0)
    return shown(of(Preset.BALANCED, freeing=Freeing.WAITING), microphone=hearing)


def fault() -> Snapshot:
    words = "Somebody is still speaking; memory is freed as soon as they have finished."
    return shown(of(Preset.KEEP_READY, fault=words))


def replace_controls(**values: float) -> Controls:
    controls = Controls()
    for name, value in values.items():
        controls = changed(controls, name, value)
    return controls


ALL = {
    "memory": balanced,
    "memory-first-look": first_look,
    "memory-freed": freed,
    "memory-everything-back": everything_back,
    "memory-custom": custom_with_sessions,
    "memory-kept": kept,
    "memory-keeper-only": keeper_only,
    "memory-remote": remote,
    "memory-plain": plain,
    "memory-waiting": waiting,
    "memory-fault": fault,
}
