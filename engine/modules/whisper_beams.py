"""Beam search over a batch of prompts: some texts of each are followed at once, and the likeliest is taken.

Where greedy decoding takes the likeliest token now, and regrets it, a beam still has the other one. Texts are compared
by their average log-probability, the end of the text counted, and a search goes on while one that has not ended is
likelier than all that have: a short command whose full stop is still to come (“Mute.”) must not lose to the first few
texts that are through (“Mut.”). Every prompt is searched on its own, so what it gives does not depend on those it
shares a batch with. Runs on the thread that calls it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch

from sayso.engine.modules.whisper_decoding import Batch, Decoded, Ending, Other, Prompt, Rules
from sayso.engine.modules.whisper_expected import Sentences, search_expected
from sayso.engine.modules.whisper_network import Network

MOST_BEHIND = 6.5
"""How far behind the chosen text, in natural logarithms, what is expected is still told."""


@dataclass(frozen=True)
class _Text:
    """What was decoded so far. ``rows`` says where it lay at each call of the decoder after the first."""

    tokens: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    rows: tuple[int, ...] = ()
    parent: int = 0
    """The row whose keys and values it goes on with."""
    ended: Ending | None = None

    @property
    def total(self) -> float:
        return sum(self.logprobs)

    @property
    def average(self) -> float:
        return self.total / len(self.logprobs) if self.logprobs else float("-inf")

    @property
    def rank(self) -> tuple[bool, float]:
        """A text that came to its end goes before one that was cut."""
        return self.ended == "end_of_text", self.average


@dataclass
class _Search:
    """The texts of one prompt: those that go on, likeliest first, and those that are through."""

    prompt: Prompt
    running: list[_Text] = field(default_factory=lambda: [_Text()])
    finished: list[_Text] = field(default_factory=list)

    @property
    def best(self) -> _Text:
        return max(self.finished, key=lambda text: text.rank)

    @property
    def over(self) -> bool:
        """Whether nothing that goes on can be expected to become better than what is there."""
        if not self.running:
            return True
        ended = [text.average for text in self.finished if text.ended == "end_of_text"]
        return bool(ended) and max(ended) >= max(text.average for text in self.running)


def decode_beams(
    network: Network,
    states: torch.Tensor,
    bias: torch.Tensor | None,
    prompts: Sequence[Prompt],
    rules: Rules,
    beams: int,
    expected: Sequence[Sentences | None] = (),
) -> list[Decoded]:
    """As ``whisper_decoding.decode``, with so many texts followed for each prompt.

    ``expected`` are sentences for each prompt that are looked for besides.
    """
    batch = Batch(network, states, bias, prompts, rules)
    beam_search = _BeamSearch(batch, prompts, rules, beams)
    opening = batch.allowed(batch.prefill(), fresh=True)
    wanted = {index: sentences for index, sentences in enumerate(expected) if sentences}
    alone = {index: batch.alone(index) for index in wanted}
    beam_search.choose(opening, fresh=True)
    batch.widen(beams)
    while beam_search.running:
        beam_search.choose(batch.allowed(beam_search.advance(), fresh=False), fresh=False)
    found = beam_search.results()
    for index, sentences in wanted.items():
        least = sum(found[index].logprobs) - MOST_BEHIND
        found[index].expected = tuple(search_expected(alone[index], opening[index : index + 1], sentences, least))
    return found


class _BeamSearch:
    def __init__(self, batch: Batch, prompts: Sequence[Prompt], rules: Rules, beams: int) -> None:
        self._batch, self._rules, self._beams = batch, rules, beams
        self._device = rules.suppressed.device
        self._searches = [_Search(prompt) for prompt in prompts]
        self._going = list(range(len(prompts)))
        """The prompts in the batch, each with ``beams`` neighbouring rows from the second call of the decoder on."""

    @property
    def running(self) -> bool:
        return any(not search.over for search in self._searches)

    def advance(self) -> torch.Tensor:
        """Feed every text's newest token; rows without a text get an end, and nobody looks at them.

        The rows of a prompt that is through leave the batch.
        """
        parents: list[int] = []
        tokens: list[int] = []
        stay: list[int] = []
        for place, index in enumerate(self._going):
            search = self._searches[index]
            if search.over:
                continue
            stay.append(place)
            spare = self._beams - len(search.running)
            parents += [text.parent for text in search.running] + [place * self._beams] * spare
            tokens += [text.tokens[-1] for text in search.running] + [self._rules.end] * spare
        if len(stay) == len(self._going):
            self._batch.reorder(parents)
        else:
            self._batch.keep(stay, parents)
            self._going = [self._going[place] for place in stay]
        return self._batch.advance(torch.tensor(tokens, device=self._device))

    def choose(self, logits: torch.Tensor, *, fresh: bool) -> None:
        """The likeliest continuations of every prompt's texts, by logits [rows, vocabulary], become its texts."""
        most = 2 * self._beams
        best, chosen = torch.log_softmax(logits, -1).topk(most, -1)
        values, tokens = best.tolist(), chosen.tolist()
        for place, index in enumerate(self._going):
            search = self._searches[index]
            first = place if fresh else place * self._beams
            options = [
                (text.total + values[row][rank], row, rank, text)
                for row, text in enumerate(search.running, first)
                for rank in range(most)
            ]
            options.sort(key=lambda option: -option[0])
            search.running = []
            for _, row, rank, text in options[:most]:
                lay = text.rows if fresh else (*text.rows, row)
                now = replace(text, rows=lay, parent=place * self._beams if fresh else row)
                self._take(index, search, now, tokens[row][rank], values[row][rank])
                if len(search.running) == self._beams:
                    break

    def _take(self, index: int, search: _Search, text: _Text, token: int, logprob: float) -> None:
        """One continuation: it ended, or it goes on, unless it goes round in circles or became too long."""
        logprobs = (*text.logprobs, logprob)
        if token == self._rules.end:
            search.finished.append(replace(text, logprobs=logprobs, ended="end_of_text"))
            return
        if len(text.tokens) >= search.prompt.limit:
            search.finished.append(replace(text, ended="limit"))
            return
        tokens = (*text.tokens, token)
        known = len(search.prompt.tokens) - search.prompt.text
        keep = self._rules.keep(tokens, known, index, lambda: self._batch.attention(index, text.rows))
        if keep is None:
            search.running.append(replace(text, tokens=tokens, logprobs=logprobs))
        else:
            search.finished.append(replace(text, tokens=tokens[:keep], logprobs=logprobs[:keep], ended="repeated"))

    def results(self) -> list[Decoded]:
        found = []
        for index, search in enumerate(self._searches):
            text = search.best
            attention = self._batch.attention(index, text.rows[: len(text.tokens)])
            silent = self._batch.silent[index]
            assert text.ended is not None
            others = tuple(_other(each) for each in (*search.finished, *search.running) if each is not text)
            found.append(Decoded(list(text.tokens), list(text.logprobs), text.ended, silent, attention, others))
        return found


def _other(text: _Text) -> Other:
    return Other(text.tokens, text.total, text.ended == "end_of_text")
