"""Timers and reminders: set, asked for and cancelled here; ``app.alarms`` waits for their time. One worker thread."""

from __future__ import annotations

import math
import threading

from sayso.app.actions.base import Done, Family, Job, Revert
from sayso.app.actions.errors import ActionError
from sayso.app.alarms import Alarm, Alarms
from sayso.app.commands.duration import read_duration, spoken
from sayso.app.commands.matching import Match

_MOST = 50


class Timers(Family):
    """“Set a timer for five minutes”, “remind me to stretch in an hour”, “how long left”."""

    family = "timers"

    def __init__(self, alarms: Alarms) -> None:
        self._alarms = alarms

    def perform(self, job: Job) -> Done:
        match = job.match
        match match.command.verb:
            case "set":
                return self._set(f"The timer of {match.slots['duration']} is over", "timer", match)
            case "remind":
                return self._set(f"Reminder: {match.slots['reminder']}", "reminder", match)
            case "left":
                return self._left()
        return self._cancel(match.slots["kind"])

    def _set(self, title: str, kind: str, match: Match) -> Done:
        seconds = read_duration(match.slots["duration"])
        if seconds is None:
            raise ActionError("no_duration", "That is no length of time of up to a week.")
        if len(self._alarms.pending()) >= _MOST:
            raise ActionError("too_many_timers", f"At most {_MOST} timers and reminders wait at once. Cancel some.")
        alarm = self._alarms.add(title, kind, seconds)

        def revert(halt: threading.Event) -> Done:
            if not self._alarms.remove(alarm):
                raise ActionError("alarm_gone", f"That {kind} is over already.")
            return Done(f"the {kind} is cancelled")

        return Done(f"in {match.slots['duration']}; Sayso must keep running", revert=revert)

    def _left(self) -> Done:
        pending = self._alarms.pending()
        if not pending:
            raise ActionError("no_timer", "No timer and no reminder is set.")
        return Done("; ".join(f"{_name(alarm)}: {self._time_left(alarm)} left" for alarm in pending))

    def _cancel(self, kind: str) -> Done:
        gone = [alarm for alarm in self._alarms.pending() if alarm.kind == kind]
        left = [self._alarms.left(alarm) for alarm in gone]
        if not gone:
            raise ActionError("no_timer", f"No {kind} is set.")
        for alarm in gone:
            self._alarms.remove(alarm)
        detail = f"one {kind} cancelled" if len(gone) == 1 else f"{len(gone)} {kind}s cancelled"
        return Done(detail, revert=self._setting_again(gone, left))

    def _setting_again(self, alarms: list[Alarm], left: list[float]) -> Revert:
        def revert(halt: threading.Event) -> Done:
            for alarm, seconds in zip(alarms, left, strict=True):
                self._alarms.add(alarm.title, alarm.kind, seconds)
            return Done("set again, with the time that was left")

        return revert

    def _time_left(self, alarm: Alarm) -> str:
        return spoken(math.ceil(self._alarms.left(alarm)))


def _name(alarm: Alarm) -> str:
    return "timer" if alarm.kind == "timer" else alarm.title
