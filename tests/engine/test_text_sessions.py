"""Text sessions over the messages of the pipe, with a runner without a network behind them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_runner import Letters, ScriptedRunner, greedy

from sayso.engine import messages as m
from sayso.engine.blocks import Budget
from sayso.engine.options import TokenLimits
from sayso.engine.parcel import Vault
from sayso.engine.scheduler import Scheduler
from sayso.engine.text_sessions import TextSessions
from sayso.engine.worker import step

SPEECH = "a speech session"
GREEDY = {"temperature": 0, "max_tokens": 3}


class Desk:
    """The sessions, a scheduler and a clock of steps."""

    def __init__(self, folder: Path, runner: ScriptedRunner | None, limits: TokenLimits | None = None) -> None:
        self.vault = Vault(folder)
        self.texts = TextSessions(self.vault, SPEECH.__eq__, limits)
        self.texts.serve(runner, m.Retention())
        self.said: list[m.Message] = []
        self.now = 0.0

    def send(self, *messages: m.TextDown | m.Park | m.Close) -> None:
        for message in messages:
            self.texts.handle(message, self.now)
        self.work()

    def work(self) -> None:
        """Until nothing is to be done."""
        scheduler = Scheduler(8, batch_cost_ms=400.0, step_tokens=64)
        for _ in range(500):
            self.said += self.texts.results()
            self.now += 0.01
            if self.texts.worker is None or not step(scheduler, (self.texts.worker,), self.now):
                break
        self.said += self.texts.results()

    def tokens(self, name: str) -> list[m.Token]:
        batches = [e.tokens for e in self.said if isinstance(e, m.Tokens) and e.session == name]
        return list(itertools.chain.from_iterable(batches))

    def ids(self, name: str) -> list[int | None]:
        return [token.token for token in self.tokens(name)]

    def codes(self) -> list[tuple[str, str | None, str]]:
        told = [e for e in self.said if isinstance(e, m.Refused | m.Failed | m.Closed)]
        return [(type(e).__name__, e.session, e.reason if isinstance(e, m.Closed) else e.code) for e in told]


@pytest.fixture
def runner() -> ScriptedRunner:
    return ScriptedRunner()


@pytest.fixture
def desk(tmp_path: Path, runner: ScriptedRunner) -> Iterator[Desk]:
    made = Desk(tmp_path, runner)
    yield made
    made.vault.close()


def test_chunks_join_and_each_is_answered_behind_what_stayed(desk: Desk, runner: ScriptedRunner) -> None:
    desk.send(m.OpenText("a"), m.Prompt("a", (1, 2), params=GREEDY))
    first = greedy(runner, (1, 2), 3)
    assert desk.ids("a") == first
    assert [token.in_context for token in desk.tokens("a")] == [True, True, False]
    desk.send(m.Prompt("a", (3,), params=GREEDY), m.EndPrompts("a"))
    assert desk.ids("a")[3:] == greedy(runner, (1, 2, *first[:2], 3), 3)
    last = desk.tokens("a")[-1]
    assert (last.finish_reason, last.finished, last.usage) == ("length", True, (1, 3, 1))
    assert [e.chunk for e in desk.said if isinstance(e, m.Joined)] == [0, 1]
    assert desk.codes() == [("Closed", "a", "finished")]


def test_text_is_encoded_and_comes_back_as_text(tmp_path: Path) -> None:
    answer = b"yes"
    runner = ScriptedRunner(
        lambda context: answer[len(context) - 4] if len(context) < 7 else 256,
        vocabulary=257,
        eos_ids=[256],
        tokenizer=Letters(),
    )
    desk = Desk(tmp_path, runner)
    desk.send(m.OpenText("a"), m.Prompt("a", text="ok?", params={"temperature": 0}), m.EndPrompts("a"))
    assert "".join(token.text for token in desk.tokens("a")) == "yes"
    assert desk.tokens("a")[-1].finish_reason == "stop"
    desk.vault.close()


def test_sessions_together_say_what_each_says_alone(desk: Desk, runner: ScriptedRunner) -> None:
    names = ["a", "b", "c"]
    desk.send(*(m.OpenText(name) for name in names))
    desk.send(*(m.Prompt(name, (number, 9), params=GREEDY) for number, name in enumerate(names)))
    for number, name in enumerate(names):
        assert desk.ids(name) == greedy(runner, (number, 9), 3)
    assert max(len(batch) for batch in runner.batches) == 3


def test_log_probabilities_are_told_when_asked_for(desk: Desk) -> None:
    desk.send(m.OpenText("a"), m.Prompt("a", (1,), params={**GREEDY, "logprobs": 2}))
    logprob = desk.tokens("a")[0].logprob
    assert logprob is not None
    assert (logprob.rank, len(logprob.top), logprob.top[0]) == (0, 2, (desk.ids("a")[0], logprob.chosen))


@pytest.mark.parametrize(
    ("prompt", "code"),
    [
        (m.Prompt("a", (1,), params={"heat": 1}), "unknown_parameter"),
        (m.Prompt("a", (1,), params={"top_p": 7}), "bad_parameter"),
        (m.Prompt("a", (1,), params={"stop_token_ids": (97,)}), "bad_parameter"),
        (m.Prompt("a"), "empty_prompt"),
        (m.Prompt("a", (97,)), "bad_token"),
        (m.Prompt("a", text="words"), "no_tokenizer"),
        (m.Prompt("a", (1,), text="words"), "bad_chunk"),
        (m.Prompt("a", (1,) * 300), "prompt_too_long"),
    ],
)
def test_a_bad_chunk_fails_its_session_with_the_reason(desk: Desk, prompt: m.Prompt, code: str) -> None:
    desk.send(m.OpenText("a"), m.OpenText("b"), prompt, m.Prompt("b", (1,), params=GREEDY))
    assert desk.codes() == [("Failed", "a", code), ("Closed", "a", "failed")]
    assert len(desk.tokens("b")) == 3


def test_a_name_that_is_taken_is_refused_and_is_free_again_after_the_end(desk: Desk, runner: ScriptedRunner) -> None:
    desk.send(m.OpenText("a"), m.OpenText("a"), m.OpenText(SPEECH))
    assert desk.codes() == [("Refused", "a", "session_exists"), ("Refused", SPEECH, "session_exists")]
    desk.send(m.Prompt("a", (5, 6), params=GREEDY), m.Close("a"), m.OpenText("a"), m.Prompt("a", (7,), params=GREEDY))
    assert desk.codes()[-1] == ("Closed", "a", "closed")
    assert desk.ids("a")[-3:] == greedy(runner, (7,), 3)


def test_without_a_model_sessions_are_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path, None)
    desk.send(m.OpenText("a"), m.Prompt("a", (1,)))
    assert desk.codes() == [("Refused", "a", "no_text_model")]
    desk.vault.close()


def test_a_session_whose_tokens_are_not_taken_pauses(tmp_path: Path, runner: ScriptedRunner) -> None:
    desk = Desk(tmp_path, runner, TokenLimits(unread=4))
    desk.send(m.OpenText("a"), m.Prompt("a", (1,), params={"temperature": 0, "max_tokens": 10}))
    assert len(desk.tokens("a")) == 4
    desk.send(m.Taken("a", 4))
    assert len(desk.tokens("a")) == 8
    desk.vault.close()


@pytest.mark.parametrize("tier", ["host", "disk", "dropped"])
def test_a_parked_session_goes_on_as_if_it_had_never_been(desk: Desk, runner: ScriptedRunner, tier: m.Tier) -> None:
    desk.send(m.OpenText("a"), m.Prompt("a", (1, 2, 3, 4, 5), params=GREEDY))
    held = desk.texts.ledger(desk.now)[0].kv
    desk.send(m.Park("a", tier))  # type: ignore[arg-type]
    assert held > 0
    assert desk.texts.ledger(desk.now)[0].kv == 0
    assert desk.said[-1] == m.Parked("a", tier)
    first = greedy(runner, (1, 2, 3, 4, 5), 3)
    desk.send(m.Prompt("a", (6,), params=GREEDY))
    assert desk.ids("a")[3:] == greedy(runner, (1, 2, 3, 4, 5, *first[:2], 6), 3)


def test_rules_of_retention_close_who_does_not_go_on(desk: Desk) -> None:
    desk.texts.retain(m.Retention(close_s=60.0))
    desk.send(m.OpenText("a"), m.Prompt("a", (1,), params=GREEDY))
    wait_s = desk.texts.wait_s(desk.now)
    assert wait_s is not None
    assert 59 < wait_s <= 60
    desk.now += 61
    desk.texts.expire(desk.now)
    desk.work()
    assert desk.codes() == [("Closed", "a", "idle_timeout")]
    assert "a" not in desk.texts


def test_what_other_models_may_hold_as_well_bounds_a_session(tmp_path: Path) -> None:
    runner = ScriptedRunner()
    desk = Desk(tmp_path, None)
    desk.texts.serve(runner, m.Retention(), Budget(3 * runner.block_bytes))
    desk.send(m.OpenText("a"), m.Prompt("a", tuple(range(10)), params={"max_tokens": 50}))
    assert desk.tokens("a")[-1].finish_reason == "context_length"
    assert len(desk.ids("a")) == 2
    desk.send(m.OpenText("b"), m.Prompt("b", tuple(range(12))))
    assert ("Failed", "b", "prompt_too_long") in desk.codes()


def test_unloading_closes_every_session_after_what_it_said(desk: Desk) -> None:
    desk.send(m.OpenText("a"), m.OpenText("b"), m.Prompt("a", (1,), params=GREEDY))
    desk.texts.close_all("unloaded")
    desk.said += desk.texts.results()
    assert desk.codes() == [("Closed", "a", "unloaded"), ("Closed", "b", "unloaded")]
    assert len(desk.tokens("a")) == 3
