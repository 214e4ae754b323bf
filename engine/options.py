"""The engine's own settings, as frozen values; imports no torch.

Times are milliseconds, sizes samples at 16 kHz or bytes, as the names say.
"""

from __future__ import annotations

from dataclasses import dataclass

from sayso.engine.messages import SAMPLE_RATE, Retention

SAMPLES_PER_MS = SAMPLE_RATE // 1000


@dataclass(frozen=True)
class Limits:
    """What one engine accepts before it says no."""

    sessions: int = 4096
    """Far more than servers let in: whom to refuse is theirs to say, before anything is said."""
    unheard_s: float = 960.0
    """Audio a session may have waiting for the voice detector: what a server lets wait, and what it replays besides."""
    inbox_bytes: int = 96 * 1024 * 1024
    """Messages not yet taken by the loop; beyond it the pipe is not read, so its writer waits."""
    batch: int = 256
    batch_cost_ms: float = 400.0
    """One step takes no more work than this, unless a single piece is dearer: a slow session stalls no other."""
    detect_frames: int = 62
    """Frames of one session that the voice detector takes at once: about 2 s."""


@dataclass(frozen=True)
class Segmentation:
    """When speech starts and stops, decided on the voice detector's probabilities."""

    start_probability: float = 0.5
    stay_probability: float = 0.35
    """Once in silence, only ``start_probability`` counts as speech again; while in speech this is enough."""
    start_frames: int = 3
    """Frames of speech (32 ms each) among the last ``start_window`` before an utterance begins."""
    start_window: int = 4
    preroll_ms: int = 320
    pause_ms: int = 200
    """Silence after which the text is decoded as if the utterance had ended, so that a flush finds it ready."""
    endpoint_ms: int = 640
    """Silence that ends the utterance."""


@dataclass(frozen=True)
class Reporting:
    """How often the engine speaks of itself."""

    memory_s: float = 1.0
    metrics_s: float = 1.0
    quiet_s: float = 1.0
    """So long after the last step libraries are made to give back what they keep to be faster."""


@dataclass(frozen=True)
class TokenLimits:
    """What the sessions of a token model may take."""

    sessions: int = 256
    """Open at once, paused ones included: those only hold memory that can be taken from them."""
    queued_chunks: int = 4
    """Chunks of a session that wait to join; its generator is not asked for more."""
    unread: int = 1024
    """Outputs that a client has not taken; its session computes nothing more until it does."""
    idle_s: float = 600.0
    """A session that does not move for so long is ended: no chunk came, its client does not read, or no memory."""
    retention: Retention | None = None
    """When idle sessions give back the memory of their cache before that."""
    prompt_s: float = 0.2
    """By when the first token of a chunk's answer should come, after it joined."""
    token_s: float = 0.05
    """By so much later each next token of its answer: who is behind this pace goes before those who are not."""
    batch: int = 256
    batch_cost_ms: float = 400.0
    step_tokens: int = 1024
    stuck_s: float = 300.0
    """A step that takes longer is given up by those who wait for it."""
