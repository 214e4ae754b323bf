"""Logging of the server processes: to standard error, without query strings, speech or keys."""

from __future__ import annotations

import logging
import sys
from typing import Any

UVICORN_LOGGERS = ("uvicorn.error", "uvicorn.access")


def set_up_logging(level: int = logging.WARNING) -> None:
    """Once, by the process that runs the server."""
    logging.basicConfig(level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in UVICORN_LOGGERS:
        logger = logging.getLogger(name)
        logger.addFilter(QueryFilter())
        # At DEBUG it would write down every frame, and so what was said.
        logger.setLevel(max(level, logging.INFO))


class QueryFilter(logging.Filter):
    """Takes query strings out of uvicorn's log lines: a client may have put a key there."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_without_query(arg) for arg in record.args)
        return True


def _without_query(value: Any) -> Any:
    return value.partition("?")[0] if isinstance(value, str) and value.startswith("/") else value
