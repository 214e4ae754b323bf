"""A session that has no keys to give. Runs on the event loop."""

from __future__ import annotations

from sayso.app.hotkeys.base import BY_COMMAND, HotkeyError
from sayso.app.hotkeys.shortcut import Shortcut


class NoHotkeys:
    """See ``base.Hotkeys``."""

    tells_escape = False

    async def use(self, shortcut: Shortcut | None, purpose: str) -> str:
        if shortcut is None:
            return ""
        raise HotkeyError("keys_unavailable", f"This session gives programs no keys of their own. {BY_COMMAND}")

    def close(self) -> None:
        """Nothing was taken."""
