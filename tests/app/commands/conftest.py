"""Fixtures for the command grammar."""

from __future__ import annotations

import pytest

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.names import Named, Names


@pytest.fixture(scope="session")
def grammar() -> Grammar:
    return Grammar.load()


@pytest.fixture(scope="session")
def names() -> Names:
    """What is installed on an ordinary desktop."""
    return Names(
        [
            Named("firefox", "Firefox", ("Firefox", "Web Browser"), ("internet", "www", "explorer")),
            Named("files", "Files", ("Files", "File Manager"), ("folder", "disk")),
            Named("terminal", "Terminal", ("Terminal",), ("shell", "prompt", "command")),
            Named("editor", "Text Editor", ("Text Editor",), ("write", "notepad")),
            Named("writer", "LibreOffice Writer", ("LibreOffice Writer", "Word Processor"), ("text", "letter")),
            Named("calc", "LibreOffice Calc", ("LibreOffice Calc", "Spreadsheet"), ("table",)),
            Named("settings", "Settings", ("Settings",), ("preferences", "control", "system")),
            Named("music", "Rhythmbox", ("Rhythmbox", "Music Player"), ("audio", "song", "mp3")),
            Named("mail", "Thunderbird", ("Thunderbird", "Mail Client"), ("email", "news", "chat")),
            Named("calendar", "Calendar", ("Calendar",), ("event", "reminder")),
        ]
    )
