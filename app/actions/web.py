"""Web pages and searches in the user's browser. One worker thread at a time."""

from __future__ import annotations

import shlex
import shutil
import threading
from urllib.parse import quote_plus, urlsplit

from sayso.app.actions.applications import Applications
from sayso.app.actions.base import Done, Family, Job, Receipt
from sayso.app.actions.entries import commands
from sayso.app.actions.errors import ActionError
from sayso.app.actions.launch import Launcher
from sayso.app.commands.matching import Match

SEARCH = "https://duckduckgo.com/?q={query}"
_FAILS_WITHIN_S = 2.0
"""Openers that fail do so at once; browsers that run on are taken to have opened the page."""


class Web(Family):
    """Opens http and https addresses only, by ``$BROWSER``, ``xdg-open`` or a browser that is installed."""

    family = "web"

    def __init__(self, launcher: Launcher, applications: Applications, search: str = SEARCH) -> None:
        self._launcher = launcher
        self._applications = applications
        self._search = search

    def describe(self, match: Match) -> str:
        if match.command.verb == "open":
            return f"Open {_shown(match.slots['address'])}"
        return match.title

    def perform(self, job: Job) -> Done:
        if job.match.command.verb == "open":
            address = job.match.slots["address"]
        else:
            address = self._search.format(query=quote_plus(job.match.slots["query"]))
        self.show(address, job.halt)
        return Done("handed to the browser", Receipt.SENT)

    def show(self, address: str, halt: threading.Event) -> None:
        """Open a web address; ActionError where it is none or no browser can be started."""
        if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
            raise ActionError("address_refused", "Only web addresses (http and https) are opened by voice.")
        for command in self._openers(address):
            if not shutil.which(command[0], path=self._launcher.environment.get("PATH")):
                continue
            child = self._launcher.start(command, "The browser")
            if not self._launcher.wait_for_exit(child, _FAILS_WITHIN_S, halt):
                return
        raise ActionError("no_browser", "No web browser could be started. Install one, or set BROWSER to its program.")

    def _openers(self, address: str) -> list[list[str]]:
        """Commands to try, the user's own choice first."""
        choices = self._launcher.environment.get("BROWSER", "").split(":")
        own = [_with_address(choice, address) for choice in choices if choice.strip()]
        browsers = [entry for entry in self._applications.entries() if "x-scheme-handler/https" in entry.schemes]
        return [command for command in (*own, ["xdg-open", address], *commands(browsers, address)) if command]


def _with_address(choice: str, address: str) -> list[str]:
    """A ``BROWSER`` choice with the address at its ``%s`` or at the end; empty where its quotes do not match."""
    try:
        parts = shlex.split(choice)
    except ValueError:
        return []
    return [part.replace("%s", address) for part in parts] if "%s" in choice else [*parts, address]


def _shown(address: str) -> str:
    return address.removeprefix("https://").removesuffix("/")
