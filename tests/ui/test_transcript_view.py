from __future__ import annotations

from dataclasses import replace

import scenes
from hypothesis import HealthCheck, given, settings
from PySide6.QtGui import QTextCharFormat, QTextCursor
from pytestqt.qtbot import QtBot
from test_transcript_changes import histories

from sayso.app.snapshot import Line, LineKind, Mode
from sayso.ui.theme import Theme
from sayso.ui.transcript_text import TranscriptText
from sayso.ui.transcript_view import TranscriptView


def format_at(text: TranscriptText, word: str) -> QTextCharFormat:
    found = text.document().find(word)
    assert not found.isNull(), word
    return found.charFormat()


def shown(text: TranscriptText) -> list[str]:
    """The paragraphs without their times."""
    return [paragraph.partition("\t")[2] for paragraph in text.toPlainText().split("\n") if paragraph]


def view(qtbot: QtBot, theme: Theme) -> TranscriptView:
    result = TranscriptView(theme)
    qtbot.addWidget(result)
    result.resize(500, 300)
    with qtbot.waitExposed(result):
        result.show()
    return result


def test_tentative_text_differs_from_stable_text_by_more_than_colour(qtbot: QtBot, theme: Theme) -> None:
    transcript = view(qtbot, theme)
    transcript.show_lines((scenes.line(1, "the meeting", " moves", LineKind.OPEN),), Mode.COMMANDS)
    stable, tentative = format_at(transcript.text, "meeting"), format_at(transcript.text, "moves")
    assert tentative.fontItalic()
    assert not stable.fontItalic()
    assert tentative.underlineStyle() is QTextCharFormat.UnderlineStyle.DotLine
    assert stable.underlineStyle() is QTextCharFormat.UnderlineStyle.NoUnderline
    assert tentative.foreground().color() != stable.foreground().color()


def test_tentative_text_becomes_plain_when_it_is_stable(qtbot: QtBot, theme: Theme) -> None:
    transcript = view(qtbot, theme)
    transcript.show_lines((scenes.line(1, "the meeting", " moves", LineKind.OPEN),), Mode.COMMANDS)
    transcript.show_lines((scenes.line(1, "the meeting moves", " to", LineKind.OPEN),), Mode.COMMANDS)
    assert not format_at(transcript.text, "moves").fontItalic()
    assert format_at(transcript.text, "to").fontItalic()


def test_each_line_says_what_became_of_it(qtbot: QtBot, theme: Theme) -> None:
    transcript = view(qtbot, theme)
    lines = (
        scenes.line(1, "open Firefox", kind=LineKind.COMMAND),
        scenes.line(2, "hello", kind=LineKind.DICTATED),
        scenes.line(3, "nothing special"),
        scenes.line(4, "half of", kind=LineKind.PLAIN, lost_ms=2300),
        scenes.line(5, "", kind=LineKind.LOST),
        scenes.line(6, "", kind=LineKind.OPEN),
    )
    transcript.show_lines(lines, Mode.COMMANDS)
    assert shown(transcript.text) == [
        "open Firefox   → command",
        "hello   → typed",
        "nothing special   · no command",
        "half of   ⚠ 2.3 s of speech lost",
        "⚠ not transcribed",
        "…",
    ]


def test_line_ends_inside_an_utterance_do_not_break_it_apart(qtbot: QtBot, theme: Theme) -> None:
    transcript = view(qtbot, theme)
    transcript.show_lines((scenes.line(1, "one\ntwo\r\nthree"), scenes.line(2, "next")), Mode.COMMANDS)
    assert transcript.text.document().blockCount() == 2
    transcript.show_lines((scenes.line(1, "one\ntwo\r\nthree"), scenes.line(2, "next one")), Mode.COMMANDS)
    assert "next one" in transcript.text.document().lastBlock().text()


def test_a_growing_utterance_writes_only_its_tail_below_two_thousand_lines(qtbot: QtBot, theme: Theme) -> None:
    transcript = view(qtbot, theme)
    settled = tuple(scenes.line(number, f"sentence number {number}") for number in range(2000))
    growing = scenes.line(2000, "", "", LineKind.OPEN)
    transcript.show_lines((*settled, growing), Mode.COMMANDS)
    written: list[tuple[int, int]] = []
    transcript.text.document().contentsChange.connect(lambda _, removed, added: written.append((removed, added)))
    for number in range(100):
        growing = replace(growing, stable=growing.stable + f" word{number}", tentative=" maybe")
        transcript.show_lines((*settled, growing), Mode.COMMANDS)
    assert len(written) == 100
    assert sum(added for _, added in written) < 100 * len(" word99 maybe ")
    assert sum(removed for removed, _ in written) < 100 * len(" maybe …")
    assert transcript.text.document().blockCount() == 2001


