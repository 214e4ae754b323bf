"""What the windows show of the ways to listen: immutable values, published with the snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Way(StrEnum):
    """What begins and ends an utterance."""

    HANDS_FREE = "hands-free"
    """The voice alone; the key sends to sleep and wakes."""
    TOGGLE = "toggle"
    """The voice, between one press of the key and the next; else the microphone is closed."""
    HOLD = "hold"
    """The key alone: what is said while it is held."""


class OverlayPlace(StrEnum):
    """Where on the screen the overlay stands."""

    BOTTOM = "bottom"
    TOP = "top"
    BOTTOM_LEFT = "bottom left"
    BOTTOM_RIGHT = "bottom right"
    TOP_LEFT = "top left"
    TOP_RIGHT = "top right"


@dataclass(frozen=True, slots=True)
class WaysView:
    way: Way = Way.HANDS_FREE
    key: str = ""
    """The key of this way as text for people, such as “Ctrl+Alt+Space”; empty where none is chosen."""
    key_works: bool = False
    """Whether the key is watched."""
    key_detail: str = ""
    """Why the key does not work, or how the desktop names it, in words for people."""
    held: bool = False
    """Whether the key is held and what is said is taken."""
    drops_with_escape: bool = False
    """Whether Esc drops what is said while the key is held."""
    phrase: str = ""
    """The wake phrase; empty where there is none."""
    asks_phrase: bool = False
    """Whether an utterance acts only after the phrase."""
    attentive: bool = False
    """Whether the next utterance acts without the phrase, since the last one had it."""
