"""Spoken web addresses: “example dot com slash docs” → ``https://example.com/docs``. Pure."""

from __future__ import annotations

import re

_SPOKEN = {
    "dot": ".",
    "point": ".",
    "slash": "/",
    "dash": "-",
    "hyphen": "-",
    "underscore": "_",
    "colon": ":",
}
_SCHEME = re.compile(r"^(https?):/*", re.IGNORECASE)
_HOST = re.compile(r"^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?$")
_PATH = re.compile(r"^[a-z0-9._~/-]*$", re.IGNORECASE)


def read_address(said: str) -> str | None:
    """The https (or, when said, http) address, or None where ``said`` is none.

    A host needs a dot, so that “open the door” is never an address; localhost is none either.
    """
    words = [_SPOKEN.get(word.lower(), word) for word in said.strip().rstrip(".,!?;").split()]
    joined = "".join(word.rstrip(",;!?") for word in words)
    joined = re.sub(r"^(?:https?)(?=:)", lambda found: found.group().lower(), joined, flags=re.IGNORECASE)
    scheme = "https"
    if found := _SCHEME.match(joined):
        scheme = found.group(1).lower()
        joined = joined[found.end() :]
    host, slash, path = joined.partition("/")
    host = host.lower()
    if not _HOST.match(host) or not _PATH.match(path):
        return None
    return f"{scheme}://{host}{slash}{path}"
