"""The history as text, as a table and as subtitles: pure, a piece at a time, from the oldest utterance on."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import pairwise

from sayso.app.history.entry import Entry

_SHORTEST_CUE_S = 0.5
_FORMULA = ("=", "+", "-", "@", "\t")
COLUMNS = ("time", "duration_s", "text", "kind", "action", "state", "application")


class Format(StrEnum):
    """The formats by their file name suffix."""

    TEXT = "txt"
    CSV = "csv"
    SRT = "srt"


def written(entries: Iterable[Entry], wanted: Format) -> Iterator[str]:
    """The file's text in pieces."""
    return {Format.TEXT: as_text, Format.CSV: as_csv, Format.SRT: as_srt}[wanted](entries)


def as_text(entries: Iterable[Entry]) -> Iterator[str]:
    """A line an utterance: when, the words, and in brackets what was done."""
    for entry in entries:
        did = f"  [{entry.action}: {entry.state}]" if entry.action else ""
        yield f"{_when(entry.at)}  {' '.join(entry.text.split())}{did}\n"


def as_csv(entries: Iterable[Entry]) -> Iterator[str]:
    """RFC 4180 with a byte order mark, by which spreadsheets know UTF-8."""
    yield "\ufeff" + _row(COLUMNS)
    for entry in entries:
        yield _row(
            (
                _when(entry.at),
                f"{entry.duration_s:.2f}",
                _harmless(entry.text),
                entry.kind.value,
                _harmless(entry.action),
                entry.state.value if entry.state else "",
                _harmless(entry.application),
            )
        )


def as_srt(entries: Iterable[Entry]) -> Iterator[str]:
    """SubRip cues, counted from the first utterance; none lasts into the next."""
    listed = _sentinel(entries)
    start: float | None = None
    for number, (entry, following) in enumerate(pairwise(listed), 1):
        assert entry is not None
        start = entry.at if start is None else start
        begins = max(0.0, entry.at - start)
        ends = begins + max(_SHORTEST_CUE_S, entry.duration_s)
        if following is not None:
            ends = max(begins, min(ends, following.at - start))
        yield f"{number}\n{_stamp(begins)} --> {_stamp(ends)}\n{' '.join(entry.text.split())}\n\n"


def _sentinel(entries: Iterable[Entry]) -> Iterator[Entry | None]:
    yield from entries
    yield None


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def _stamp(seconds: float) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02},{whole % 1000:03}"


def _row(values: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(values)
    return line.getvalue()


def _harmless(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
