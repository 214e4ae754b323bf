"""The sessions of one token runner: their cache blocks, their batches and what comes out. Loop thread only.

It never waits and never reads a clock: the loop tells it what came in and what time it is.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from sayso.engine.admission import SPARE_BLOCKS, Holder, Need, admit, make_room
from sayso.engine.blocks import Blocks, Budget, Paging
from sayso.engine.errors import EngineError, SessionError
from sayso.engine.faults import is_out_of_memory, reason
from sayso.engine.messages import Ledger, Tier
from sayso.engine.options import TokenLimits
from sayso.engine.parcel import Vault
from sayso.engine.retention import Tenant, moves, wait_s
from sayso.engine.runner.token_base import Slice, TokenRunner
from sayso.engine.sampling import Chosen
from sayso.engine.sampling_kernel import choose
from sayso.engine.scheduler import Work
from sayso.engine.token_resting import TokenResting, TokenSeat
from sayso.engine.token_session import Chunk, FinishReason, Joined, Model, Output, State, TokenSession

logger = logging.getLogger(__name__)


Event = Output | EngineError | Joined
"""What a session tells its client; an error is its last."""


class TokenWorker:
    """See the module. A session's name is unique for all time; its request id need not be."""

    def __init__(
        self,
        runner: TokenRunner,
        limits: TokenLimits | None = None,
        budget: Budget | None = None,
        vault: Vault | None = None,
    ) -> None:
        """Without a ``vault`` nothing is put on disk."""
        self.runner = runner
        self.limits = limits or TokenLimits()
        self.blocks = Blocks(runner.blocks, runner.block_bytes, budget)
        if budget is not None:
            budget.lenders.append(self.make_room)
        self._resting = TokenResting(runner, self.blocks, vault)
        self._budget = budget or Budget(runner.blocks * runner.block_bytes)
        self._paging = Paging(runner.block_tokens, runner.window)
        capacity = min(runner.blocks, self._budget.total_bytes // max(1, runner.block_bytes))
        self._portion = self._paging.portion(capacity)
        """Most tokens of a session in a step, where its memory is bounded by a window; else 0."""
        fitting = runner.max_length if self._portion else capacity * runner.block_tokens
        self.max_length = min(runner.max_length, fitting)
        """Positions that a session may have: no more than fit in memory when it is alone."""
        piece = runner.tokenizer.piece if runner.tokenizer is not None else _no_text
        self._model = Model(self.max_length, runner.eos_ids, runner.feeds_stop_token, piece)
        self._key = ("tokens", runner.name)
        self._seats: dict[str, TokenSeat] = {}
        self._opened = self._orders = self._moves = 0
        self._events: list[tuple[str, Event]] = []
        self.computed_tokens = 0
        """Positions computed since the start, for measurements."""
        self.preemptions = 0

    # In.

    def open(self, name: str, request_id: str, now: float) -> None:
        """Open a session; raises ``SessionError`` ``session_limit``."""
        admit(len(self._seats), self.limits.sessions)
        self._opened += 1
        self._seats[name] = TokenSeat(name, self._opened, TokenSession(request_id, self._model), now, opened=now)

    def push(self, name: str, chunk: Chunk, now: float) -> None:
        """A chunk for a session; for one that is over it is dropped, since its client was told."""
        seat = self._seats.get(name)
        if seat is not None:
            seat.session.push(chunk)
            self._moved(seat, now)

    def end_input(self, name: str, now: float) -> None:
        """No chunk will follow."""
        seat = self._seats.get(name)
        if seat is not None:
            seat.session.end_input()
            self._moved(seat, now)

    def end(self, name: str, reason: FinishReason = "abort") -> None:
        """End a session now and free what it holds; its client gets a last marker."""
        seat = self._seats.get(name)
        if seat is not None:
            seat.session.end(reason)
            self._collect(seat)

    def read(self, name: str, count: int, now: float) -> None:
        """The client took so many outputs."""
        seat = self._seats.get(name)
        if seat is not None:
            seat.unread -= count
            seat.since = now

    def fail_all(self, error: EngineError) -> None:
        """Every session ends with this error."""
        for seat in list(self._seats.values()):
            self._fail(seat, error)

    # Work.

    def offers(self, now: float) -> list[Work]:
        memory = self._memory
        return [self._work(seat) for seat in self._seats.values() if self._runnable(seat) and seat.stalled != memory]

    def run(self, works: Sequence[Work], now: float) -> None:
        seats = [self._seats[work.session] for work in works]
        tokens = {work.session: work.tokens for work in works}
        granted = self._room(seats, tokens)
        for seat in granted:
            self._resting.bring_back(seat)
        self._run([(seat, tokens[seat.name]) for seat in seats if seat in granted], now)

    def expire(self, now: float) -> None:
        """End sessions that did not move for too long, so that nothing is held and nobody waits for ever."""
        for seat in [seat for seat in self._seats.values() if now - seat.since >= self.limits.idle_s]:
            logger.warning("session %s did not move for %.0f s", seat.name, now - seat.since)
            if seat.session.state is State.WAITING or seat.unread >= self.limits.unread:
                self.end(seat.name, "idle")
            else:
                text = f"No memory became free for this session in {self.limits.idle_s:g} s; try again later."
                self._fail(seat, SessionError("out_of_memory", text))
        if self.limits.retention is not None:
            for move in moves(self._tenants(now), self.limits.retention):
                if move.to == "closed":
                    self.end(move.session, "idle")
                else:
                    self.put_away(move.session, move.to)

    def expires(self) -> float | None:
        """When ``expire`` has something to do next, on the loop's clock."""
        ends = [seat.since + self.limits.idle_s for seat in self._seats.values()]
        if self.limits.retention is not None:
            # Counted from the clock's origin, the time to wait is when it is due.
            at = wait_s(self._tenants(0.0), self.limits.retention)
            ends += [at] if at is not None else []
        return min(ends, default=None)

    def put_away(self, name: str, tier: Tier) -> bool:
        """Give back what an idle session holds; says whether it did. It comes back with its next step."""
        seat = self._seats.get(name)
        if seat is None or self._runnable(seat):
            return False
        self._resting.put_away(seat, tier)
        self._drop(seat)
        return True

    def make_room(self, nbytes: int) -> None:
        """Give so many bytes back to the budget if the caches of paused sessions have them, longest paused first."""
        paused = [holder for holder in self._holders() if holder.paused_since is not None]
        wanted = -(-nbytes // max(1, self.runner.block_bytes))
        if sum(holder.blocks for holder in paused) < wanted:
            return
        for holder in sorted(paused, key=lambda holder: holder.paused_since or 0.0):
            if wanted > 0:
                self._preempt(self._seats[holder.session])
                wanted -= holder.blocks

    # Out.

    def take(self) -> list[tuple[str, Event]]:
        """What the sessions said since the last call, in order, each with the session's name."""
        events, self._events = self._events, []
        return events

    @property
    def open_sessions(self) -> int:
        return len(self._seats)

    def session(self, name: str) -> TokenSession | None:
        """An open session, to look at."""
        seat = self._seats.get(name)
        return seat.session if seat is not None else None

    def ledger(self, now: float) -> tuple[Ledger, ...]:
        """Memory of every session; a token session has no audio."""
        return tuple(self._resting.ledger(seat, now, busy=self._runnable(seat)) for seat in self._seats.values())

    # Inside.

    def _tenants(self, now: float) -> list[Tenant]:
        return [self._resting.tenant(seat, now, busy=self._runnable(seat)) for seat in self._seats.values()]

    @property
    def _memory(self) -> tuple[int, int]:
        """Changes whenever there may be room where there was none."""
        return self._moves, self._budget.returns

    def _runnable(self, seat: TokenSeat) -> bool:
        return seat.session.state is State.ACTIVE and seat.unread < self.limits.unread

    def _work(self, seat: TokenSeat) -> Work:
        pending = seat.session.pending
        tokens = min(pending, self._portion) if self._portion else pending
        return Work(seat.name, 0.0, seat.due, self._key, tokens, divisible=tokens > 1)

    def _moved(self, seat: TokenSeat, now: float) -> None:
        seat.since = now
        self._collect(seat)
        self._join(seat, now)

    def _join(self, seat: TokenSeat, now: float) -> None:
        """Notice that chunks left the queue; a session whose chunk is newer now may have to make room for others."""
        if seat.announced < seat.session.joined:
            self._moves += 1
        while seat.announced < seat.session.joined:
            seat.announced += 1
            self._events.append((seat.name, Joined(seat.announced)))
            self._orders += 1
            seat.order, seat.due = self._orders, now + self.limits.prompt_s

    def _room(self, seats: Sequence[TokenSeat], tokens: Mapping[str, int]) -> set[TokenSeat]:
        """Blocks for what these sessions have to compute, taken; sessions that must make room lose theirs."""
        needs = [self._need(seat, tokens[seat.name]) for seat in seats]
        wants = {need.session: need.blocks for need in needs}
        if sum(wants.values()) + SPARE_BLOCKS * len(self._seats) <= self.blocks.free:
            self.blocks.take(wants)
            return set(seats)
        room = make_room(needs, self._holders(), self.blocks.free)
        for name in room.preempted:
            self._preempt(self._seats[name])
        self.blocks.take(room.granted)
        for name in room.waiting:
            if name not in room.preempted:
                self._seats[name].stalled = self._memory
        return {self._seats[name] for name in room.granted}

    def _need(self, seat: TokenSeat, count: int) -> Need:
        """All blocks of a prompt at once: one that is half computed could wait for ever, or lose what it has.

        Behind a window it never needs all of them at a time: it takes those of the step, and gives back as many.
        """
        reach = seat.session.computed + count if self._portion else seat.session.length
        held = len(self.blocks.held(seat.name))
        blocks = self._paging.reaching(reach) - seat.first_block - held
        return Need(seat.name, max(0, blocks), seat.order, begins=held == 0)

    def _holders(self) -> list[Holder]:
        holders = []
        for name in self.blocks.owners:
            seat = self._seats[name]
            paused_since = None if self._runnable(seat) else seat.since
            holders.append(Holder(name, len(self.blocks.held(name)), seat.order, paused_since))
        return holders

    def _preempt(self, seat: TokenSeat) -> None:
        logger.info("session %s makes room: its cache is dropped", seat.name)
        self.preemptions += 1
        seat.lose()
        self._drop(seat)

    def _drop(self, seat: TokenSeat) -> None:
        self._give_back(seat, len(self.blocks.held(seat.name)))

    def _drop_behind(self, seat: TokenSeat) -> None:
        """What the session's next tokens do not see any more."""
        count = self._paging.behind(seat.session.computed) - seat.first_block
        self._give_back(seat, count)
        seat.first_block += count

    def _give_back(self, seat: TokenSeat, count: int) -> None:
        """The first so many of the blocks that the session holds."""
        blocks = self.blocks.give_back_first(seat.name, count)
        if blocks:
            self._moves += 1
            try:
                self.runner.drop(seat.name, blocks)
            except Exception:  # the blocks are free in any case, and the session has no use for this error
                logger.exception("the runner could not drop the cache of session %s", seat.name)

    def _run(self, parts: Sequence[tuple[TokenSeat, int]], now: float) -> None:
        """One batch. When it raises, each session runs alone, so that only those at fault fail."""
        if not parts:
            return
        try:
            chosen = self._compute(parts)
        except Exception as error:  # noqa: BLE001 - a fault in a model is told to its session; the engine lives
            self._recover(parts, error, now)
        else:
            self._advance(parts, chosen, now)

    def _compute(self, parts: Sequence[tuple[TokenSeat, int]]) -> dict[TokenSeat, Chosen]:
        """The next token of each session whose pending tokens are all in this step; no session is changed."""
        rows = [seat for seat, count in parts if count == seat.session.pending]
        logits = self.runner.forward([self._slice(seat, count) for seat, count in parts])
        if len(logits) != len(rows):
            raise EngineError("inference_failed", f"{len(rows)} rows of logits were asked for, {len(logits)} came.")
        return dict(zip(rows, choose(logits, [seat.session.choice() for seat in rows]), strict=True))

    def _slice(self, seat: TokenSeat, count: int) -> Slice:
        session = seat.session
        last = count == session.pending
        tokens, table = session.next_tokens(count), self.blocks.held(seat.name)
        return Slice(seat.name, tokens, session.computed, table, last, seat.first_block)

    def _recover(self, parts: Sequence[tuple[TokenSeat, int]], error: Exception, now: float) -> None:
        if is_out_of_memory(error):
            newest = max(parts, key=lambda part: part[0].number)
            logger.warning("a step of %d sessions ran out of memory", len(parts))
            text = "There was no memory for this session; the others go on. Try again when fewer are open."
            self._fail(newest[0], SessionError("out_of_memory", text))
            self._run([part for part in parts if part is not newest], now)
        elif len(parts) > 1:
            for part in parts:
                self._run([part], now)
        else:
            logger.error("a step failed", exc_info=error)
            code = error.code if isinstance(error, EngineError) else "inference_failed"
            self._fail(parts[0][0], SessionError(code, f"The model failed on this session: {reason(error)}"))

    def _advance(self, parts: Sequence[tuple[TokenSeat, int]], chosen: dict[TokenSeat, Chosen], now: float) -> None:
        for seat, count in parts:
            seat.session.advance(count)
            self._drop_behind(seat)
            self.computed_tokens += count
            seat.since = now
        for seat, choice in chosen.items():
            if choice.token is None:
                text = "The model gave numbers that are none for this session's next token."
                self._fail(seat, SessionError("inference_failed", text))
                continue
            seat.session.chosen(choice)
            seat.due += self.limits.token_s
            self._collect(seat)
            self._join(seat, now)

    def _collect(self, seat: TokenSeat) -> None:
        """Take what the session said; when it is over, free what it holds."""
        outputs = seat.session.take()
        self._events += [(seat.name, output) for output in outputs]
        seat.unread += len(outputs)
        if seat.session.state is State.CLOSED:
            self._remove(seat)
        elif not self._runnable(seat):
            self._moves += 1

    def _fail(self, seat: TokenSeat, error: EngineError) -> None:
        self._events.append((seat.name, error))
        self._remove(seat)

    def _remove(self, seat: TokenSeat) -> None:
        del self._seats[seat.name]
        if seat.away is not None:
            seat.away.discard()
        self._drop(seat)


def _no_text(token: int) -> bytes:
    return b""
