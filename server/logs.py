"""Logging of the server processes: to standard error, without query strings, speech or keys."""

from __future__ import annotations

import logging
import sys

from sayso.server.security import QueryFilter


def set_up_logging(level: int = logging.WARNING) -> None:
    """Once, by the process that runs the server."""
    logging.basicConfig(level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in ("uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).addFilter(QueryFilter())
