"""Which windows are terminals, by their WM_CLASS. Pure.

Terminals use other keys for the clipboard, since Control+C stops a program in them, and a line end there is Enter.
"""

from __future__ import annotations

from enum import StrEnum

from sayso.app.actions.desktop.base import Window

_WITH_CLIPBOARD_KEYS = frozenset(
    {
        "alacritty",
        "foot",
        "ghostty",
        "gnome-terminal",
        "gnome-terminal-server",
        "guake",
        "kgx",
        "kitty",
        "konsole",
        "lxterminal",
        "mate-terminal",
        "org.gnome.console",
        "ptyxis",
        "qterminal",
        "terminal",
        "terminator",
        "tilix",
        "wezterm",
        "xfce4-terminal",
        "yakuake",
    }
)
_PLAIN = frozenset({"xterm", "uxterm", "urxvt", "rxvt", "st", "st-256color"})


class TerminalKind(StrEnum):
    NONE = "no terminal"
    FULL = "with keys for tabs and the clipboard"
    PLAIN = "without them"


def terminal_kind(window: Window) -> TerminalKind:
    """What kind of terminal a window is, if any."""
    names = {window.application.casefold(), window.instance.casefold()}
    if names & _PLAIN:
        return TerminalKind.PLAIN
    return TerminalKind.FULL if names & _WITH_CLIPBOARD_KEYS else TerminalKind.NONE
