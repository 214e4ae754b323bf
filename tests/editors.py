"""Programs with a text in them, for tests that work in them from outside: a terminal, and editors of Qt, Tk and GTK.

Each is started on a virtual desktop for as long as a block runs, and tells what it holds. Runs in the calling thread.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bounded import child, wait_for
from virtual_desktop import VirtualDesktop, Window

EDITOR = Path(__file__).parent / "data" / "commands" / "editor.py"
TK_EDITOR = """
package require Tk
wm title . "tk editor"
pack [text .t]
focus .t
bind .t <<Modified>> {
  if {[.t edit modified]} {
    set file [open [lindex $argv 0].part w]
    fconfigure $file -encoding utf-8 -translation lf
    puts -nonewline $file [.t get 1.0 end-1c]
    close $file
    file rename -force [lindex $argv 0].part [lindex $argv 0]
    .t edit modified 0
  }
}
"""


@dataclass
class Target:
    """A program to dictate into."""

    name: str
    window: Window
    shown: Callable[[], str]
    """The text that it holds."""
    one_line: bool = False
    """A terminal, which gets spaces for line ends and tabs."""
    saved_by: str = ""
    """The command that makes it write down what it holds; after keys no space is put before the next text."""

    copies_itself: bool = False
    """It puts what was pasted into it on the clipboard as its own, which is then the user's newest copy."""

    def wanted(self, text: str) -> str:
        return " ".join(text.split()) if self.one_line else text


@contextmanager
def xterm(desktop: VirtualDesktop, folder: Path) -> Iterator[Target]:
    with desktop.terminal() as terminal:
        yield Target("xterm", terminal.window, lambda: terminal.output.read_text("utf-8", "replace"), one_line=True)


@contextmanager
def qt_editor(desktop: VirtualDesktop, folder: Path) -> Iterator[Target]:
    output = folder / "qt"
    with child([sys.executable, EDITOR, output], desktop.environment | {"QT_QPA_PLATFORM": "xcb"}, folder / "qt.log"):
        window = desktop.wait_for_window("editor")
        wait_for(output.exists, "the Qt editor")
        yield Target("Qt", window, lambda: output.read_text("utf-8", "replace"))


@contextmanager
def tk_editor(desktop: VirtualDesktop, folder: Path) -> Iterator[Target]:
    assert shutil.which("wish"), "install the Debian package tk for this test"
    script, output = folder / "editor.tcl", folder / "tk"
    script.write_text(TK_EDITOR, encoding="utf-8")
    output.touch()
    with child(["wish", script, output], desktop.environment, folder / "tk.log"):
        window = desktop.wait_for_window("tk editor")
        yield Target("Tk", window, lambda: output.read_text("utf-8", "replace"))


@contextmanager
def gtk_editor(desktop: VirtualDesktop, folder: Path) -> Iterator[Target]:
    assert shutil.which("l3afpad"), "install the Debian package l3afpad for this test"
    output = folder / "gtk.txt"
    output.touch()

    with child(["l3afpad", output], desktop.environment, folder / "gtk.log"):
        window = desktop.wait_for_window("gtk.txt")
        yield Target(
            "GTK", window, lambda: output.read_text("utf-8", "replace"), saved_by="press control s", copies_itself=True
        )


Opening = Callable[[VirtualDesktop, Path], AbstractContextManager[Target]]
