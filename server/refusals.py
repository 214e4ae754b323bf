"""What a connection's turn engine says when it cannot do as it is told: codes for programs, texts for people. Pure."""

from __future__ import annotations

from sayso.server.protocol.intents import Served, Trouble

NOT_VALIDATED = Trouble("model_not_validated", "Choose a model with session.update before the first commit.")
ALREADY_RUNNING = Trouble("already_committed", "A transcription is running already: this commit was ignored.")
ALREADY_ENDED = Trouble("already_committed", "The audio of this turn has ended already: wait for its text.")
SHUTTING_DOWN = Trouble("shutting_down", "The server is shutting down: connect again in a moment.", turn_lost=True)


def unknown_model(model: str, served: Served, *, turn_lost: bool = False) -> Trouble:
    names = ", ".join(sorted(served.names))
    return Trouble("model_not_found", f"The model `{model}` is not served here. Served: {names}.", turn_lost)


def inbox_full(waiting_s: float, engine_state: str) -> Trouble:
    """``engine_state``: why the audio waits, empty when the engine is ready."""
    why = f" The engine is not ready ({engine_state})." if engine_state else ""
    return Trouble("buffer_full", f"{waiting_s:g} seconds of audio wait already: this audio was refused.{why}")


def too_many_turns(waiting: int) -> Trouble:
    return Trouble("buffer_full", f"{waiting} turns wait already: wait for transcription.done.")


def turn_too_long(turn_s: float) -> Trouble:
    text = f"A turn may be {turn_s / 3600:g} hours long: end it with a final commit. Audio refused."
    return Trouble("buffer_full", text)


def audio_lost(gone_ms: int) -> Trouble:
    """The turn goes on without so much of its audio."""
    text = f"{gone_ms / 1000:.1f} seconds of speech were lost with the engine."
    return Trouble("audio_lost", text, lost_ms=gone_ms)
