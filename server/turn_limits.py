"""What one connection may do. A value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of one connection; beyond each the client gets a coded error."""

    waiting_s: float = 600.0
    """Audio that waits for a commit, for the engine to load, or for the pipe."""
    waiting_turns: int = 16
    turn_s: float = 6 * 3600.0
    """Audio of one turn."""
    replay_s: float = 300.0
    """Audio of the open turn kept for another engine when this one is lost; of more, the oldest is lost with it."""
    idle_s: float = 0.0
    """How long a client may say nothing; 0 is for ever. A client may ask for less."""
    idle_warning_s: float = 10.0
    """How long before that it is warned; 0 is not at all."""
    session_s: float = 0.0
    """How long a connection may last; 0 is for ever."""
    resume_s: float = 0.0
    """How long the session of a lost connection waits for its client; 0 is not at all."""
