"""Finds a page of the settings by its title and by every word on it. Qt thread; the matching itself is pure."""

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

from sayso.ui.settings_page import SettingsPage

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Words:
    """Some words on a page, and the control that they belong to, if any."""

    text: str
    control: QWidget | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """``found`` is empty when the title alone matches."""

    found: tuple[Words, ...] = ()


def match(query: str, title: str, words: Iterable[Words]) -> Match | None:
    """Whether every word of ``query`` begins a word of the title or of one text; all match an empty query."""
    wanted = _WORD.findall(query.casefold())
    if _holds(title, wanted):
        return Match()
    found = tuple(each for each in words if _holds(each.text, wanted) or _holds(f"{title} {each.text}", wanted))
    return Match(found) if found else None


def _holds(text: str, wanted: list[str]) -> bool:
    words = _WORD.findall(text.casefold())
    return all(any(word.startswith(part) for word in words) for part in wanted)


def words_of(page: SettingsPage) -> Iterator[Words]:
    """Everything that the page says, control by control, with what it is found by besides."""
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
        if widget.accessibleName() and not isinstance(widget, QLabel):
            yield Words(widget.accessibleName(), widget)
    for keyword in page.keywords:
        yield Words(keyword)


def _plain(text: str) -> str:
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").replace("\u200b", "")
