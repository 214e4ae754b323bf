"""What is on which page of the settings: its title, its drawing, and the words by which it is found. Qt thread.

Pages are made when they are turned to, so the search reads these words and not the pages; a test holds them against
what the pages say. A page is joined on by an entry in ``PAGES``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    says: tuple[str, ...]
    """Every text of the page as it is made, in any order; what it shows of the moment is not searched."""
    keywords: tuple[str, ...]
    """What people may search for and no control of the page says."""

    @property
    def words(self) -> tuple[str, ...]:
        return (*self.says, *self.keywords)


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
        says=(
            "Microphone",
            "Microphone level",
            "Too loud: turn the microphone's volume down in the system's sound settings.",
            "Hear yourself",
            "Records three seconds and plays them back. The sound stays in memory and is forgotten; while this runs,"
            " nothing is transcribed.",
        ),
        keywords=("Input device", "Level", "Sound", "Test", "Clipping", "Headset", "Volume", "Stop"),
    ),
    PageEntry(
        "Listening",
        "listening",
        _listening,
        says=(
            "Hands-free",
            "Sayso hears whenever you speak.",
            "Press to start, press to stop",
            "The microphone is open from one press of the key to the next.",
            "Hold to talk",
            "What you say while you hold the key is taken, whatever the noise around you.",
            "No key",
            "Remove",
            "Remove the key",
            "Act only after the wake phrase",
            "Wake phrase",
            "None",
            "Pause that ends what you say",
            "Shorter acts sooner; longer lets you think in mid-sentence. Whole commands never wait so long.",
            "Show what is heard over other windows",
            "Place",
            "Place of what is heard",
            "Listen as soon as Sayso runs",
            "Start with the session",
            "Keep running in the tray when closed",
        ),
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
        ),
    ),
    PageEntry(
        "Engine",
        "engine",
        _engine,
        says=(
            "A remote server transcribes, and its keeper chooses its model. What you choose here counts when the engine"
            " on this computer is used again.",
            "Model in use",
            "Your own folder",
            "A folder of your own with a model",
            "Whisper or Voxtral Realtime",
            "Choose…",
            "Choose a folder with a model",
            "Add",
            "Add the folder to the models",
            "Cancel",
            "Models",
            "Measure speed",
            "Remove",
            "Speed: seconds of computing for each second of speech, measured on this computer.",
        ),
        keywords=(
            "Model",
            "Whisper",
            "Voxtral",
            "Fine-tuned",
            "Download",
            "Device",
            "GPU",
            "CUDA",
            "Threads",
            "Speed",
            "Language",
        ),
    ),
    PageEntry(
        "Server",
        "server",
        _server,
        says=(
            "Server",
            "Embedded",
            "Server: Embedded",
            "Remote",
            "Server: Remote",
            "Your speech becomes text on this computer, and nothing leaves it.",
            "Address",
            "192.168.1.20:8000 or https://host/v1",
            "Address of the server",
            "Key",
            "Empty if the server needs none",
            "Key of the server",
            "Model",
            "Model of the server",
            "Show",
            "Show the key while it is typed",
            "Remove the key",
            "Test",
            "Use this server",
        ),
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
        says=(
            "Search the commands",
            "Commands",
            "Not saved",
            "Go on writing…",
            "Discard",
            "Add your own…",
            "Change…",
            "Remove",
        ),
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
        says=(
            "Keep ready",
            "Balanced",
            "Give everything back",
            "Custom: the controls below are set by hand.",
            "Memory now",
            "Memory over time",
            "Free memory now",
            "Sessions",
            "Put away",
            "Put the session away",
            "Close session",
            "Engine",
            "Unload the model after",
            "End the engine after",
            "On battery, end it after",
            "End it when memory is scarce",
            "Sessions that wait",
            "Park in main memory after",
            "Drop and recompute after",
            "Hibernate to disk after",
            "At most on the device",
            "At most parked in RAM",
            "This desktop",
            "Close the connection after",
            "End the local server with it",
            "Speech brings back what was closed or ended; what is said until then is kept and sent.",
        ),
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
        says=(
            "What leaves this computer",
            "Change the server…",
            "Commands that open or search the web hand their words to your browser.",
            "What is kept",
            "What can be cleared",
            "Forget them",
            "Forget what was said in this session",
            "Remove the key",
            "There is nothing to clear.",
        ),
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
        says=(
            "Diagnostics",
            "Copy diagnostics",
            "Save…",
            "Save the diagnostics",
            "Send them with a report of a fault. They hold no speech, no words, no keys, and no names.",
        ),
        keywords=("Version", "Bug report", "Fault", "Support", "Licence", "License"),
    ),
)
