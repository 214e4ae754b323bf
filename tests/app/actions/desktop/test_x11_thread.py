"""Work in the thread of a connection: done in order, its errors told, and refused once the display is gone."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator

import pytest
from bounded import wait_for
from virtual_desktop import VirtualDesktop

from sayso.app.actions import ActionError
from sayso.app.actions.desktop.x11_events import X11Events
from sayso.app.actions.desktop.x11_thread import X11Thread

pytestmark = pytest.mark.desktop
GO_ON = threading.Event()


@pytest.fixture
def events(desktop: VirtualDesktop) -> X11Events:
    return X11Events(desktop.display)


@pytest.fixture
def thread(events: X11Events) -> Iterator[X11Thread]:
    made = X11Thread(events, "test", lambda: None)
    made.start()
    yield made
    if made.alive:
        made.post(made.end)
        made.join(5)


def test_work_is_done_in_the_thread_in_order_and_its_error_is_the_callers(thread: X11Thread) -> None:
    done: list[object] = []

    def refuse() -> None:
        raise ActionError("refused", "No.")

    thread.post(lambda: done.append(1))
    thread.do(lambda: done.append(threading.current_thread().name), GO_ON)
    assert done == [1, "test"]
    with pytest.raises(ActionError, match="No"):
        thread.do(refuse, GO_ON)
    assert thread.alive


def test_whoever_waits_is_released_when_told_to_stop(thread: X11Thread) -> None:
    go_on, stopped = threading.Event(), threading.Event()
    stopped.set()
    thread.post(lambda: go_on.wait(10) and None)
    try:
        with pytest.raises(ActionError) as cancelled:
            thread.do(lambda: None, stopped)
    finally:
        go_on.set()
    assert cancelled.value.code == "cancelled"


def test_once_the_display_is_gone_work_is_refused(events: X11Events, thread: X11Thread) -> None:
    duplicate = os.dup(events.connection.get_file_descriptor())
    with socket.socket(fileno=duplicate) as end:
        end.shutdown(socket.SHUT_RDWR)
    wait_for(lambda: not thread.alive, "the end of the thread")
    with pytest.raises(ActionError) as lost:
        thread.do(lambda: None, GO_ON)
    assert lost.value.code == "display_lost"
