"""How a connection that has to end gets there: what is still taken of the client, and the last word. Pure."""

from __future__ import annotations

from sayso.server.protocol import intents
from sayso.server.protocol.intents import Trouble
from sayso.server.protocol.state import WireState


class Farewell:
    """Until ``finishing`` the open turn goes on; a new one is not begun, and what came for it is counted as lost."""

    def __init__(self, code: str, message: str) -> None:
        self._code = code
        self._message = message
        self.finishing = False
        self._missed = False

    def refuses(self, intent: intents.Intent, state: WireState) -> bool:
        """Whether an intent comes too late."""
        if state is WireState.STREAMING and not self.finishing and not isinstance(intent, intents.StartTurn):
            return False
        self._missed = self._missed or isinstance(intent, intents.AddAudio | intents.StartTurn)
        return True

    def last_word(self, *, lost: bool) -> Trouble:
        """The event before the close; ``turn_lost`` also for a turn that was begun too late."""
        return Trouble(self._code, self._message, turn_lost=lost or self._missed)
