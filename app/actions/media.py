"""Music and video players, through MPRIS on the session's D-Bus. One worker thread at a time.

Source: freedesktop.org MPRIS D-Bus Interface Specification 2.2.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress

from sayso.app.actions.base import Done, Family, Job, Receipt, Revert
from sayso.app.actions.bus import Bus, Calls, comes_true
from sayso.app.actions.errors import ActionError

log = logging.getLogger(__name__)

_PREFIX = "org.mpris.MediaPlayer2."
_PATH = "/org/mpris/MediaPlayer2"
_PLAYER = "org.mpris.MediaPlayer2.Player"
_STATUS = {"play": "Playing", "pause": "Paused"}
_OPPOSITE = {"play": "pause", "pause": "play", "next": "previous", "previous": "next"}
_ORDER = ("Playing", "Paused", "Stopped")


@dataclass(frozen=True, slots=True)
class Player:
    """A player on the bus."""

    service: str
    name: str
    status: str
    """“Playing”, “Paused” or “Stopped”."""


class Media(Family):
    """“Pause the music”, “next song”: the player that plays, else the one that was told something last."""

    family = "media"

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._last = ""

    def perform(self, job: Job) -> Done:
        verb = job.match.command.verb
        with self._bus.open() as calls:
            player = self._meant(calls)
            if player.status == _STATUS.get(verb):
                raise ActionError("already_so", f"{player.name} is {player.status.lower()} already.")
            self._last = player.service
            done = _told(calls, player, verb, job.halt)
        return Done(done.detail, done.receipt, self._back(player, _OPPOSITE[verb]))

    def _meant(self, calls: Calls) -> Player:
        found = list(_players(calls))
        if not found:
            raise ActionError("no_player", "No media player is running. Start one and say it again.")
        return min(found, key=lambda player: (_rank(player.status), player.service != self._last))

    def _back(self, player: Player, verb: str) -> Revert:
        def revert(halt: threading.Event) -> Done:
            with self._bus.open() as calls:
                return _told(calls, player, verb, halt)

        return revert


def _told(calls: Calls, player: Player, verb: str, halt: threading.Event) -> Done:
    """Tell a player something and look what it did."""
    service = _service(player.service)
    if verb in _STATUS:
        calls.call(service, verb.capitalize())
        wanted = _STATUS[verb]
        arrived = comes_true(lambda: calls.property(service, "PlaybackStatus") == wanted, halt)
        detail = f"{player.name} is {wanted.lower()}"
    else:
        if not calls.property(service, f"CanGo{verb.capitalize()}"):
            raise ActionError("no_track", f"{player.name} has no {verb} track.")
        before = _track(calls, service)
        calls.call(service, verb.capitalize())
        arrived = comes_true(lambda: _track(calls, service) != before, halt)
        detail = f"{player.name} plays {_title(calls, service)}"
    return Done(detail, Receipt.VERIFIED) if arrived else Done(f"told {player.name}", Receipt.SENT)


def _service(name: str) -> DBusAddress:
    return DBusAddress(_PATH, bus_name=name, interface=_PLAYER)


def _players(calls: Calls) -> Iterator[Player]:
    for name in calls.services():
        if name.startswith(_PREFIX):
            try:
                yield _player(calls, name)
            except ActionError as error:
                # One that is ending or hangs must not keep the others from being heard.
                log.info("a media player did not answer: %s", error.code)


def _player(calls: Calls, name: str) -> Player:
    about = DBusAddress(_PATH, bus_name=name, interface=_PREFIX.rstrip("."))
    return Player(name, str(calls.property(about, "Identity")), str(calls.property(_service(name), "PlaybackStatus")))


def _rank(status: str) -> int:
    return _ORDER.index(status) if status in _ORDER else len(_ORDER)


def _track(calls: Calls, service: DBusAddress) -> tuple[Any, Any]:
    metadata = calls.property(service, "Metadata")
    return metadata.get("mpris:trackid"), metadata.get("xesam:title")


def _title(calls: Calls, service: DBusAddress) -> str:
    title = calls.property(service, "Metadata").get("xesam:title")
    return f"“{title[1]}”" if title else "another track"
