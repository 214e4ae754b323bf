"""The part of logind that tells of suspends, played on a private bus that stands for the system's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from jeepney import DBusAddress, new_signal
from played_service import PlayedService, played, private_bus

_NAME = "org.freedesktop.login1"
_MANAGER = DBusAddress("/org/freedesktop/login1", interface=f"{_NAME}.Manager")


@dataclass
class Logind:
    """Announces suspends to whoever listens."""

    service: PlayedService

    def announce(self) -> None:
        """The computer is about to sleep."""
        self._tell(going=True)

    def end(self) -> None:
        """It is awake again."""
        self._tell(going=False)

    def _tell(self, *, going: bool) -> None:
        self.service.signals.put(new_signal(_MANAGER, "PrepareForSleep", "b", (going,)))


@contextlib.contextmanager
def played_logind(folder: Path, environment: MutableMapping[str, str]) -> Iterator[Logind]:
    """Programs started with this environment find it."""
    with private_bus(folder) as address, played(address, _NAME, PlayedService()) as service:
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = address
        yield Logind(service)
