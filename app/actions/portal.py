"""Requests to the desktop's portal, answered by a signal once the user has decided. One worker thread at a time.

Source: XDG Desktop Portal, org.freedesktop.portal.Request.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from jeepney import DBusAddress, MatchRule, Message

from sayso.app.actions.bus import Bus, Calls
from sayso.app.actions.desktop.base import check
from sayso.app.actions.errors import ActionError

_PORTAL, _PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
_REQUEST = "org.freedesktop.portal.Request"
_USER_S = 60.0
"""How long the user may look at the desktop's question."""
_LOOK_S = 0.1
_TOKEN = "sayso"
_CANCELLED = 1


def ask(
    session: Bus, interface: str, method: str, values: tuple[Any, ...], halt: threading.Event, *, signature: str
) -> dict[str, Any]:
    """The results of a request; the last of ``values`` is its options.

    Raises ActionError: “no_bus” and those of ``Calls`` where there is no such portal, “portal_refused” where the user
    or the desktop said no.
    """
    *before, options = values
    with session.open() as calls:
        answers = _answers(calls)
        calls.call(
            DBusAddress(_PATH, _PORTAL, interface),
            method,
            signature,
            *before,
            {**options, "handle_token": ("s", _TOKEN)},
        )
        code, results = _wait(calls, answers, halt)
    if code == _CANCELLED:
        raise ActionError("portal_refused", "You, or your desktop, did not allow it.")
    if code:
        raise ActionError("portal_refused", "The desktop could not do it.")
    return dict(results)


def _answers(calls: Calls) -> deque[Message]:
    """Where the answer will be; listened for before it is asked, since it may come at once."""
    sender = str(calls.connection.unique_name).removeprefix(":").replace(".", "_")
    path = f"{_PATH}/request/{sender}/{_TOKEN}"
    return calls.signals(MatchRule(type="signal", interface=_REQUEST, member="Response", path=path))


def _wait(calls: Calls, answers: deque[Message], halt: threading.Event) -> tuple[int, dict[str, Any]]:
    until = time.monotonic() + _USER_S
    while True:
        check(halt)
        if time.monotonic() > until:
            raise ActionError("portal_silent", f"The desktop did not answer within {_USER_S:g} seconds.")
        try:
            code, results = calls.connection.recv_until_filtered(answers, timeout=_LOOK_S).body
        except TimeoutError:
            continue
        except (OSError, EOFError) as error:
            raise ActionError("bus_lost", "The connection to D-Bus was lost. Try again.") from error
        return int(code), results
