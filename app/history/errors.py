"""The one exception of the history."""

from __future__ import annotations

from sayso.app.errors import AppError


class HistoryError(AppError):
    """Codes: history_full, history_unwritable, history_busy, history_broken, history_newer, export_failed."""
