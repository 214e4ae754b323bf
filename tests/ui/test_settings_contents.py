"""The words by which pages are found, without the pages, are what the pages say: none is missing and none too many."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import pytest
import settings_scenes
from conftest import RecordedIntents
from PySide6.QtWidgets import QWidget
from settings_words import made, texts

from sayso.app.history.view import HistoryView
from sayso.ui.main_window import MainWindow
from sayso.ui.settings_contents import PAGES, PageEntry
from sayso.ui.settings_page import SettingsPage
from sayso.ui.settings_search import match, words_of
from sayso.ui.theme import Theme


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.title)
def test_the_words_by_which_a_page_is_found_are_what_it_says(
    entry: PageEntry, intents: RecordedIntents, theme: Theme
) -> None:
    with made(entry, intents, theme) as page:
        assert list(entry.says) == texts(page), "write them anew: python tests/ui/settings_words.py"


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.title)
def test_keywords_are_none_of_what_the_page_says_anyway(entry: PageEntry) -> None:
    assert not set(entry.keywords) & set(entry.says)


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
