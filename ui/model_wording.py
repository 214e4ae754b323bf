"""Models and engines in words for people: pure functions from view values to texts. Pure."""

from __future__ import annotations

from sayso.app.engine_speed import KEEPS_UP, LEAVES_ROOM, seconds
from sayso.app.engine_view import AUTOMATIC, EngineFacts, EngineView, ModelRow, Work
from sayso.ui.text import together

_LANGUAGES = {"en": "English", "many": "99 languages"}
_DEVICES = {AUTOMATIC: "Automatic", "cpu": "Processor", "cuda": "NVIDIA graphics (CUDA)", "mps": "Apple graphics (MPS)"}
_STATES = {
    "idle": "The engine rests to free memory; it starts when you speak.",
    "starting": "The engine is starting.",
    "loading": "The engine is loading its model.",
    "restarting": "The engine has stopped and is being started again.",
    "failed": "The engine cannot start.",
}


def size(count: int) -> str:
    """“76 MB”, “1.5 GB”."""
    return f"{count / 1e9:.1f} GB" if count >= 10**9 else f"{count / 1e6:.0f} MB"


def languages(row: ModelRow) -> str:
    if not row.languages:
        return ""
    named = [_LANGUAGES[each] for each in row.languages if each in _LANGUAGES]
    return named[0] if len(row.languages) == 1 and named else f"{len(row.languages)} languages"


def speed(row: ModelRow) -> str:
    """What was measured, judged."""
    if row.factor is None:
        return "not measured" if row.installed else ""
    judged = "fast" if row.factor <= LEAVES_ROOM else "keeps up" if row.factor <= KEEPS_UP else "too slow"
    return f"{seconds(row.factor)}, {judged}"


def about(row: ModelRow) -> str:
    """What there is to tell of a model beside its figures."""
    if row.fault:
        return row.fault
    memory = f"It takes about {size(row.memory_bytes)} of memory." if row.memory_bytes else ""
    licence = f"Licence of the weights: {row.licence}." if row.licence else ""
    own = f"{row.name}, whose files are left alone." if row.own else ""
    return together(" ".join(filter(None, (own or f"{row.shown}.", memory, licence))))


def presence(row: ModelRow, view: EngineView) -> str:
    """Whether a model is here or in use."""
    if row.fault:
        return "cannot be used"
    if view.work is Work.FETCHING and view.about == row.name:
        return "downloading"
    if row.installed:
        return "in use" if view.running == row.name else "your folder" if row.own else "installed"
    if row.fetched_bytes:
        return f"{100 * row.fetched_bytes // max(1, row.download_bytes)} % downloaded"
    return "not downloaded"


def device(name: str) -> str:
    return _DEVICES.get(name, name)


def running(view: EngineView) -> str:
    """What runs now, in a sentence or two."""
    facts = view.facts
    if facts is None or not facts.state:
        if view.remote:
            return f"{view.remote} transcribes. It tells nothing about its engine."
        return "The engine on this computer does not run now; it starts when you speak."
    if facts.state != "ready":
        return f"{_where(view)}{_STATES.get(facts.state, facts.state)}"
    threads = f" with {facts.threads} thread{'' if facts.threads == 1 else 's'}" if facts.device == "cpu" else ""
    return f"{_where(view)}{facts.model} on {_on(facts.device)}{threads}{_figures(facts)}"


def _where(view: EngineView) -> str:
    return f"{view.remote} reports: " if view.remote else ""


def _on(name: str) -> str:
    return {"cpu": "the processor", "mps": "the graphics processor"}.get(name, f"the graphics card ({name})")


def _figures(facts: EngineFacts) -> str:
    parts = []
    if facts.resident_bytes:
        parts.append(f"{size(facts.resident_bytes)} of memory")
    if facts.device_bytes:
        parts.append(f"{size(facts.device_bytes)} on the graphics card")
    if facts.start_ms:
        parts.append(f"started in {facts.start_ms / 1000:.1f} s")
    return f" · {' · '.join(parts)}" if parts else ""


def work(view: EngineView) -> str:
    """What goes on with a model; empty when nothing does."""
    about = view.shown(view.about)
    match view.work:
        case Work.FETCHING if view.total_bytes:
            return f"Downloading {about}: {size(view.done_bytes)} of {size(view.total_bytes)}"
        case Work.FETCHING:
            return f"Downloading {about}: asking for it"
        case Work.MEASURING:
            return f"Measuring {about} on this computer"
        case Work.LOADING:
            loaded = "the chosen model" if view.about == AUTOMATIC else about
            return f"Loading {loaded}; the engine of before goes on until it is ready"
        case Work.REMOVING:
            return f"Removing {about}"
        case Work.CHECKING:
            return f"Looking into {view.about}"
        case Work.NONE:
            return ""
