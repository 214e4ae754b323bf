"""The one exception of actions."""

from __future__ import annotations

from sayso.app.errors import AppError


class ActionError(AppError):
    """An action was refused or failed; the text says why and what to do, and never repeats typed text."""
