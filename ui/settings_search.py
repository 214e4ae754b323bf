"""Finds a page of the settings by its title and by every word on it. Qt thread; the matching itself is pure.

What is on a page that is not there now is told by ``settings_contents``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtWidgets import (
    QAbstractButton,
    QGroupBox,
    QLabel,
    QLineEdit,
    QWidget,
)

from sayso.ui.glyph import Glyph
from sayso.ui.settings_page import SettingsPage

_WORD = re.compile(r"\w+")
_ENDINGS = ("s", "es", "ed", "ing")
"""“Session starts” is to find what says “start with the session”."""


@dataclass(frozen=True, slots=True)
class Words:
    """Some words on a page, and the control that they belong to, if any."""

    text: str
    control: QWidget | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """``found`` are the texts that match; it is empty when the title alone does."""

    found: tuple[str, ...] = ()


def match(query: str, title: str, texts: Iterable[str]) -> Match | None:
    """Whether every word of ``query`` begins a word of the title or of one text, or is one with another ending; all
    match an empty query.
    """
    wanted = _WORD.findall(query.casefold())
    if _holds(title, wanted):
        return Match()
    found = tuple(text for text in texts if _holds(text, wanted) or _holds(f"{title} {text}", wanted))
    return Match(found) if found else None


def control_of(query: str, title: str, page: SettingsPage) -> QWidget | None:
    """The first control of the page that ``query`` finds; None where it asks for nothing or finds the page itself."""
    if not query.strip():
        return None
    words = [each for each in words_of(page) if each.control is not None]
    found = match(query, title, (each.text for each in words)) or Match()
    return next((each.control for each in words if each.text in found.found), None)


def _holds(text: str, wanted: list[str]) -> bool:
    words = _WORD.findall(text.casefold())
    return all(any(word.startswith(part) or _ends_otherwise(part, word) for word in words) for part in wanted)


def _ends_otherwise(part: str, word: str) -> bool:
    return len(word) > 2 and part.startswith(word) and part[len(word) :] in _ENDINGS


def words_of(page: SettingsPage) -> Iterator[Words]:
    """Everything that the page says, control by control."""
    for widget in page.findChildren(QWidget):
        match widget:
            case QLabel():
                yield Words(_plain(widget.text()), widget.buddy())
            case QAbstractButton():
                yield Words(_plain(widget.text()), widget)
            case QGroupBox():
                yield Words(_plain(widget.title()))
            case QLineEdit():
                yield Words(widget.placeholderText(), widget)
        if widget.accessibleName() and not isinstance(widget, QLabel | Glyph):
            yield Words(widget.accessibleName(), widget)


def _plain(text: str) -> str:
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").replace("\u200b", "")
