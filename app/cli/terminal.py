"""How ``sayso listen`` writes: live lines for a terminal, finished lines for a pipe, JSON objects for a program."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Protocol, TextIO

import click
import msgspec

from sayso.app.cli.utterances import Report

_DIM, _PLAIN, _CLEAR_LINE = "\033[2m", "\033[0m", "\r\033[K"


class Writer(Protocol):
    """Shows reports on standard output and remarks on standard error."""

    def show(self, report: Report) -> None: ...
    def remark(self, text: str) -> None: ...


def writer(as_json: bool, output: TextIO | None = None) -> Writer:
    """The writer that suits what standard output is."""
    output = output or sys.stdout
    if as_json:
        return JsonWriter(output)
    return TerminalWriter(output) if output.isatty() else LineWriter(output)


class LineWriter:
    """Each finished utterance is a line."""

    def __init__(self, output: TextIO) -> None:
        self._output = output

    def show(self, report: Report) -> None:
        if report.type == "error":
            self.remark(report.text)
        elif report.type != "partial":
            self._output.write(report.text.strip() + "\n")
            self._output.flush()

    def remark(self, text: str) -> None:
        click.echo(text, err=True)


class JsonWriter:
    """Each report is one JSON object on a line; ``at`` is the time it was written, in seconds since the epoch."""

    def __init__(self, output: TextIO) -> None:
        self._output = output

    def show(self, report: Report) -> None:
        line: dict[str, object] = {"type": report.type, "text": report.text.strip()}
        line |= {"start": round(report.start, 3), "end": round(report.end, 3), "at": round(time.time(), 3)}
        if report.type == "partial":
            line["stable"] = report.stable.strip()
        if report.code:
            line["state" if report.type == "action" else "code"] = report.code
        self._output.write(msgspec.json.encode(line).decode() + "\n")
        self._output.flush()

    def remark(self, text: str) -> None:
        click.echo(text, err=True)


class TerminalWriter:
    """Stable words stay where they were written; tentative words stand dimmed behind them and are overwritten."""

    def __init__(self, output: TextIO, width: int | None = None) -> None:
        self._output = output
        self._fixed_width = width
        self._row = ""
        """Stable text of the row the cursor is in."""
        self._written = ""
        """Stable text of the open utterance that was written."""

    def show(self, report: Report) -> None:
        if report.type in ("error", "action"):
            self._between(report.text if report.type == "error" else f"→ {report.text}")
            return
        stable = report.stable.lstrip()
        self._write_stable(stable[len(self._written) :])
        self._written = stable
        if report.type == "final":
            self._output.write(f"{_CLEAR_LINE}{self._row}\n")
            self._row = self._written = ""
        else:
            self._write_row(report.text.lstrip()[len(stable) :])
        self._output.flush()

    def remark(self, text: str) -> None:
        self._between(text)

    def _between(self, text: str) -> None:
        """A line of its own; the open row follows below it."""
        self._output.write(f"{_CLEAR_LINE}{_DIM}{text}{_PLAIN}\n{self._row}")
        self._output.flush()

    def _write_stable(self, piece: str) -> None:
        for word in _words(piece):
            if self._row and len(self._row) + len(word) > self._width:
                self._output.write(f"{_CLEAR_LINE}{self._row}\n")
                self._row, word = "", word.lstrip()
            self._row += word

    def _write_row(self, tentative: str) -> None:
        room = self._width - len(self._row)
        shown = tentative if len(tentative) <= room else tentative[: max(0, room - 1)] + "…"
        self._output.write(f"{_CLEAR_LINE}{self._row}{_DIM}{shown}{_PLAIN}")

    @property
    def _width(self) -> int:
        return self._fixed_width or shutil.get_terminal_size().columns - 1


def _words(text: str) -> list[str]:
    """The text cut before each space, so that the parts joined are the text."""
    parts = text.split(" ")
    return [part if index == 0 else f" {part}" for index, part in enumerate(parts) if part or index]
