"""``sayso start|stop|toggle|cancel|show|quit``: what a key of the desktop or a script has the running Sayso do."""

from __future__ import annotations

import os

import click

WORDS = {
    "start": "Have the running Sayso listen.",
    "stop": "Have the running Sayso stop listening.",
    "toggle": "Have the running Sayso listen, or stop when it does.",
    "cancel": "Drop what is being said to the running Sayso.",
    "show": "Show the window of the running Sayso.",
    "quit": "End the running Sayso.",
}
"""Each word that the running Sayso understands, with its help."""


def _command(word: str) -> click.Command:
    def ask() -> None:
        from sayso.app import single_instance

        try:
            leave = single_instance.leave(os.environ) if word == "show" else ""
            single_instance.ask(single_instance.folder(os.environ), word, leave)
        except single_instance.ControlError as error:
            raise click.ClickException(str(error)) from error

    return click.Command(word, callback=ask, help=WORDS[word])


start, stop, toggle, cancel, show, quit_ = (_command(word) for word in WORDS)
