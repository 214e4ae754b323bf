"""What a report of a fault needs to know about this Sayso, as text: no speech, no words, no key, no server's name."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping

from sayso.app.snapshot import Snapshot

_SESSION = ("XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "LANG")


def version() -> str:
    """The version of Sayso that runs."""
    return importlib.metadata.version("sayso")


def licence() -> str:
    """The licence of this Sayso, as an SPDX expression."""
    told = importlib.metadata.metadata("sayso").get_all("License-Expression") or ["Apache-2.0"]
    return str(told[0])


def report(snapshot: Snapshot, environment: Mapping[str, str], windows: str) -> str:
    """The report; ``windows`` names what draws the windows and with which version."""
    server, microphone, options = snapshot.server, snapshot.microphone, snapshot.options
    # Where a server's model lies may name its owner.
    model = server.model.rpartition("/")[2] if server.model.startswith(("/", "~")) else server.model
    facts = {
        "Sayso": version(),
        "Python": platform.python_version(),
        "System": platform.platform(),
        "Windows": windows,
        **{name: environment.get(name, "") for name in _SESSION},
        "State": snapshot.state,
        "Microphone": microphone.state,
        "Microphones": len(options.microphones),
        "Server": f"{server.kind}, {server.state}, model {model or 'unknown'}",
        "Mode": snapshot.mode,
        "Behind": f"{snapshot.behind_ms} ms",
        "Wait": f"{options.wait_ms} ms",
        "Notices": ", ".join(notice.code for notice in snapshot.notices),
        "Lines": len(snapshot.lines),
        "Actions": len(snapshot.feed),
    }
    return "\n".join(f"{name}: {fact}" for name, fact in facts.items()) + "\n"
