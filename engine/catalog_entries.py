"""The models that Sayso knows by name: data and nothing else. A new model is one entry here and one runner.

Sizes are those of the files that are fetched. Memory is an estimate from the number of weights; a runner's own
accounting is exact. Sources are the models' cards.
"""

from __future__ import annotations

from dataclasses import dataclass

ENGLISH = ("en",)
MANY = ("many",)
"""Whisper's 99 languages."""


@dataclass(frozen=True)
class Entry:
    """One model. ``repository`` is its id on the hub, empty for what only a package brings."""

    name: str
    kind: str
    """Which runner takes it; see ``engine.runner.registry``."""
    repository: str
    parameters: int
    download_bytes: int
    languages: tuple[str, ...]
    licence: str
    delays_ms: tuple[int, ...] = ()
    """Delays between speech and text that a client may choose; empty when the text follows as it becomes certain."""
    session_bytes: int = 0
    """What one session takes at most beside the weights, where that is much."""
    package: str = ""
    """The extra that can bring the model with it."""

    @property
    def hears(self) -> bool:
        """Whether it transcribes speech; the others answer text with text."""
        return self.kind != "causal"


VOXTRAL_LANGUAGES = ("en", "fr", "es", "de", "ru", "zh", "ja", "it", "pt", "nl", "ar", "hi", "ko")
_VOXTRAL_DELAYS = (*range(80, 1201, 80), 2400)


def _whisper(size: str, millions: int, megabytes: int, package: str = "") -> Entry:
    languages = ENGLISH if size.endswith(".en") else MANY
    repository = f"Systran/faster-whisper-{size}"
    return Entry(size, "whisper", repository, millions * 10**6, megabytes * 10**6, languages, "MIT", package=package)


ENTRIES: tuple[Entry, ...] = (
    Entry("tiny.en", "whisper", "", 39 * 10**6, 76 * 10**6, ENGLISH, "MIT", package="offline"),
    _whisper("tiny", 39, 76),
    _whisper("base.en", 74, 145),
    _whisper("base", 74, 145, package="offline-base"),
    _whisper("small.en", 244, 484),
    _whisper("small", 244, 484),
    _whisper("medium.en", 769, 1528),
    _whisper("medium", 769, 1528),
    _whisper("large-v2", 1550, 3087),
    _whisper("large-v3", 1550, 3087),
    Entry(
        "voxtral-realtime",
        "voxtral_realtime",
        "mistralai/Voxtral-Mini-4B-Realtime-2602",
        4430 * 10**6,
        8860 * 10**6,
        VOXTRAL_LANGUAGES,
        "Apache-2.0",
        _VOXTRAL_DELAYS,
        session_bytes=1070 * 10**6,
    ),
    Entry(
        "smollm2-360m",
        "causal",
        "HuggingFaceTB/SmolLM2-360M-Instruct",
        362 * 10**6,
        724 * 10**6,
        ENGLISH,
        "Apache-2.0",
    ),
    Entry("qwen3-0.6b", "causal", "Qwen/Qwen3-0.6B", 752 * 10**6, 1503 * 10**6, MANY, "Apache-2.0"),
    Entry("qwen3-1.7b", "causal", "Qwen/Qwen3-1.7B", 2032 * 10**6, 4063 * 10**6, MANY, "Apache-2.0"),
)


def find(name: str) -> Entry | None:
    """The entry of a name, or of an id of the hub."""
    by_name = next((entry for entry in ENTRIES if entry.name == name), None)
    return by_name or next((entry for entry in ENTRIES if entry.repository == name), None)
