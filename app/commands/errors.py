"""The one exception of the command grammar."""

from __future__ import annotations

from sayso.app.errors import AppError


class GrammarError(AppError):
    """The grammar file is missing or broken; ``code`` is ``grammar_missing`` or ``grammar_broken``."""
