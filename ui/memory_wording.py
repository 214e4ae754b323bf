"""The words of the page about sessions and memory: figures, times and states as a person reads them. No Qt here."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.app.memory_policy import Preset
from sayso.app.memory_view import Freeing, MemoryView, Place, Sample, SessionRow, Source, StartTimes

NOT_MEASURED = "not measured yet"
_MB = 1_000_000

PRESET_LABELS = {
    Preset.KEEP_READY: "&Keep ready",
    Preset.BALANCED: "&Balanced",
    Preset.EVERYTHING_BACK: "&Give everything back",
}
PRESET_WORDS = {
    Preset.KEEP_READY: "The engine stays in memory and answers at once.",
    Preset.BALANCED: "The model is unloaded after 5 minutes without speech, and the engine ends after 30; sooner on "
    "battery, and when memory is scarce.",
    Preset.EVERYTHING_BACK: "After a minute without speech the engine and the local server end. Only this program "
    "stays, and goes on listening.",
    Preset.CUSTOM: "Custom: the controls below are set by hand.",
}

PLACE_LABELS = {
    Place.HOST: "&Park in main memory",
    Place.DISK: "&Hibernate to disk",
    Place.DROPPED: "&Drop and recompute",
}


def size(nbytes: int | None) -> str:
    """An amount of memory: `412 MB`, `1.4 GB`; a dash where nobody tells."""
    if nbytes is None:
        return "–"  # noqa: RUF001
    if nbytes >= 1000 * _MB:
        return f"{nbytes / 1000 / _MB:.1f} GB"
    megabytes = nbytes / _MB
    return f"{megabytes:.1f} MB" if 0 < megabytes < 9.95 else f"{megabytes:.0f} MB"


def duration(seconds: float) -> str:
    """A time to choose: `10 seconds`, `1 hour 30 minutes`."""
    whole = round(seconds)
    if whole != seconds or not whole:
        return f"{seconds:g} seconds"
    parts = []
    for name, unit in (("hour", 3600), ("minute", 60), ("second", 1)):
        count, whole = divmod(whole, unit)
        if count:
            parts.append(f"{count} {name}{'s' if count > 1 else ''}")
    return " ".join(parts)


def clock(seconds: float) -> str:
    """A time that runs: `12 s`, `3 min 05 s`, `17 min`, `2 h 10 min`."""
    whole = int(max(0.0, seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 3600:
        return f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def choice_words(preset: Preset, starts: StartTimes) -> str:
    """What a preset does, and how long the engine then takes to come back, as measured on this machine."""
    ways = {
        Preset.BALANCED: ((starts.unloaded_ms, "after unloading"), (starts.ended_ms, "after the engine's end")),
        Preset.EVERYTHING_BACK: ((starts.everything_ms, "from nothing"),),
    }
    return " ".join(filter(None, (PRESET_WORDS[preset], _cost(ways.get(preset, ())))))


def _cost(ways: Sequence[tuple[int, str]]) -> str:
    if not ways:
        return ""
    if not any(ms for ms, _ in ways):
        return f"How long coming back takes is {NOT_MEASURED}."
    told = [f"{ms / 1000:.1f} s {when}" if ms else f"{NOT_MEASURED} {when}" for ms, when in ways]
    return f"Coming back takes, as measured here: {', '.join(told)}."


def source_words(view: MemoryView) -> str:
    """Where the figures come from and what is missing; nothing where all is as usual."""
    match view.source:
        case Source.ENDED:
            return "The engine and the local server have ended. They start again when you speak."
        case Source.REMOTE:
            return f"Server and engine are on {view.server}, and the figures are what it reports."
        case Source.PLAIN:
            return (
                f"{view.server} is no Sayso server and tells nothing of its memory. What it holds for you it gives "
                "back when the connection is closed; this desktop can do that while you are silent."
            )
        case Source.UNREACHED if view.server:
            return f"{view.server} does not answer."
        case Source.UNREACHED:
            return "The local server is starting."
    return ""


def engine_note(view: MemoryView) -> str:
    """What stands over the engine's controls: whose they are where that is not this desktop, and what cannot work."""
    notes = [f"These are the rules of {view.server}; they are changed there."] if view.server else []
    if view.scarcity_unknown:
        notes.append("The system does not tell how scarce memory is, so only times and the battery count.")
    return " ".join(notes)


def engine_words(view: MemoryView) -> str:
    """How the engine is."""
    words = {
        "ready": "The engine is ready.",
        "idle": "The engine rests and starts when you speak.",
        "starting": "The engine is starting.",
        "loading": "The engine is loading its model.",
        "restarting": "The engine has stopped and is being started again.",
        "failed": "The engine cannot start.",
    }
    return words.get(view.engine, "")


def parts(sample: Sample) -> list[tuple[str, int | None]]:
    """The processes by name and what each holds."""
    named = [("Desktop", sample.desktop), ("Server", sample.server), ("Engine", sample.engine)]
    return [*named, ("Graphics card", sample.device)] if sample.device else list(named)


def graph_words(samples: Sequence[Sample]) -> str:
    """The graph in a sentence."""
    if not samples:
        return "Nothing measured yet."
    now, most = samples[-1], max(each.total for each in samples)
    told = ", ".join(f"{name.lower()} {size(value)}" for name, value in parts(now) if value is not None)
    span = clock(now.at_s - samples[0].at_s)
    return f"Now {size(now.total)} in all: {told}. At most {size(most)} in the last {span}."


def freed_words(view: MemoryView) -> str:
    """What came of *Free memory now*."""
    if view.freeing is Freeing.WAITING:
        return "Freed as soon as nobody speaks …"
    if view.freed is None:
        return ""
    before, after = view.freed
    changes = [
        f"{name.lower()} {size(was)} → {size(left)}"
        for (name, was), left in zip(
            (("Desktop", before.desktop), ("Server", before.server), ("Engine", before.engine)),
            (after.desktop, after.server, after.engine),
            strict=True,
        )
        if was is not None and left is not None and abs(was - left) >= _MB
    ]
    gained = max(0, before.total - after.total)
    if not changes:
        return "Nothing was there to be freed." if view.source is not Source.PLAIN else "The connection is closed."
    return f"{size(gained)} came back: {', '.join(changes)}."


def session_name(row: SessionRow) -> str:
    """A session as the table calls it."""
    return "This desktop" if row.own else row.id.removeprefix("sess-")[:8]


def nothing_to_put_away(engine: str) -> str:
    """Why a session cannot be put away."""
    if engine != "ready":
        return "The engine is not ready, so nothing can be put away."
    return "The model holds nothing for this session that could be put away."


def sessions_words(view: MemoryView) -> str:
    """What stands in place of the table, or below it."""
    if view.refusal:
        return view.refusal
    if view.source in (Source.PLAIN, Source.UNREACHED):
        return ""
    if not view.sessions:
        return "No session is open."
    return ""
