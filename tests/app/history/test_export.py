import csv
import io
import time
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sayso.app.history.entry import Entry
from sayso.app.history.export import COLUMNS, Format, written
from sayso.app.snapshot import FeedState, LineKind

START = time.mktime((2026, 5, 28, 20, 27, 0, 0, 0, -1))
ENTRIES = (
    Entry(START, 1.25, "Volume up.", LineKind.COMMAND, "Turn the volume up", FeedState.DONE, "XTerm"),
    Entry(START + 3.5, 2.0, "She said “no”,\nthen left.", LineKind.PLAIN),
    Entry(START + 4.0, 0.0, "=1+1", LineKind.DICTATED),
)


def text(wanted: Format, *entries: Entry) -> str:
    return "".join(written(entries, wanted))


def test_text_has_a_line_an_utterance_with_its_time_and_what_was_done() -> None:
    assert text(Format.TEXT, *ENTRIES).splitlines() == [
        "2026-05-28 20:27:00  Volume up.  [Turn the volume up: done]",
        "2026-05-28 20:27:03  She said “no”, then left.",
        "2026-05-28 20:27:04  =1+1",
    ]


def test_a_table_is_read_back_by_any_reader_of_csv_and_holds_no_formula() -> None:
    content = text(Format.CSV, *ENTRIES)
    assert content.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(content.removeprefix("\ufeff"), newline="")))
    assert tuple(rows[0]) == COLUMNS
    assert rows[0]["action"] == "Turn the volume up"
    assert rows[0]["duration_s"] == "1.25"
    assert rows[1]["text"] == ENTRIES[1].text
    assert rows[2]["text"] == "'=1+1"


def test_subtitles_count_from_the_first_utterance_and_never_overlap() -> None:
    assert text(Format.SRT, *ENTRIES) == (
        "1\n00:00:00,000 --> 00:00:01,250\nVolume up.\n\n"
        "2\n00:00:03,500 --> 00:00:04,000\nShe said “no”, then left.\n\n"
        "3\n00:00:04,000 --> 00:00:04,500\n=1+1\n\n"
    )


def test_nothing_gives_an_empty_file_and_a_table_with_its_head() -> None:
    assert text(Format.TEXT) == text(Format.SRT) == ""
    assert text(Format.CSV) == "\ufeff" + ",".join(COLUMNS) + "\r\n"


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e4)), min_size=1, max_size=20))
def test_cues_are_in_order_whatever_the_times(times: list[tuple[float, float]]) -> None:
    entries = [replace(ENTRIES[0], at=START + at, duration_s=length) for at, length in sorted(times)]
    cues = [line.split(" --> ") for line in text(Format.SRT, *entries).splitlines() if "-->" in line]
    stamps = [stamp.rjust(14, "0") for cue in cues for stamp in cue]
    assert stamps == sorted(stamps)
