"""From snapshots as they come to snapshots as the eye needs them: at most thirty a second, the newest wins.

``Throttle`` decides when; ``Publisher`` owns the timer and runs in the Qt thread.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer

from sayso.app.errors import where_from
from sayso.app.snapshot import Snapshot

log = logging.getLogger(__name__)

INTERVAL_S = 1 / 30


class Throttle:
    """Says how long to wait until the next delivery; time is whatever the caller counts in seconds."""

    def __init__(self, interval_s: float = INTERVAL_S) -> None:
        self._interval_s = interval_s
        self._last_s: float | None = None

    def wait_s(self, now_s: float) -> float:
        """Seconds until a delivery may happen, 0 for now."""
        if self._last_s is None:
            return 0.0
        return min(self._interval_s, max(0.0, self._last_s + self._interval_s - now_s))

    def delivered(self, now_s: float) -> None:
        self._last_s = now_s


class Publisher(QObject):
    """Hands the newest snapshot to ``deliver``, now or when its time has come."""

    def __init__(
        self,
        deliver: Callable[[Snapshot], None],
        interval_s: float = INTERVAL_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._deliver = deliver
        self._clock = clock
        self._throttle = Throttle(interval_s)
        self._waiting: Snapshot | None = None
        self._closed = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._flush)

    def close(self) -> None:
        """Deliver nothing more: what comes now finds no window."""
        self._closed = True
        self._timer.stop()

    def publish(self, snapshot: Snapshot) -> None:
        self._waiting = snapshot
        if self._closed or self._timer.isActive():
            return
        wait_s = self._throttle.wait_s(self._clock())
        if wait_s <= 0:
            self._flush()
        else:
            self._timer.start(max(1, round(wait_s * 1000)))

    def _flush(self) -> None:
        snapshot, self._waiting = self._waiting, None
        if snapshot is None:
            return
        self._throttle.delivered(self._clock())
        try:
            self._deliver(snapshot)
        except Exception as error:  # noqa: BLE001
            # A window's mistake must not end whoever told of the change: the microphone, or an action.
            log.error("a change could not be shown: %s", where_from(error))
