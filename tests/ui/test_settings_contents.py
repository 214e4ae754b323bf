"""The words by which pages are found, without the pages, are what the pages say: none is missing and none too many."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import settings_scenes
from conftest import RecordedIntents
from PySide6.QtWidgets import QWidget
from shiboken6 import delete

from sayso.app.diagnostics import licence, version
from sayso.app.history.view import HistoryView
from sayso.ui.main_window import MainWindow
from sayso.ui.settings_contents import PAGES, PageEntry
from sayso.ui.settings_page import SettingsPage
from sayso.ui.settings_search import match, words_of
from sayso.ui.theme import Theme

OF_THE_MOMENT = {version(), licence()}


@contextmanager
def made(entry: PageEntry, intents: RecordedIntents, theme: Theme) -> Iterator[SettingsPage]:
    """The page as the window makes it, for as long as the block runs."""
    page = entry.make(intents, theme)
    page.setAccessibleName(entry.title)
    yield page
    delete(page)


def texts(page: SettingsPage) -> set[str]:
    return {each.text for each in words_of(page) if each.text.strip()} - OF_THE_MOMENT


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.title)
def test_every_text_of_a_page_is_among_its_words(entry: PageEntry, intents: RecordedIntents, theme: Theme) -> None:
    with made(entry, intents, theme) as page:
        assert texts(page) - set(entry.words) == set()


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.title)
def test_no_page_is_found_by_what_it_does_not_say(entry: PageEntry, intents: RecordedIntents, theme: Theme) -> None:
    with made(entry, intents, theme) as page:
        assert set(entry.says) - texts(page) == set()


def controls(page: SettingsPage) -> dict[QWidget, list[str]]:
    """Each control with all that it is called."""
    found: dict[QWidget, list[str]] = {}
    for each in words_of(page):
        if each.control is not None and each.text.strip():
            found.setdefault(each.control, []).append(each.text)
    return found


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.title)
def test_every_control_is_found_whatever_the_page_shows(
    entry: PageEntry, intents: RecordedIntents, theme: Theme, tmp_path: Path
) -> None:
    kept = HistoryView(30, 412, place=str(tmp_path / "history.db"))
    lost = set()
    scenes = [make() for make in settings_scenes.ALL.values()]
    for scene in (each for each in scenes if each.page == entry.title):
        with made(entry, intents, theme) as page:
            page.show_snapshot(replace(scene.snapshot, history=kept))
            for names in controls(page).values():
                if not any(match(_without_figures(name), entry.title, entry.words) for name in names):
                    lost.add(tuple(names))
    assert lost == set()


def _without_figures(name: str) -> str:
    """A name such as “Download tiny.en” or “Pause …: 0.55 s” without what it says of the moment."""
    return " ".join(word for word in name.replace(":", " ").split() if word.isalpha())[:60]


def test_the_search_makes_no_page(window: MainWindow) -> None:
    window.show_snapshot(settings_scenes.ALL["settings-server"]().snapshot)
    window.open_settings("About")
    assert window.settings is not None
    window.settings.index.search.setText("battery")
    gc.collect()
    assert window.settings.page == "Sessions and memory"
    assert len(window.settings.findChildren(SettingsPage)) <= 2  # The one that was left ends with the next event.
    window.settings.close()
