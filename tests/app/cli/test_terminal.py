"""What is written: seen through a terminal's eyes, and as JSON lines."""

from __future__ import annotations

import io
import json
import re

from sayso.app.cli.terminal import JsonWriter, LineWriter, TerminalWriter, writer
from sayso.app.cli.utterances import Report


def screen(output: str) -> list[str]:
    """The rows a terminal shows, with dimmed text in braces."""
    rows, row = [], ""
    for part in re.split(r"(\r\x1b\[K|\n)", output):
        if part == "\r\x1b[K":
            row = ""
        elif part == "\n":
            rows.append(row)
            row = ""
        else:
            row += part
    return [row.replace("\x1b[2m", "{").replace("\x1b[0m", "}").replace("{}", "") for row in [*rows, row]]


def partial(stable: str, tentative: str = "") -> Report:
    return Report("partial", stable + tentative, 0.0, 1.0, stable)


def final(text: str) -> Report:
    return Report("final", text, 0.0, 1.0, text)


def shown(*reports: Report, width: int = 20) -> list[str]:
    output = io.StringIO()
    terminal = TerminalWriter(output, width)
    for report in reports:
        terminal.show(report)
    return screen(output.getvalue())


def test_stable_and_tentative_words_are_told_apart() -> None:
    assert shown(partial("open", " fire")) == ["open{ fire}"]


def test_tentative_words_are_overwritten() -> None:
    assert shown(partial("", "oh"), partial("open", " fire"), partial("open", " firefox")) == ["open{ firefox}"]


def test_a_finished_utterance_is_a_line_and_the_next_begins_below() -> None:
    assert shown(partial("mute"), final("mute"), partial("", "vol")) == ["mute", "{vol}"]


def test_long_text_goes_on_in_the_next_row_at_a_space() -> None:
    assert shown(final("it was the best of times it was")) == ["it was the best of", "times it was", ""]
    grown = [partial("it was the best"), partial("it was the best of times"), final("it was the best of times it was")]
    assert shown(*grown) == ["it was the best of", "times it was", ""]


def test_tentative_text_never_breaks_the_row() -> None:
    (row,) = shown(partial("it was the", " best of times it was the worst of times"))
    assert row == "it was the{ best of …}"


def test_an_error_between_words_leaves_the_words() -> None:
    error = Report("error", "Lost.", 0.0, 0.0)
    assert shown(partial("open"), error, final("open firefox")) == ["{Lost.}", "open firefox", ""]


def test_a_pipe_gets_finished_lines_only() -> None:
    output = io.StringIO()
    pipe = writer(False, output)
    assert isinstance(pipe, LineWriter)
    for report in (partial("open", " fire"), final("open firefox")):
        pipe.show(report)
    assert output.getvalue() == "open firefox\n"


def test_a_program_gets_one_object_a_line() -> None:
    output = io.StringIO()
    program = writer(True, output)
    assert isinstance(program, JsonWriter)
    program.show(partial(" open", " fire"))
    program.show(Report("error", "Lost.", 1.0, 2.0, code="engine_failed"))
    program.show(Report("action", "Press Enter", 1.0, 2.0, code="done"))
    first, second, third = map(json.loads, output.getvalue().splitlines())
    assert third["state"] == "done"
    assert first.pop("at") > 1.7e9
    assert first == {"type": "partial", "text": "open fire", "stable": "open", "start": 0.0, "end": 1.0}
    assert second["code"] == "engine_failed"
