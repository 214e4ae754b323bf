"""A hub on this machine: the addresses that fetching a model needs, and the faults that a real one can have.

It runs in a thread of its own; what it was asked for is kept for tests to look at.
"""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

COMMIT = "c0ffee" * 6 + "c0ff"
LARGE = 1000
"""Files from this size on are kept as large files, with a SHA-256."""

STALL_S = 30.0


@dataclass
class PlayedHub:
    """Repositories by id, each a mapping of file names to contents; faults may be set while it runs."""

    repositories: Mapping[str, Mapping[str, bytes]]
    break_after: int | None = None
    """Bytes of a body after which every connection is cut; None never cuts."""
    stall_after: int | None = None
    """Bytes of a body after which the hub says ``stalled`` and sends nothing more before ``go_on``."""
    stalled: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    spoilt: set[str] = field(default_factory=set)
    """Files whose content arrives wrong."""
    gated: set[str] = field(default_factory=set)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and range of each request."""
    url: str = ""

    def ranges(self, name: str) -> list[str]:
        """The ranges in which a file's content was asked for, in order; empty for the whole."""
        return [wanted for method, path, wanted in self.asked if method == "GET" and path.endswith(name)]


@contextmanager
def played_hub(repositories: Mapping[str, Mapping[str, bytes]]) -> Iterator[PlayedHub]:
    hub = PlayedHub(repositories)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def digest(content: bytes) -> str:
    if len(content) >= LARGE:
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: PlayedHub

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path, wanted = urlsplit(self.path).path, self.headers.get("Range", "")
        self.hub.asked.append((self.command, path, wanted))
        for repository, files in self.hub.repositories.items():
            name = path.removeprefix(f"/{repository}/resolve/{COMMIT}/")
            if path == f"/api/models/{repository}" and repository in self.hub.gated:
                self._refuse(403, "GatedRepo")
            elif path == f"/api/models/{repository}":
                self._tell(_info(repository, files))
            elif name in files:
                self._file(name, files[name], wanted, body=body)
            else:
                continue
            return
        self._refuse(404, "RepoNotFound")

    def _tell(self, told: object) -> None:
        content = json.dumps(told).encode()
        self._head(200, {"Content-Type": "application/json", "Content-Length": str(len(content))})
        self.wfile.write(content)

    def _refuse(self, status: int, code: str) -> None:
        self._head(status, {"X-Error-Code": code, "Content-Length": "0"})

    def _file(self, name: str, content: bytes, wanted: str, *, body: bool) -> None:
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        sent = b"?" * len(content) if name in self.hub.spoilt else content
        headers = {
            "X-Repo-Commit": COMMIT,
            "ETag": f'"{digest(content)}"',
            "Content-Length": str(len(content) - begin),
            "Accept-Ranges": "bytes",
        }
        if begin:
            headers["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        self._head(206 if begin else 200, headers)
        if body and self.hub.break_after is not None and len(content) >= LARGE:
            self.wfile.write(sent[begin : begin + self.hub.break_after])
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif body and self.hub.stall_after is not None and len(content) >= LARGE:
            self.wfile.write(sent[begin : begin + self.hub.stall_after])
            self.wfile.flush()
            self.hub.stalled.set()
            self.hub.go_on.wait(STALL_S)
            self.close_connection = True
        elif body:
            self.wfile.write(sent[begin:])

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Tests look at ``PlayedHub.asked`` instead."""


def _info(repository: str, files: Mapping[str, bytes]) -> dict[str, object]:
    siblings = []
    for name, content in files.items():
        told: dict[str, object] = {"rfilename": name, "size": len(content), "blobId": "0" * 40}
        if len(content) >= LARGE:
            told["lfs"] = {"sha256": digest(content), "size": len(content), "pointerSize": 100}
        else:
            told["blobId"] = digest(content)
        siblings.append(told)
    return {"id": repository, "modelId": repository, "sha": COMMIT, "siblings": siblings, "tags": [], "private": False}
