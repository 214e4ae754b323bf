"""From a finished utterance to what was done: match, decide, perform, one after another. Runs on the event loop.

Decisions are ``commands.policy``'s and deeds are ``actions.performer``'s; this file keeps their order, the action feed,
and the two things that a command may change here: the mode and whether the assistant is asleep.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from sayso.app.actions import ActionError, Outcome, Performer, Receipt, UndoToken
from sayso.app.actions.desktop import Window
from sayso.app.alarms import Alarm, Alarms
from sayso.app.attention import WITHIN_S, Address, Attention
from sayso.app.carried_out import CarriedOut
from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, match
from sayso.app.commands.names import Names
from sayso.app.commands.policy import Answer, Confirm, Ignore, Run, Type, decide
from sayso.app.commands.weighing import weigh
from sayso.app.errors import report_failure, where_from
from sayso.app.feed import LIMIT, Feed
from sayso.app.question import Question, Surroundings
from sayso.app.said import Said
from sayso.app.snapshot import FeedState, LineKind, Mode, Why
from sayso.app.why import explain, explain_dictation

log = logging.getLogger(__name__)

_OPEN_SLOTS = frozenset({"text", "query", "address", "reminder", "duration", "calculation"})
"""Slots that the speaker may always go on with, so that such a command is complete only when silence says so."""
_OVER = frozenset({FeedState.DONE, FeedState.FAILED})


class Commander:
    """Carries out utterances in the order in which they were said.

    ``on_change`` is called after every change of the feed, the mode or being asleep; ``on_outcome`` says what became of
    a turn, and ``on_carried_out`` the same with all there is to tell, once nothing is left to do for it.
    """

    def __init__(
        self,
        grammar: Grammar,
        performer: Performer,
        on_change: Callable[[], None],
        on_outcome: Callable[[int, LineKind, str], None],
        mode: Mode = Mode.COMMANDS,
        alarms: Alarms | None = None,
        on_carried_out: Callable[[CarriedOut], None] = lambda _: None,
    ) -> None:
        self._grammar = grammar
        self._performer = performer
        self._on_change = on_change
        self._on_outcome = on_outcome
        self._on_carried_out = on_carried_out
        self._mode = mode
        self._alarms = alarms if alarms is not None else Alarms()
        self._asleep = False
        self._attention = Attention()
        self._attending: asyncio.TimerHandle | None = None
        self._feed = Feed()
        self._undo: dict[int, UndoToken] = {}
        self._question: Question | None = None
        self._names: Names | None = None
        self._unhindered = asyncio.Event()
        self._unhindered.set()
        self._queue: asyncio.Queue[Coroutine[Any, Any, object]] = asyncio.Queue()

    @property
    def feed(self) -> Feed:
        return self._feed

    @property
    def mode(self) -> Mode:
        return self._mode

    @property
    def asleep(self) -> bool:
        """True after “stop listening”, until “start listening”."""
        return self._asleep

    @property
    def grammar(self) -> Grammar:
        """What is understood now."""
        return self._grammar

    @property
    def names(self) -> Names | None:
        """What could be named when the last utterance began."""
        return self._names

    def use(self, grammar: Grammar) -> None:
        """Understand this from the next utterance on."""
        self._grammar = grammar

    @property
    def expected(self) -> tuple[str, ...]:
        """What the speaker is likely to say, in the grammar's order, which has the everyday commands first.

        In dictation, where any text may come, only the wake phrase where that counts.
        """
        phrase = (self.expected_phrase.capitalize(),) if self.expected_phrase else ()
        if self._mode is Mode.DICTATION:
            return phrase
        return (*phrase, *(command.say.capitalize() for command in self._grammar.commands.values()))

    @property
    def weighs(self) -> bool:
        """Whether it matters what else was perhaps said: among commands, and asleep only behind the wake phrase."""
        return self._mode is Mode.COMMANDS and (not self._asleep or bool(self._attention.phrase))

    @property
    def expected_phrase(self) -> str:
        """The wake phrase while it makes a difference, else nothing."""
        return self._attention.phrase if self._asleep or self._attention.needs_phrase else ""

    @property
    def attentive(self) -> bool:
        """Whether the next utterance needs no wake phrase where one is asked for."""
        return self._attention.present

    def use_phrase(self, phrase: str, *, asked: bool) -> None:
        """Wake at this phrase (empty: at none), and with ``asked`` do nothing without it."""
        self._attention.phrase, self._attention.asked = phrase, asked
        self._on_change()

    def set_mode(self, mode: Mode) -> None:
        self._mode = mode
        self._on_change()

    def wake(self) -> None:
        """Act on speech again, as after “start listening”."""
        self._asleep = False
        self._on_change()

    def sleep(self) -> None:
        """Do nothing until woken, as after “stop listening”."""
        self._asleep = True
        self._on_change()

    def hold_back(self, on: bool) -> None:
        """Leave what was said undone for now: while a key is held, keys that are sent would not arrive."""
        if on:
            self._unhindered.clear()
        else:
            self._unhindered.set()

    async def look_around(self) -> Surroundings:
        """The window and the names that an utterance beginning now refers to; empty where none can be seen."""
        self._names = await self._performer.names()
        return Surroundings(await self._performer.target(), self._names)

    def is_complete(self, heard: str) -> bool:
        """Whether what was heard so far is a whole command that nothing more is needed for."""
        address = self._attention.address(heard, 0.0, asleep=self._asleep)
        if address is None or not address.text.strip() or (self._asleep and not address.phrase):
            return False
        found = match(self._grammar, address.text, self._names, guess=False)
        return isinstance(found, Match) and not found.ordinary and not _OPEN_SLOTS & found.slots.keys()

    def submit(self, said: Said, surroundings: Awaitable[Surroundings]) -> None:
        """Carry out a finished utterance after those submitted before."""
        self._queue.put_nowait(self._utterance(said, surroundings))

    def forget(self) -> None:
        """Drop from the feed what is over."""
        self._feed = self._feed.without_finished()
        self._on_change()

    def undo(self, item_id: int) -> None:
        """Take back what a feed item did, after what was submitted before."""
        self._queue.put_nowait(self._undo_item(item_id))

    def confirm(self, item_id: int) -> None:
        """Yes to the question of a feed item; one that is not asked any more changes nothing."""
        self._queue.put_nowait(self._answer(item_id, Answer.YES))

    def refuse(self, item_id: int) -> None:
        """No to the question of a feed item."""
        self._queue.put_nowait(self._answer(item_id, Answer.NO))

    def insert(self, text: str) -> None:
        """Type words of the transcript again, into the window that was used before ours."""
        self._queue.put_nowait(self._insert(text))

    async def run(self) -> None:
        """Work through what is submitted, and tell of timers that are due, until cancelled."""
        alarms = asyncio.create_task(self._alarms.run(self._due), name="alarms")
        alarms.add_done_callback(report_failure)
        try:
            while True:
                work = await self._queue.get()
                try:
                    await work
                except Exception as error:  # noqa: BLE001
                    # What nothing foresaw ends one utterance, never the ones after it.
                    log.error("an utterance could not be carried out: %s", where_from(error))
                    self._add("", "Carry out what was said", FeedState.FAILED, "Something went wrong; see the log.")
                finally:
                    self._queue.task_done()
        finally:
            alarms.cancel()
            await asyncio.gather(alarms, return_exceptions=True)
            while not self._queue.empty():
                self._queue.get_nowait().close()
                self._queue.task_done()

    async def finished(self) -> None:
        """Wait until everything submitted so far was carried out; the caller bounds it."""
        await self._queue.join()

    async def close(self) -> None:
        """Stop what still acts and let go of the desktop."""
        if self._attending is not None:
            self._attending.cancel()
        await self._performer.close()

    async def _utterance(self, said: Said, surroundings: Awaitable[Surroundings]) -> None:
        around = await surroundings
        await self._unhindered.wait()
        kind, item = await self._understand(said, around)
        application = around.target.application if around.target else ""
        self._on_carried_out(CarriedOut(said.text.strip(), kind, said.moments, self._feed.find(item), application))

    async def _understand(self, said: Said, around: Surroundings) -> tuple[LineKind, int]:
        """Gives what the utterance was, and its item in the feed, 0 for none."""
        turn, question = said.turn, self._question
        address = self._attention.address(said.text, said.moments.began_at, asleep=self._asleep)
        if address is None and question is not None and question.answer(said.text) is not Answer.NONE:
            address = Address(said.text)
        if address is None:
            self._became(turn, LineKind.ASIDE)
            return LineKind.ASIDE, 0
        kind, item = LineKind.COMMAND, 0
        self._asleep = self._asleep and not address.phrase
        if address.phrase and not address.text:
            self._became(turn, kind)
        elif question is not None and await self._answered(turn, address.text, question):
            item = question.item
        else:
            kind, item = await self._carry_out(said.to_us(address, self._attention.phrase), around)
        if self._attention.needs_phrase and not self._asleep and kind in (LineKind.COMMAND, LineKind.DICTATED):
            self._attend()
        return kind, item

    def _attend(self) -> None:
        """For some seconds no wake phrase is needed; their end is a change, too."""
        self._attention.attend()
        if self._attending is not None:
            self._attending.cancel()
        self._attending = asyncio.get_running_loop().call_later(WITHIN_S, self._on_change)
        self._on_change()

    async def _carry_out(self, said: Said, around: Surroundings) -> tuple[LineKind, int]:
        """Gives what the utterance was, and its item in the feed, 0 for none."""
        turn, heard, moments = said.turn, said.text, said.moments
        # In dictation any text may be meant, and nothing that is only like the words to wake does wake.
        weighed = said.others if self.weighs and not self._asleep else ()
        found = weigh(self._grammar, heard, weighed, around.names)
        match decide(found, self._mode, heard=heard, asleep=self._asleep):
            case Run(command):
                self._became(turn, LineKind.COMMAND)
                return LineKind.COMMAND, await self._run(heard, command, around, explain(command, moments))
            case Type(text):
                return await self._type(turn, text, around, explain_dictation(text, moments))
            case Confirm(command, question):
                self._became(turn, LineKind.COMMAND)
                return LineKind.COMMAND, self._ask(heard, command, question, around, explain(command, moments))
            case Ignore(suggestions=suggestions):
                kind = LineKind.ASLEEP if self._asleep else LineKind.PLAIN
                self._became(turn, kind, *suggestions[:1])
                return kind, 0

    def _became(self, turn: int, kind: LineKind, meant: str = "") -> None:
        self._on_outcome(turn, kind, meant)

    def _ask(self, heard: str, command: Match, question: str, around: Surroundings, why: Why) -> int:
        asked = self._question = Question(self._feed.next_id, command, around)
        title = self._performer.describe(command)
        self._feed = self._feed.heard(heard.strip(), title, FeedState.CONFIRM, question, why, asked.yes)
        self._on_change()
        return asked.item

    async def _answered(self, turn: int, heard: str, question: Question) -> bool:
        """Whether the utterance answers an open question. Anything but a yes is a no, and is then heard as usual."""
        answer = question.answer(heard)
        if answer is not Answer.NONE:
            self._became(turn, LineKind.COMMAND)
        await self._answer(question.item, answer)
        return answer is not Answer.NONE

    async def _answer(self, item_id: int, answer: Answer) -> None:
        question = self._question
        if question is None or question.item != item_id:
            return
        self._question = None
        if answer is Answer.YES:
            await self._perform(item_id, question.command, question.around)
        else:
            self._move(item_id, FeedState.REFUSED, "Not confirmed")

    async def _run(self, heard: str, command: Match, around: Surroundings, why: Why) -> int:
        item = self._add(heard.strip(), self._performer.describe(command), FeedState.HEARD, "", why)
        if self._performer.performs(command):
            await self._perform(item, command, around)
        else:
            known = self._control(command)
            self._move(item, FeedState.DONE if known else FeedState.FAILED, "" if known else "Nothing here does that.")
        return item

    async def _perform(self, item: int, command: Match, around: Surroundings) -> None:
        self._move(item, FeedState.RUNNING)
        try:
            outcome = await self._performer.perform(command, around.target)
        except ActionError as error:
            self._move(item, FeedState.FAILED, str(error))
            return
        for undone in [each for each, token in self._undo.items() if token == outcome.undone]:
            del self._undo[undone]
            self._move(undone, FeedState.UNDONE)
        self._done(item, outcome)

    def _due(self, alarm: Alarm) -> None:
        """A timer is over: it shows in the feed at once, and on the desktop after what runs now."""
        self._add("", alarm.title, FeedState.DONE)
        self._queue.put_nowait(self._performer.announce(alarm.title))

    def _control(self, command: Match) -> bool:
        """The commands that concern the assistant itself; False for one that is not among them."""
        match command.intent:
            case "listening.stop":
                self._asleep = True
            case "listening.start":
                self._asleep = False
            case "mode.commands":
                self._mode = Mode.COMMANDS
            case "mode.dictation":
                self._mode = Mode.DICTATION
            case _:
                return False
        return True

    async def _type(self, turn: int, text: str, around: Surroundings, why: Why) -> tuple[LineKind, int]:
        """Put dictated text into the window in which it was begun; the feed tells how sure it is that it arrived."""
        item, done = await self._insert(text, "Type what was said", around.target, why)
        kind = LineKind.DICTATED if done else LineKind.PLAIN
        self._became(turn, kind)
        return kind, item

    async def _insert(
        self, text: str, title: str = "Type the words again", target: Window | None = None, why: Why | None = None
    ) -> tuple[int, bool]:
        """Gives the item in the feed, and whether the text is in a window."""
        item = self._add(text.strip(), title, FeedState.RUNNING, "", why)
        try:
            outcome = await self._performer.type(text, target)
        except ActionError as error:
            self._move(item, FeedState.FAILED, str(error))
            return item, False
        self._done(item, outcome)
        return item, outcome.receipt is not Receipt.ON_CLIPBOARD

    async def _undo_item(self, item_id: int) -> None:
        if (token := self._undo.pop(item_id, None)) is None:
            return
        self._move(item_id, FeedState.RUNNING, "Undoing")
        try:
            outcome = await self._performer.undo(token)
        except ActionError as error:
            if again := self._performer.can_undo(token):
                self._undo[item_id] = token
            self._move(item_id, FeedState.DONE, f"Not undone: {error}", can_undo=again)
            return
        copied = outcome.receipt is Receipt.ON_CLIPBOARD
        self._move(item_id, FeedState.DONE if copied else FeedState.UNDONE, outcome.detail)

    def _done(self, item: int, outcome: Outcome) -> None:
        if outcome.undo is not None:
            self._undo[item] = outcome.undo
            # Items that have left the feed, which holds no more, are not asked about again.
            self._undo = dict(list(self._undo.items())[-LIMIT:])
        state = FeedState.REFUSED if outcome.receipt is Receipt.ON_CLIPBOARD else FeedState.DONE
        self._move(item, state, outcome.detail, can_undo=outcome.undo is not None)

    def _add(self, heard: str, title: str, state: FeedState, detail: str = "", why: Why | None = None) -> int:
        item = self._feed.next_id
        self._feed = self._feed.heard(heard, title, state, detail, why)
        self._on_change()
        return item

    def _move(self, item: int, state: FeedState, detail: str = "", *, can_undo: bool = False) -> None:
        self._feed = self._feed.moved(item, state, detail, can_undo=can_undo)
        if state in _OVER:
            self._feed = self._feed.finished(item, time.time())
        self._on_change()
