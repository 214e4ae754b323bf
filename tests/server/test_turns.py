"""The turn engine: what each order of a client's events and of the engine's answers leads to."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.engine import messages as m
from sayso.server.protocol import intents as i
from sayso.server.protocol.events import SaysoIdle, SaysoOptions
from sayso.server.protocol.state import WireState
from sayso.server.turn import MOST_REPLAYS
from sayso.server.turn_limits import Limits
from sayso.server.turns import Output, TurnEngine

SECOND = bytes(32_000)
SERVED = i.Served(frozenset({"auto", "tiny.en"}), certain=True)
READY = i.EngineNews("ready")


class Engine:
    """The engine as a pure part of these tests: one word a second of audio, answers when it is let."""

    def __init__(self) -> None:
        self._inbox: deque[m.Down] = deque()
        self._turns: dict[str, list[int]] = {}
        self.sent: list[m.Down] = []

    def take(self, message: m.Down) -> None:
        self._inbox.append(message)
        self.sent.append(message)

    def lose_all(self) -> None:
        self._inbox.clear()
        self._turns.clear()

    def step(self) -> list[m.Up]:
        if not self._inbox:
            return []
        match self._inbox.popleft():
            case m.Open(session=name, epoch=epoch):
                self._turns[name] = [epoch, 0]
                return [m.Opened(name)]
            case m.Audio(session=name, epoch=epoch, samples=samples):
                turn = self._turns[name]
                assert epoch == turn[0]
                before, turn[1] = turn[1], turn[1] + len(samples) // m.PCM_BYTES
                seconds = range(before // 16_000, turn[1] // 16_000)
                return [m.Text(name, epoch, f"{n} ", True, n * 1000, n * 1000 + 1000, tokens=1) for n in seconds]
            case m.Flush(session=name, epoch=epoch, marker=marker):
                samples, self._turns[name][1] = self._turns[name][1], 0
                text = m.Text(name, epoch, f"({samples})", True, 0, samples // 16)
                return [text, m.Flushed(name, epoch, marker, samples // 16, prompt_tokens=samples // 320)]
            case m.Cancel(session=name, epoch=epoch):
                self._turns[name] = [epoch, 0]
            case m.Close(session=name):
                del self._turns[name]
                return [m.Closed(name, "closed")]
        return []


class Bench:
    """A turn engine with the engine above behind it; ``told`` is what the client has heard."""

    def __init__(self, news: i.EngineNews = READY, served: i.Served = SERVED, limits: Limits | None = None) -> None:
        self.turns = TurnEngine("s", served, news, limits)
        self.engine = Engine()
        self.told: list[i.Happening] = []

    def do(self, *wishes: i.Intent) -> Bench:
        for wish in wishes:
            self.carry_out(self.turns.intent(wish))
        return self

    def carry_out(self, outputs: list[Output]) -> None:
        for output in outputs:
            if isinstance(output, m.Message):
                self.engine.take(output)
            else:
                self.told.append(output)

    def step(self) -> bool:
        answers = self.engine.step()
        for answer in answers:
            self.carry_out(self.turns.engine_message(answer))
        return bool(answers)

    def run(self) -> Bench:
        while self.engine._inbox:
            self.step()
        return self

    def news(self, state: i.EngineWord, detail: str = "", served: i.Served = SERVED) -> Bench:
        if state != "ready":
            self.engine.lose_all()
        self.carry_out(self.turns.engine_news(i.EngineNews(state, detail), served))
        return self

    def heard(self, kind: type) -> list:
        return [happening for happening in self.told if isinstance(happening, kind)]

    def sent(self, kind: type) -> list:
        return [message for message in self.engine.sent if isinstance(message, kind)]

    @property
    def texts(self) -> list[str]:
        return [done.text for done in self.heard(i.TurnDone)]

    @property
    def codes(self) -> list[tuple[str, bool]]:
        return [(trouble.code, trouble.turn_lost) for trouble in self.heard(i.Trouble)]


CHOOSE = i.Choose("auto")
START, END, DROP = i.StartTurn(), i.EndTurn(), i.DropTurn()


def audio(seconds: float = 1.0) -> i.AddAudio:
    return i.AddAudio(bytes(2 * round(16_000 * seconds)))


# The happy path.


def test_upstreams_order_gives_deltas_then_done() -> None:
    bench = Bench().do(CHOOSE, START, audio(), audio()).run()
    assert [t.piece for t in bench.heard(i.StableText)] == ["0 ", "1 "]
    bench.do(END).run()
    assert bench.texts == ["0 1 (32000)"]
    assert bench.turns.state is WireState.READY


def weighed(*pieces: tuple[str, str]) -> Bench:
    """A client that weighs texts, after a turn that the engine gave in these pieces, each with one alternative."""
    wishes = SaysoOptions(events=("alternatives",), expected=("Pause.",))
    bench = Bench().do(i.Choose("auto", sayso=wishes), START, audio())
    options = bench.sent(m.Open)[0].options
    assert (options.alternatives, options.expected) == (True, ("Pause.",))
    name = bench.sent(m.Open)[0].session
    for at, (piece, other) in enumerate(pieces):
        text = m.Text(name, 0, piece, True, at * 400, at * 400 + 400, alternatives=(m.Alternative(other, 0.5, -2.0),))
        bench.carry_out(bench.turns.engine_message(text))
    bench.do(END)
    bench.carry_out(bench.turns.engine_message(m.Flushed(name, 0, 1, 1000)))
    return bench


def test_what_a_turn_may_have_been_instead_comes_with_its_text() -> None:
    assert weighed(("Pies.", "Pause.")).heard(i.TurnDone)[0].others == [i.OtherText("Pause.", 0.5, -2.0)]


def test_what_only_a_part_of_a_turn_may_have_been_is_not_told() -> None:
    assert weighed(("Pies.", "Pause."), (" Now.", "No.")).heard(i.TurnDone)[0].others == ()


def test_audio_before_the_first_commit_is_kept_for_it() -> None:
    bench = Bench().do(audio(), CHOOSE, audio(), START, END).run()
    assert bench.texts == ["0 1 (32000)"]


def test_a_final_commit_alone_runs_the_audio_that_waits() -> None:
    assert Bench().do(CHOOSE, audio(), END).run().texts == ["0 (16000)"]


def test_many_turns_share_one_session_of_the_engine() -> None:
    bench = Bench().do(CHOOSE)
    for _ in range(3):
        bench.do(START, audio(), END).run()
    assert bench.texts == ["0 (16000)"] * 3
    assert len(bench.sent(m.Open)) == 1


def test_usage_counts_what_the_engine_counted() -> None:
    done = Bench().do(CHOOSE, START, audio(2), END).run().heard(i.TurnDone)[0]
    assert (done.prompt_tokens, done.completion_tokens) == (100, 2)


def test_confirmed_audio_only_grows() -> None:
    bench = Bench().do(CHOOSE, START, audio(2), audio(0.5), END).run()
    times = [c.audio_ms for c in bench.heard(i.AudioConfirmed)]
    assert times == [1000, 2000, 2500]


def test_a_piece_that_ends_earlier_confirms_nothing_new() -> None:
    bench = Bench().do(CHOOSE, START, audio(2)).run()
    bench.carry_out(bench.turns.engine_message(m.Text("s.0", 0, "odd", True, 500, 700)))
    assert [c.audio_ms for c in bench.heard(i.AudioConfirmed)] == [1000, 2000]


def test_an_answer_to_another_flush_ends_nothing() -> None:
    bench = Bench().do(CHOOSE, START, audio())
    bench.carry_out(bench.turns.engine_message(m.Flushed("s.0", 0, 0, 10)))
    bench.do(END)
    bench.carry_out(bench.turns.engine_message(m.Flushed("s.0", 0, 7, 10)))
    assert bench.texts == []
    assert bench.run().texts == ["0 (16000)"]


def test_confirmed_audio_ends_with_the_last_stable_word() -> None:
    bench = Bench().do(CHOOSE, START, audio(2))
    word = m.Word(" hi", 1000, 1400, 0.9)
    bench.carry_out(bench.turns.engine_message(m.Text("s.0", 0, " hi", True, 1000, 1700, (word,))))
    assert bench.heard(i.AudioConfirmed)[-1].audio_ms == 1400


def test_tentative_text_and_speech_pass_through() -> None:
    bench = Bench().do(CHOOSE, START, audio()).run()
    bench.carry_out(bench.turns.engine_message(m.Text("s.0", 0, "may", False, 0, 100)))
    bench.carry_out(bench.turns.engine_message(m.Speech("s.0", 0, "start", 40)))
    assert bench.told[-2:] == [i.TentativeText("may", 0, 100), i.SpeechHeard("start", 40)]


def test_options_reach_the_engine() -> None:
    choice = i.Choose("auto", "en", "names", SaysoOptions(events=("partial", "words"), bias=("Sayso",)))
    bench = Bench().do(choice, START, audio())
    assert bench.sent(m.Open)[0].options == m.SessionOptions("en", "names", ("Sayso",), partials=True, words=True)
    bench.do(i.Choose("auto", "de"))
    assert bench.sent(m.Configure)[0].options.language == "de"


def test_a_long_append_goes_to_the_engine_in_pieces() -> None:
    bench = Bench().do(CHOOSE, START, audio(3.5))
    assert [len(a.samples) // m.PCM_BYTES for a in bench.sent(m.Audio)] == [16_000, 16_000, 16_000, 8_000]


# Commits out of order.


@pytest.mark.parametrize("commit", [START, END])
def test_a_commit_before_a_model_is_chosen_is_refused(commit: i.Intent) -> None:
    bench = Bench().do(commit)
    assert bench.codes == [("model_not_validated", False)]
    assert bench.turns.state is WireState.NEW


def test_an_unknown_model_is_named_in_the_error_and_changes_nothing() -> None:
    bench = Bench().do(CHOOSE, i.Choose("gpt-9"))
    assert bench.codes == [("model_not_found", False)]
    assert "gpt-9" in bench.heard(i.Trouble)[0].message
    assert bench.do(START, audio(), END).run().texts == ["0 (16000)"]


def test_a_second_start_is_answered_and_changes_nothing() -> None:
    bench = Bench().do(CHOOSE, START, audio(), START, audio(), END).run()
    assert bench.codes == [("already_committed", False)]
    assert bench.texts == ["0 1 (32000)"]


def test_a_second_end_while_draining_is_answered_and_poisons_nothing() -> None:
    bench = Bench().do(CHOOSE, START, audio(), END, END).run()
    assert bench.codes == [("already_committed", False)]
    bench.do(START, audio(), END).run()
    assert bench.texts == ["0 (16000)"] * 2


def test_an_end_without_anything_gives_an_empty_done_and_poisons_nothing() -> None:
    bench = Bench().do(CHOOSE, END)
    assert bench.texts == [""]
    assert bench.do(START, audio(), END).run().texts == ["", "0 (16000)"]


def test_a_turn_without_audio_is_done_at_once_without_the_engine() -> None:
    bench = Bench(i.EngineNews("loading")).do(CHOOSE, START, END)
    assert bench.texts == [""]
    assert bench.engine.sent == []


def test_audio_after_the_end_belongs_to_the_next_turn() -> None:
    bench = Bench().do(CHOOSE, START, audio(), END, audio(2), START, audio()).run()
    assert bench.texts == ["0 (16000)"]
    assert bench.turns.state is WireState.STREAMING
    assert bench.do(END).run().texts == ["0 (16000)", "0 1 2 (48000)"]


def test_whole_turns_may_wait_behind_one_that_drains() -> None:
    bench = Bench().do(CHOOSE, START, audio(), END, START, audio(2), END, START, END, audio(3), END).run()
    assert bench.texts == ["0 (16000)", "0 1 (32000)", "", "0 1 2 (48000)"]
    assert bench.codes == []


def test_clear_forgets_the_turn_and_late_results_of_it() -> None:
    bench = Bench().do(CHOOSE, START, audio(2))
    late = m.Text("s.0", 0, "late", True, 0, 10)
    bench.do(DROP)
    assert bench.sent(m.Cancel)[0].epoch == 1
    bench.carry_out(bench.turns.engine_message(late))
    assert not bench.heard(i.StableText)
    assert bench.do(START, audio(), END).run().texts == ["0 (16000)"]


def test_clear_forgets_audio_that_waits() -> None:
    bench = Bench().do(CHOOSE, audio(5), DROP, START, audio(), END).run()
    assert bench.texts == ["0 (16000)"]
    assert len(bench.heard(i.Dropped)) == 1


def test_clear_ends_a_draining_turn_without_a_done() -> None:
    bench = Bench().do(CHOOSE, START, audio(), END, DROP).run()
    assert bench.texts == []
    assert bench.do(START, audio(2), END).run().texts == ["0 1 (32000)"]


# Bounds.


def test_audio_that_waits_is_bounded_and_the_client_is_told() -> None:
    bench = Bench(limits=Limits(waiting_s=3)).do(CHOOSE, audio(2), audio(1), audio(1))
    assert bench.codes == [("buffer_full", False)]
    assert bench.do(START, END).run().texts == ["0 1 2 (48000)"]


def test_audio_on_its_way_to_the_engine_counts_too() -> None:
    bench = Bench(limits=Limits(waiting_s=3)).do(CHOOSE, START)
    bench.carry_out(bench.turns.intent(audio(), queued_samples=40_000))
    assert bench.codes == [("buffer_full", False)]


def test_a_full_inbox_takes_audio_again_once_the_engine_is_ready() -> None:
    bench = Bench(i.EngineNews("loading"), limits=Limits(waiting_s=2)).do(CHOOSE, START, audio(2), audio())
    assert bench.codes == [("buffer_full", False)]
    assert "loading" in bench.heard(i.Trouble)[0].message
    bench.news("ready").do(audio(), END).run()
    assert bench.texts == ["0 1 2 (48000)"]


def test_a_turn_is_bounded() -> None:
    bench = Bench(limits=Limits(turn_s=2)).do(CHOOSE, START, audio(2), audio(), END).run()
    assert bench.codes == [("buffer_full", False)]
    assert bench.texts == ["0 1 (32000)"]


def test_turns_that_wait_are_bounded() -> None:
    bench = Bench(limits=Limits(waiting_turns=2)).do(
        CHOOSE, START, audio(), END, START, END, START, END, START, audio()
    )
    assert bench.codes == [("buffer_full", False)] * 2
    assert bench.run().texts == ["0 (16000)", "", ""]


# The engine's troubles.


def test_audio_waits_while_the_engine_loads_and_nothing_is_lost() -> None:
    bench = Bench(i.EngineNews("loading")).do(CHOOSE, START, audio(), audio(), END)
    assert bench.engine.sent == []
    assert bench.news("ready").run().texts == ["0 1 (32000)"]


def test_a_dead_engine_costs_no_turn_and_no_word() -> None:
    bench = Bench().do(CHOOSE, START, audio()).run()
    bench.news("restarting", "The engine died.").do(audio(), END).news("ready").run()
    assert bench.codes == []
    assert bench.texts == ["0 0 (16000)"]
    assert [t.piece for t in bench.heard(i.StableText)] == ["0 ", "0 ", "(16000)"]
    assert [o.session for o in bench.sent(m.Open)] == ["s.0", "s.1"]
    assert len(bench.heard(i.Replayed)) == 1


def test_a_dead_engine_keeps_the_turn_that_waits_behind_the_open_one() -> None:
    bench = Bench().do(CHOOSE, START, audio(), END, audio(2)).news("restarting")
    assert bench.do(START, END).news("ready").run().texts == ["0 (16000)", "0 1 (32000)"]
    assert bench.codes == []


def test_a_turn_all_of_which_has_come_out_ends_without_another_engine_session() -> None:
    bench = Bench().do(CHOOSE, START, audio(), END)
    while not bench.texts and len(bench.sent(m.Flush)) and bench.engine._inbox:
        if isinstance(bench.engine._inbox[0], m.Flush):
            break
        bench.step()
    bench.news("restarting").news("ready").run()
    assert bench.texts == ["0 "]
    assert len(bench.sent(m.Open)) == 1


def test_a_turn_that_ends_every_engine_is_given_up_and_the_next_turn_works() -> None:
    bench = Bench().do(CHOOSE, START, audio(0.5)).run()
    for _ in range(MOST_REPLAYS):
        bench.news("restarting").news("ready").run()
    assert bench.codes == []
    bench.news("restarting", "The engine died.")
    assert bench.codes == [("engine_failed", True)]
    bench.do(audio(), END, START, audio(2)).news("ready").do(END).run()
    assert bench.texts == ["0 1 (32000)"]


def test_what_follows_a_lost_turn_is_dropped_until_the_next_commit() -> None:
    bench = Bench().do(CHOOSE, START, audio()).run().news("failed").news("starting")
    bench.do(audio(3), START, audio(), END).news("ready").run()
    assert bench.texts == ["0 (16000)"]


def test_the_end_of_a_lost_turn_gets_no_second_answer() -> None:
    bench = Bench().do(CHOOSE, START, audio()).run().news("failed").do(END)
    assert bench.texts == []
    assert bench.codes == [("engine_failed", True)]


def test_more_than_is_kept_is_told_as_lost() -> None:
    bench = Bench(limits=Limits(replay_s=2)).do(CHOOSE, START, audio(0.5))
    for _ in range(8):
        bench.do(audio(0.5))
    bench.news("restarting").news("ready").do(END).run()
    assert bench.codes == [("audio_lost", False)]
    assert bench.heard(i.Trouble)[0].lost_ms == 2500
    assert "2.5 seconds" in bench.heard(i.Trouble)[0].message
    assert bench.texts == ["0 1 (32000)"]


def test_a_turn_that_the_dead_engine_never_saw_survives() -> None:
    bench = Bench(i.EngineNews("loading")).do(CHOOSE, START, audio()).news("restarting").do(audio(), END).news("ready")
    assert bench.run().texts == ["0 1 (32000)"]
    assert bench.codes == []


def test_an_engine_that_cannot_be_had_ends_every_turn() -> None:
    bench = Bench(i.EngineNews("loading")).do(CHOOSE, START, audio()).news("failed", "Wrong weights.")
    assert bench.codes == [("engine_failed", True)]
    bench.do(END, START, audio(), END)
    assert bench.codes == [("engine_failed", True)] * 2
    assert bench.heard(i.Trouble)[1].message == "Wrong weights."


def test_a_failed_session_gives_its_code_and_the_next_turn_gets_a_new_one() -> None:
    bench = Bench().do(CHOOSE, START, audio()).run()
    bench.carry_out(bench.turns.engine_message(m.Failed("s.0", "bad_audio", "Broken.")))
    assert bench.codes == [("bad_audio", True)]
    bench.do(START, audio(), END).run()
    assert bench.texts == ["0 (16000)"]
    assert [o.session for o in bench.sent(m.Open)] == ["s.0", "s.1"]


def test_a_turn_whose_session_failed_or_was_closed_goes_on_in_another_one() -> None:
    bench = Bench().do(CHOOSE, START, audio(0.5)).run()
    bench.carry_out(bench.turns.engine_message(m.Failed("s.0", "hibernation_lost", "The file is gone.")))
    bench.run()
    bench.carry_out(bench.turns.engine_message(m.Closed("s.1", "evicted")))
    bench.do(audio(0.5), END).run()
    assert (bench.codes, bench.texts) == ([], ["0 (16000)"])
    assert [o.session for o in bench.sent(m.Open)] == ["s.0", "s.1", "s.2"]


def test_a_refused_session_gives_its_code() -> None:
    bench = Bench().do(CHOOSE, START, audio())
    bench.carry_out(bench.turns.engine_message(m.Refused("s.0", "session_limit", "All are taken.")))
    assert bench.codes == [("session_limit", True)]


def test_an_error_always_has_a_text() -> None:
    bench = Bench().do(CHOOSE, START, audio())
    bench.carry_out(bench.turns.engine_message(m.Failed("s.0", "audio_overrun", "")))
    assert bench.heard(i.Trouble)[0].message


def test_a_model_taken_on_trust_is_checked_when_the_engine_is_ready() -> None:
    unsure = i.Served(frozenset({"auto"}), certain=False)
    bench = Bench(i.EngineNews("loading"), unsure).do(i.Choose("large"), START, audio()).news("ready")
    assert bench.codes == [("model_not_found", True)]
    assert bench.turns.state is WireState.NEW
    assert bench.do(CHOOSE, START, audio(), END).run().texts == ["0 (16000)"]


# The ends.


def test_leaving_in_mid_speech_closes_the_engines_session() -> None:
    bench = Bench().do(CHOOSE, START, audio())
    bench.carry_out(list(bench.turns.leave()))
    assert [c.session for c in bench.sent(m.Close)] == ["s.0"]
    assert bench.turns.state is WireState.CLOSED
    assert bench.turns.intent(audio()) == []
    assert bench.turns.leave() == []


def test_a_shutdown_gives_the_open_turn_its_last_word() -> None:
    bench = Bench().do(CHOOSE, START, audio())
    bench.carry_out(bench.turns.shut_down())
    assert bench.codes == [("shutting_down", True)]
    assert len(bench.sent(m.Close)) == 1


def test_a_shutdown_between_turns_says_nothing() -> None:
    bench = Bench().do(CHOOSE, START, audio(), END).run()
    bench.carry_out(bench.turns.shut_down())
    assert bench.codes == []


def test_the_shorter_of_the_servers_and_the_clients_idle_bound_counts() -> None:
    wish = i.Choose("auto", sayso=SaysoOptions(idle=SaysoIdle(5.0)))
    assert Bench().turns.idle_s is None
    assert Bench().do(wish).turns.idle_s == 5.0
    assert Bench(limits=Limits(idle_s=60.0)).turns.idle_s == 60.0
    assert Bench(limits=Limits(idle_s=60.0)).do(wish).turns.idle_s == 5.0
    assert Bench(limits=Limits(idle_s=3.0)).do(wish).turns.idle_s == 3.0


# Any order.

STEP, LOST, BACK, FAULT = "step", "lost", "back", "fault"
operations = st.lists(
    st.sampled_from([CHOOSE, START, END, DROP, STEP, STEP, STEP, LOST, BACK, FAULT])
    | st.builds(audio, st.sampled_from([0.25, 1.0, 1.5])),
    max_size=40,
)


def play(operation: object, bench: Bench) -> None:
    match operation:
        case "step":
            bench.step()
        case "lost":
            bench.news("restarting")
        case "back":
            bench.news("ready")
        case "fault":
            bench.carry_out(bench.turns.engine_message(m.Failed(bench.turns._link.name, "fault", "Fault.")))
        case _:
            bench.do(operation)  # type: ignore[arg-type]


def check_deltas(told: list[i.Happening]) -> None:
    joined = ""
    for happening in told:
        match happening:
            case i.StableText():
                joined += happening.piece
            case i.TurnDone():
                assert happening.text == joined
                joined = ""
            case i.Dropped():
                joined = ""
            case i.Trouble(turn_lost=True):
                joined = ""


@settings(max_examples=150, deadline=None)
@given(operations)
def test_no_order_of_events_breaks_the_engine_and_deltas_always_join_to_done(wishes: list) -> None:
    bench = Bench()
    for operation in wishes:
        play(operation, bench)
    bench.news("ready").run()
    check_deltas(bench.told)
    # Whatever happened, the connection still works.
    bench.do(CHOOSE, DROP, START, audio(), END).run()
    assert bench.texts[-1] == "0 (16000)"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([START, END, STEP]) | st.builds(audio, st.sampled_from([0.25, 1.0, 1.5])), max_size=40))
def test_without_faults_no_sample_is_lost_or_doubled(wishes: list) -> None:
    bench = Bench(limits=Limits(waiting_turns=100)).do(CHOOSE)
    for operation in wishes:
        play(operation, bench)
    bench.do(START, END).run()
    given = sum(len(wish.pcm) // 2 for wish in wishes if isinstance(wish, i.AddAudio))
    done = sum(int(text.rpartition("(")[2].rstrip(")")) for text in bench.texts if text)
    assert done == given
    assert not [trouble for trouble in bench.heard(i.Trouble) if trouble.turn_lost]


def test_silence_lets_out_what_waited_for_words_to_join_with() -> None:
    bench = Bench().do(CHOOSE, START, audio(4))
    hello = m.Word("hello", 0, 400, 0.9)
    bench.carry_out(bench.turns.engine_message(m.Text("s.0", 0, "hello", True, 0, 400, (hello,))))
    bench.news("restarting").news("ready")
    words = (hello, m.Word(" you", 500, 900, 0.9))
    bench.carry_out(bench.turns.engine_message(m.Text("s.1", 0, "hello you", True, 0, 900, words)))
    assert [t.piece for t in bench.heard(i.StableText)] == ["hello"]
    bench.carry_out(bench.turns.engine_message(m.Text("s.1", 0, "", True, 2000, 2000)))
    assert [t.piece for t in bench.heard(i.StableText)] == ["hello", " you"]
    assert bench.heard(i.AudioConfirmed)[-1].audio_ms == 2000
