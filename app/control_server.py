"""Does what other processes of the same user ask over the instance's socket: one short line, one short answer.

Runs on the event loop. A client that says nothing, too much or nonsense costs a connection for some seconds and
nothing else; one of another user is refused, whatever the folder's permissions have become.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
from collections.abc import Callable, Mapping
from functools import partial

from sayso.app.single_instance import CLOSING, DONE, LONGEST_LINE, Instance

log = logging.getLogger(__name__)

_REFUSED = b"refused\n"
_CLIENT_S = 2.0
_MOST_CLIENTS = 8


class ControlServer:
    """``doings`` has what each word does; while ``closing`` says so, nothing is done any more.

    What ``showing`` has shows something, and takes the leave to be in front that may follow its word.
    """

    def __init__(
        self,
        doings: Mapping[str, Callable[[], None]],
        showing: Mapping[str, Callable[[str], None]],
        closing: Callable[[], bool],
    ) -> None:
        self._doings = doings
        self._showing = showing
        self._closing = closing
        self._clients = 0
        self._server: asyncio.Server | None = None

    async def start(self, instance: Instance) -> None:
        """Answer on the instance's socket, also those who asked before."""
        self._server = await asyncio.start_unix_server(self._serve, sock=instance.listening, limit=LONGEST_LINE)

    def close(self) -> None:
        """Answer no new client: from now on they find nothing running."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clients += 1
        try:
            async with asyncio.timeout(_CLIENT_S):
                if self._clients <= _MOST_CLIENTS and _user_of(writer) == os.getuid():
                    writer.write(self._answer(await reader.readline()))
                    await writer.drain()
        except (OSError, TimeoutError, ValueError) as error:
            # ValueError is how a stream says that the line is longer than its limit.
            log.info("a control client was turned away: %s", type(error).__name__)
        finally:
            self._clients -= 1
            writer.close()

    def _answer(self, line: bytes) -> bytes:
        doing = self._doing(line.decode("ascii", "replace").removesuffix("\n")) if line.endswith(b"\n") else None
        if doing is None:
            return _REFUSED
        if self._closing():
            return CLOSING
        doing()
        return DONE

    def _doing(self, said: str) -> Callable[[], None] | None:
        word, _, leave = said.partition(" ")
        showing = self._showing.get(word)
        return self._doings.get(said) if showing is None else partial(showing, leave)


def _user_of(writer: asyncio.StreamWriter) -> int:
    """The user who runs the other end, as the kernel knows it."""
    credentials = struct.Struct("3i")
    peer: socket.socket = writer.get_extra_info("socket")
    _, user, _ = credentials.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, credentials.size))
    return int(user)