def test_a_snapshot_without_new_words_writes_nothing(qtbot: QtBot, theme: Theme) -> None:
    transcript = view(qtbot, theme)
    transcript.show_lines(scenes.LINES, Mode.COMMANDS)
    written: list[int] = []
    transcript.text.document().contentsChange.connect(lambda *change: written.append(1))
    transcript.show_lines(tuple(scenes.LINES), Mode.COMMANDS)
    assert written == []


def test_lines_that_leave_are_taken_out_in_lots(qtbot: QtBot, theme: Theme) -> None:
    transcript = view(qtbot, theme)
    lines = tuple(scenes.line(number, f"sentence {number}") for number in range(400))
    transcript.show_lines(lines, Mode.COMMANDS)
    removals: list[int] = []
    transcript.text.document().contentsChange.connect(lambda at, removed, _: removals.append(at) if removed else None)
    for number in range(400, 500):
        lines = (*lines[1:], scenes.line(number, f"sentence {number}"))
        transcript.show_lines(lines, Mode.COMMANDS)
    assert len(removals) <= 2
    assert shown(transcript.text)[-400:] == [f"{line.stable}   · no command" for line in lines]
    assert len(shown(transcript.text)) <= 450


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories())
def test_whatever_happens_the_document_shows_the_lines(
    qtbot: QtBot, theme: Theme, history: list[tuple[Line, ...]]
) -> None:
    text = TranscriptText(theme)
    fresh = TranscriptText(theme)
    for lines in history:
        text.show_lines(lines)
        fresh.show_lines(())
        fresh.show_lines(lines)
        expected = shown(fresh)
        actual = shown(text)
        assert actual[len(actual) - len(expected) :] == expected
        assert len(actual) <= len(expected) + len(expected) // 8
    text.deleteLater()
    fresh.deleteLater()


def test_the_view_stays_at_the_end_until_the_reader_scrolls_up(qtbot: QtBot, theme: Theme) -> None:
    transcript = view(qtbot, theme)
    lines = tuple(scenes.line(number, scenes.LONG) for number in range(20))
    transcript.show_lines(lines, Mode.COMMANDS)
    bar = transcript.text.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum(), timeout=15_000)
    bar.setValue(bar.maximum() // 2)
    read = bar.value()
    lines = (*lines, scenes.line(20, scenes.LONG))
    transcript.show_lines(lines, Mode.COMMANDS)
    assert bar.value() == read
    assert transcript.jump.isVisible()
    transcript.jump.click()
    assert bar.value() == bar.maximum()
    assert not transcript.jump.isVisible()
    transcript.show_lines((*lines, scenes.line(21, scenes.LONG)), Mode.COMMANDS)
    qtbot.waitUntil(lambda: bar.value() == bar.maximum(), timeout=15_000)


def test_a_selection_survives_the_words_that_follow(qtbot: QtBot, theme: Theme) -> None:
    transcript = view(qtbot, theme)
    line = scenes.line(2, "hello", " wor", LineKind.OPEN)
    transcript.show_lines((scenes.line(1, "copy these words"), line), Mode.COMMANDS)
    found = transcript.text.document().find("these words")
    transcript.text.setTextCursor(QTextCursor(found))
    transcript.show_lines((scenes.line(1, "copy these words"), replace(line, stable="hello world")), Mode.COMMANDS)
    assert transcript.text.textCursor().selectedText() == "these words"


def test_long_words_wrap_instead_of_running_out_of_the_view(qtbot: QtBot, theme: Theme) -> None:
    transcript = view(qtbot, theme)
    transcript.show_lines((scenes.line(1, "x" * 500),), Mode.COMMANDS)
    assert transcript.text.horizontalScrollBar().maximum() == 0
    assert transcript.text.document().firstBlock().layout().lineCount() > 5


def test_without_lines_three_examples_are_shown_and_with_lines_none(qtbot: QtBot, theme: Theme) -> None:
    transcript = view(qtbot, theme)
    transcript.show_lines((), Mode.COMMANDS)
    assert transcript.empty.isVisible()
    transcript.show_lines(scenes.LINES, Mode.COMMANDS)
    assert not transcript.empty.isVisible()
    assert transcript.text.isVisible()


def test_a_change_of_theme_repaints_the_words(qtbot: QtBot, theme: Theme) -> None:
    from PySide6.QtCore import Qt

    transcript = view(qtbot, theme)
    transcript.show_lines(scenes.LINES, Mode.COMMANDS)
    before = format_at(transcript.text, "Firefox").foreground().color()
    text = transcript.text.toPlainText()
    theme.use_scheme(Qt.ColorScheme.Dark)
    assert format_at(transcript.text, "Firefox").foreground().color() != before
    assert transcript.text.toPlainText() == text
