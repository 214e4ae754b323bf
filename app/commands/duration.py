"""How long: “an hour and a half” → 5400 seconds, and back into words. Pure, any thread."""

from __future__ import annotations

import re

LONGEST_S = 7 * 24 * 3600
_UNITS = {"hour": 3600, "hr": 3600, "minute": 60, "min": 60, "second": 1, "sec": 1}
_PART = re.compile(
    r"(?:(?P<number>\d+(?:\.\d+)?)(?P<and_half> and (?:a )?half)?"
    r"|(?P<half>half(?: an?)?|a half)|(?P<quarter>(?:a )?quarter of an?)|(?P<couple>a couple(?: of)?)|(?P<one>an?))"
    r" (?P<unit>hour|hr|minute|min|second|sec)s?(?P<half_more> and (?:a )?half)?(?: and | |$)"
)


def read_duration(said: str) -> int | None:
    """Whole seconds from normalised words; None where they are no length of time of up to a week."""
    seconds, at = 0.0, 0
    while at < len(said):
        part = _PART.match(said, at)
        if part is None:
            return None
        seconds += _amount(part) * _UNITS[part["unit"]]
        at = part.end()
    return round(seconds) if 1 <= seconds <= LONGEST_S else None


def _amount(part: re.Match[str]) -> float:
    more = 0.5 if part["half_more"] or part["and_half"] else 0.0
    if part["number"]:
        return float(part["number"]) + more
    if part["half"]:
        return 0.5
    if part["quarter"]:
        return 0.25
    return (2.0 if part["couple"] else 1.0) + more


def spoken(seconds: int) -> str:
    """“1 hour 30 minutes”."""
    parts = []
    for unit, length in (("hour", 3600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(seconds, length)
        if count:
            parts.append(f"{count} {unit}{'s' if count != 1 else ''}")
    return " ".join(parts) or "0 seconds"
