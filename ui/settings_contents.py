"""What is on which page of the settings: its title, its drawing, and the words by which it is found. Qt thread.

Pages are made when they are turned to, so the search reads what they say from ``assets/settings.json``, which
``tests/ui/settings_words.py`` writes from the pages themselves. A page is joined on by an entry in ``PAGES``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sayso.ui.intents import Intents
    from sayso.ui.settings_page import SettingsPage
    from sayso.ui.theme import Theme


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page that can be turned to."""

    title: str
    icon: str
    """The name of a drawing of ``assets/icons``."""
    make: Callable[[Intents, Theme], SettingsPage]
    keywords: tuple[str, ...]
    """What people may search for and no control of the page says."""

    @property
    def says(self) -> tuple[str, ...]:
        """Every text of the page as it is made; what it shows of the moment is not searched."""
        return _said()[self.title]

    @property
    def words(self) -> tuple[str, ...]:
        return (*self.says, *self.keywords)


@cache
def _said() -> dict[str, tuple[str, ...]]:
    """By the titles of the pages."""
    read = json.loads((files("sayso.assets") / "settings.json").read_text(encoding="utf-8"))
    return {title: tuple(texts) for title, texts in read.items()}


def _microphone(intents: Intents, theme: Theme) -> SettingsPage:
    from sayso.ui.microphone_page import MicrophonePage

    return MicrophonePage(intents, theme)


def _listening(intents: Intents, theme: Theme) -> SettingsPage:
    from sayso.ui.listening_page import ListeningPage

    return ListeningPage(intents, theme)


def _engine(intents: Intents, theme: Theme) -> SettingsPage:
    from sayso.ui.engine_page import EnginePage

    return EnginePage(intents, theme)


def _server(intents: Intents, theme: Theme) -> SettingsPage:
    from sayso.ui.server_page import ServerPage

    return ServerPage(intents, theme)


def _commands(intents: Intents, theme: Theme) -> SettingsPage:
    from sayso.ui.commands_page import CommandsPage

    return CommandsPage(intents, theme)


def _memory(intents: Intents, theme: Theme) -> SettingsPage:
    from sayso.ui.memory_page import MemoryPage

    return MemoryPage(intents, theme)


def _privacy(intents: Intents, theme: Theme) -> SettingsPage:
    from sayso.ui.privacy_page import PrivacyPage

    return PrivacyPage(intents, theme)


def _about(_: Intents, theme: Theme) -> SettingsPage:
    from sayso.ui.about_page import AboutPage

    return AboutPage(theme)


PAGES = (
    PageEntry(
        "Microphone",
        "microphone",
        _microphone,
        keywords=("Input device", "Level", "Sound", "Test", "Clipping", "Headset", "Volume", "Stop"),
    ),
    PageEntry(
        "Listening",
        "listening",
        _listening,
        keywords=(
            "Silence",
            "Delay",
            "Autostart",
            "Login",
            "Push-to-talk",
            "Hotkey",
            "Shortcut",
            "Wake word",
            "Toggle",
            "Key to hold",
            "Key that starts and stops",
            "Key that sends Sayso to sleep and wakes it",
            "Overlay",
            "Messages that tell what was done over other windows",
            "Notifications",
        ),
    ),
    PageEntry(
        "Engine",
        "engine",
        _engine,
        keywords=(
            "Whisper",
            "Voxtral",
            "Fine-tuned",
            "GPU",
            "CUDA",
            "Speed",
            "Language",
        ),
    ),
    PageEntry(
        "Server",
        "server",
        _server,
        keywords=(
            "Engine",
            "URL",
            "Host",
            "Port",
            "API key",
            "Password",
            "TLS certificate",
            "Connection",
            "vLLM",
            "Result of the test",
            "Stop the test",
        ),
    ),
    PageEntry(
        "Commands",
        "commands",
        _commands,
        keywords=(
            "What can I say",
            "Help",
            "Grammar",
            "My commands",
            "Macro",
            "Phrase",
            "Shortcut by voice",
            "Turn off",
        ),
    ),
    PageEntry(
        "Sessions and memory",
        "memory",
        _memory,
        keywords=(
            "Unload",
            "Idle",
            "Battery",
            "KV cache",
            "GPU",
            "VRAM",
            "Park",
            "Drop",
            "Hibernate",
            "Graph",
            "Close the connection now",
        ),
    ),
    PageEntry(
        "Privacy",
        "privacy",
        _privacy,
        keywords=(
            "Data",
            "Delete",
            "Clear",
            "Files",
            "Folder",
            "Record",
            "Storage",
            "Open the folder",
            "History",
            "Log",
            "Cache",
        ),
    ),
    PageEntry(
        "About",
        "notice",
        _about,
        keywords=("Bug report", "Fault", "Support", "License"),
    ),
)
