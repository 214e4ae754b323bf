"""The streaming policy on scripted hypotheses: when it decodes, what becomes stable, what the final text is."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import speech

from sayso.engine import catalog
from sayso.engine.messages import Alternative, SessionOptions
from sayso.engine.modules.whisper import Alternative as Other
from sayso.engine.modules.whisper import HeardWord, Hypothesis, Whisper
from sayso.engine.runner.base import Before, Utterance
from sayso.engine.runner.whisper import (
    BIAS_TOKENS,
    MOST_EXPECTED,
    Instructions,
    Pace,
    WhisperRunner,
    WhisperStream,
    instructions,
)
from sayso.engine.runner.window import WindowOptions
from sayso.engine.tape import Tape

S = 16_000


class Scene:
    """One utterance and its stream; ``say`` adds audio, ``decode`` runs the due work with the given answer."""

    def __init__(self, window: WindowOptions | None = None, told: Instructions | None = None) -> None:
        self.tape = Tape()
        self.utterance = Utterance(self.tape, 0, 0, 0)
        self.stream = WhisperStream(self.utterance, Before(), told, **({"window": window} if window else {}))
        self.stable = ""
        self.tentative = ""
        self.others: tuple[Alternative, ...] = ()

    def say(self, seconds: float) -> None:
        self.tape.append(np.zeros(int(seconds * S), np.float32))
        self.utterance.end = self.utterance.voice_end = self.tape.end
        self.utterance.voiced_frames = self.tape.end // 512
        self.utterance.voice_sum = 0.95 * self.utterance.voiced_frames

    def decode(
        self, *words: tuple[str, float, float], no_speech: float = 0.0, logprob: float = -0.2, others: str = ""
    ) -> bool:
        """``words`` are text, start and end in seconds of the window; says whether it was a final decode."""
        assert self.stream.offer(0.0) is not None
        request = self.stream.request()
        heard = tuple(HeardWord(f" {t}", a, b, 0.9, (hash(t) % 1000,)) for t, a, b in words)
        tokens = tuple(token for word in heard for token in word.tokens)
        alternatives = tuple(Other(text, 0.5) for text in others.split()) if request.alternatives else ()
        hypothesis = Hypothesis(tokens, heard, logprob, no_speech, "end_of_text", alternatives=alternatives)
        self.stream.accept(hypothesis, self.stream.needed_from + len(request.audio), request.final)
        self.take()
        return request.final

    def take(self) -> None:
        for piece in self.stream.take():
            if piece.stable:
                self.stable += piece.text
                self.others = piece.alternatives
            self.tentative = "" if piece.stable else piece.text


def test_it_decodes_when_enough_was_said_and_not_again_before_there_is_more() -> None:
    scene = Scene()
    scene.say(0.5)
    assert scene.stream.offer(0.0) is None
    scene.say(0.2)
    scene.decode(("it", 0.1, 0.3))
    assert scene.stream.offer(0.0) is None
    scene.say(Pace().step_ms / 1000)
    assert scene.stream.offer(0.0) is not None


def test_work_that_waits_keeps_its_first_deadline_and_a_final_comes_before_a_step() -> None:
    scene, other = Scene(), Scene()
    scene.say(1.0)
    first = scene.stream.offer(5.0)
    scene.say(1.0)
    again = scene.stream.offer(6.0)
    other.say(1.0)
    other.utterance.ended = True
    final = other.stream.offer(6.0)
    assert first
    assert again
    assert final
    assert first.deadline == again.deadline
    assert final.deadline < 6.0 + Pace().partial_slack_s


def test_two_hypotheses_settle_words_and_the_decoder_goes_on_after_them() -> None:
    scene = Scene()
    scene.say(1.0)
    scene.decode(("it", 0.0, 0.3), ("was", 0.3, 0.6), ("a", 0.6, 0.7))
    assert (scene.stable, scene.tentative) == ("", " it was a")
    scene.say(0.4)
    scene.decode(("it", 0.0, 0.3), ("was", 0.3, 0.6), ("the", 0.6, 0.8), ("best", 0.8, 1.2))
    assert (scene.stable, scene.tentative) == (" it was", " the best")
    assert scene.stream.request().prefix == (hash("it") % 1000, hash("was") % 1000)


WEIGHED = Instructions(alternatives=True, expected=("Start listening.",))


def test_for_a_client_that_weighs_texts_a_short_utterance_is_decoded_as_a_whole() -> None:
    scene = Scene(told=WEIGHED)
    for _ in range(3):
        scene.say(1.0)
        scene.decode(("resume", 0.1, 0.6), ("listening", 0.6, 0.9))
        assert (scene.stable, scene.tentative) == ("", " resume listening")
        assert scene.stream.request().prefix == ()
        assert scene.stream.request().expected == ("Start listening.",)
    scene.utterance.ended = True
    assert scene.decode(("resume", 0.1, 0.6), ("listing", 0.6, 0.9), others="one two")
    assert scene.stable == " resume listing"
    assert scene.others == (Alternative("one", 0.5), Alternative("two", 0.5))


def test_of_a_long_utterance_words_become_stable_as_ever_and_nothing_else_is_told() -> None:
    scene = Scene(told=WEIGHED)
    for _ in range(2):
        scene.say(3.0)
        scene.decode(("it", 0.0, 0.3), ("was", 0.3, 0.6), ("the", 0.6, 0.8), ("best", 0.8, 1.2))
    assert scene.stable == " it was the"
    scene.utterance.ended = True
    scene.decode(("best", 0.8, 1.2), others="one")
    assert scene.stable == " it was the best"
    assert scene.others == ()


def test_a_word_said_long_ago_needs_no_second_hypothesis() -> None:
    scene = Scene()
    scene.say(4.0)
    scene.decode(("it", 0.1, 0.4), ("was", 0.4, 1.0), ("the", 3.0, 3.4), ("best", 3.4, 3.8))
    assert (scene.stable, scene.tentative) == (" it was", " the best")


def test_the_text_decoded_in_a_pause_is_final_when_nothing_follows() -> None:
    scene = Scene()
    scene.say(1.0)
    scene.utterance.paused = True
    assert scene.decode(("open", 0.1, 0.4), ("firefox", 0.4, 0.8))
    assert (scene.stable, scene.tentative) == ("", " open firefox")
    assert scene.stream.offer(0.0) is None
    scene.utterance.ended = True
    assert scene.stream.offer(0.0) is None
    scene.take()
    assert scene.stable == " open firefox"
    assert scene.stream.done


def test_speech_after_a_pause_is_decoded_again_with_the_rest() -> None:
    scene = Scene()
    scene.say(1.0)
    scene.utterance.paused = True
    scene.decode(("open", 0.1, 0.4), ("fire", 0.4, 0.8))
    scene.utterance.paused = False
    scene.say(0.8)
    scene.utterance.ended = True
    assert scene.decode(("open", 0.1, 0.4), ("firefox", 0.4, 1.0), ("now", 1.0, 1.4))
    assert (scene.stable, scene.tentative) == (" open firefox now", "")


def test_final_text_holds_every_word_once_when_some_were_stable_before() -> None:
    scene = Scene()
    scene.say(1.2)
    scene.decode(("fail", 0.0, 0.4), ("again", 0.4, 0.9))
    scene.utterance.paused = True
    scene.say(0.2)
    scene.decode(("fail", 0.0, 0.4), ("again.", 0.4, 0.9))
    assert scene.stable == " fail"
    scene.utterance.ended = True
    scene.take()
    assert scene.stable == " fail again."


def test_noise_that_the_detector_took_for_speech_gives_no_text_at_all() -> None:
    scene = Scene()
    scene.say(1.0)
    scene.decode(("you", 0.1, 0.4), no_speech=0.93, logprob=-0.7)
    assert (scene.stable, scene.tentative) == ("", "")
    scene.utterance.ended = True
    scene.decode(("you", 0.1, 0.4), no_speech=0.93, logprob=-0.7)
    assert scene.stable == ""
    assert scene.stream.done


def test_tentative_text_is_cleared_when_the_final_text_is_empty() -> None:
    scene = Scene()
    scene.say(1.0)
    scene.decode(("you", 0.1, 0.4))
    assert scene.tentative == " you"
    scene.say(0.4)
    scene.utterance.ended = True
    scene.decode(("you", 0.1, 0.4), no_speech=0.9, logprob=-0.9)
    assert (scene.stable, scene.tentative) == ("", "")


def test_speech_longer_than_the_window_comes_out_once_and_the_window_stays_short() -> None:
    """Audio far ahead of the decoder, as when a file is sent at once: a word every half second for 60 s."""
    scene = Scene(WindowOptions(longest=6 * S, comfortable=4 * S, keep=1 * S))
    scene.say(60.0)
    scene.utterance.ended = True
    for _ in range(60):
        if scene.stream.done:
            break
        request = scene.stream.request()
        assert len(request.audio) <= 6 * S
        start_s = scene.stream.needed_from / S
        known = len(request.prefix)
        first = round(start_s / 0.5 + 0.49) + known
        heard = [(f"w{i}", i * 0.5 - start_s, i * 0.5 + 0.5 - start_s) for i in range(first, 120)]
        scene.decode(*[w for w in heard if w[2] <= len(request.audio) / S])
    assert scene.stable.split() == [f"w{i}" for i in range(120)]


def test_a_window_full_of_nothing_moves_on() -> None:
    scene = Scene(WindowOptions(longest=6 * S, comfortable=4 * S, keep=1 * S))
    scene.say(30.0)
    scene.utterance.ended = True
    for _ in range(30):
        if scene.stream.done:
            break
        scene.decode(no_speech=0.9)
    assert scene.stream.done
    assert scene.stable == ""


def letters(text: str) -> tuple[int, ...]:
    """One token for each character."""
    return tuple(map(ord, text))


def test_expected_words_and_the_prompt_become_what_was_said_before() -> None:
    options = SessionOptions(language="en", bias=("Firefox", " ", "Scratch that."), prompt="Hello there")
    assert instructions(options, letters) == Instructions(letters(" Firefox. Scratch that. Hello there"), "en")
    assert instructions(SessionOptions(), letters) == Instructions()
    many = instructions(SessionOptions(alternatives=True, expected=("Mute.",) * 5000), letters).expected
    assert many == ("Mute.",) * MOST_EXPECTED


def test_a_sentence_too_long_for_a_short_turn_is_not_looked_for() -> None:
    options = SessionOptions(alternatives=True, expected=("Mute. " * 100_000, "Mute."))
    assert instructions(options, letters).expected == ("Mute.",)


def test_what_is_expected_is_made_ready_while_somebody_speaks() -> None:
    prepared: list[tuple[str, ...]] = []
    model: Any = SimpleNamespace(languages=("en",), text=SimpleNamespace(encode=letters), expect=prepared.append)
    runner, utterance = WhisperRunner(model, "tiny.en"), Scene().utterance
    for alternatives, expected in ((True, ()), (False, ("Mute.",)), (True, ("Mute.",))):
        runner.stream(utterance, SessionOptions(alternatives=alternatives, expected=expected), Before())
    assert prepared == [("Mute.",)]


def test_a_long_list_of_expected_words_is_cut_at_a_word() -> None:
    context = instructions(SessionOptions(bias=("abcd",) * 100), letters).context
    assert 0 < len(context) <= BIAS_TOKENS
    assert context == letters(" abcd." * (len(context) // 6))


def test_the_decoder_is_told_what_was_said_before_the_window() -> None:
    scene = Scene(WindowOptions(longest=6 * S, comfortable=4 * S, keep=1 * S))
    scene.say(5.0)
    scene.decode(*((f"w{i}", i * 0.5, i * 0.5 + 0.5) for i in range(9)))
    request = scene.stream.request()
    spoken = tuple(hash(f"w{i}") % 1000 for i in range(7))
    assert request.context
    assert request.context + request.prefix == spoken


class Talk:
    """One utterance that the real model hears as it comes."""

    def __init__(self, runner: WhisperRunner, speech: np.ndarray) -> None:
        self.utterance = Utterance(Tape(), 0, 0, 0)
        self.stream = runner.stream(self.utterance, SessionOptions(), Before())
        self.speech, self.heard, self.said = speech, 0, ""

    def hear(self, samples: int) -> None:
        self.utterance.tape.append(self.speech[self.heard : self.heard + samples])
        self.heard = self.utterance.end = self.utterance.voice_end = self.utterance.tape.end
        self.utterance.voiced_frames = self.heard // 512
        self.utterance.voice_sum = 0.95 * self.utterance.voiced_frames
        self.utterance.ended = self.heard == len(self.speech)

    def collect(self) -> None:
        self.said += "".join(piece.text for piece in self.stream.take() if piece.stable)


def work(runner: WhisperRunner, talks: Sequence[Talk]) -> int:
    """What they want decoded now, alike together; the largest batch."""
    batches: dict[tuple[object, ...], list[Talk]] = {}
    for talk in talks:
        if (offer := talk.stream.offer(0.0)) is not None:
            batches.setdefault(offer.batch_key, []).append(talk)
    for batch in batches.values():
        runner.run([talk.stream for talk in batch])
    for talk in talks:
        talk.collect()
    return max(map(len, batches.values()), default=0)


@pytest.mark.engine
def test_utterances_of_any_age_in_one_batch_give_what_each_gives_alone() -> None:
    """The real model, with steps and ends of utterances mixed in one batch."""
    runner = WhisperRunner(Whisper.load(catalog.resolve("tiny.en").folder), "tiny.en")
    beckett, cities = speech.recording("beckett"), speech.recording("two_cities")
    clips = [beckett[:48_000], cities[:56_000], beckett[60_000:108_000], cities[90_000:138_000]]
    steps = (9_000, 8_000, 7_000, 10_000)
    """Samples that come at a time: some are soon ahead of others, and all have windows of like length now and then."""
    alone = []
    for clip, step in zip(clips, steps, strict=True):
        talk = Talk(runner, clip)
        while not talk.stream.done:
            talk.hear(step)
            work(runner, [talk])
        alone.append(talk.said)
    assert all(len(said.split()) >= 3 for said in alone)
    talks, sizes = [Talk(runner, clip) for clip in clips], []
    while not all(talk.stream.done for talk in talks):
        for talk, step in zip(talks, steps, strict=True):
            if not talk.utterance.ended:
                talk.hear(step)
        sizes.append(work(runner, talks))
    assert [talk.said for talk in talks] == alone
    assert max(sizes) > 2
