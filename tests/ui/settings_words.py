"""What the pages of the settings say: ``python tests/ui/settings_words.py`` writes it down for the search."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shiboken6 import delete

from sayso.app.diagnostics import licence, version
from sayso.ui.settings_contents import PAGES, PageEntry
from sayso.ui.settings_page import SettingsPage
from sayso.ui.settings_search import words_of
from sayso.ui.theme import Theme

FILE = Path(__file__).parents[2] / "assets" / "settings.json"
OF_THE_MOMENT = {version(), licence()}


@contextmanager
def made(entry: PageEntry, intents: Any, theme: Theme) -> Iterator[SettingsPage]:
    """The page as the window makes it, for as long as the block runs."""
    page = entry.make(intents, theme)
    page.setAccessibleName(entry.title)
    yield page
    delete(page)


def texts(page: SettingsPage) -> list[str]:
    """All that it says, each once, in the order of its widgets."""
    said = dict.fromkeys(each.text for each in words_of(page) if each.text.strip())
    return [text for text in said if text not in OF_THE_MOMENT]


def main() -> None:
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from conftest import RecordedIntents
    from PySide6.QtWidgets import QApplication

    theme, said = Theme(QApplication([])), {}
    for entry in PAGES:
        with made(entry, RecordedIntents(), theme) as page:
            said[entry.title] = texts(page)
    FILE.write_text(json.dumps(said, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
