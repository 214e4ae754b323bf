"""How the next token is chosen: the parameters of a chunk and what one choice needs. Pure: no torch.

``engine.sampling_kernel`` does the choosing for a whole batch.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sayso.engine.errors import EngineError

MOST_LOGPROBS = 64


class ParameterError(EngineError):
    """A sampling parameter that cannot be used; ``parameter`` is its name."""

    def __init__(self, code: str, parameter: str, message: str) -> None:
        super().__init__(code, message)
        self.parameter = parameter


@dataclass(frozen=True)
class SamplingParams:
    """How one chunk is answered. Names and defaults are vLLM's; raises ``ParameterError`` ``bad_parameter``."""

    max_tokens: int | None = 16
    """Tokens generated for this chunk at most; None leaves it to the model's length."""
    min_tokens: int = 0
    """No stop token is chosen before this many tokens of this chunk."""
    temperature: float = 1.0
    """0 always takes the likeliest token."""
    top_p: float = 1.0
    """Only the likeliest tokens that together reach this probability."""
    top_k: int = 0
    """Only so many of the likeliest tokens; 0 is all."""
    seed: int | None = None
    """The same seed gives the same tokens, whoever shares the batch. The sequence of random numbers goes on over the
    chunks of a session; a chunk with another seed begins that seed's."""
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    logprobs: int | None = None
    """Log-probabilities of the chosen token and of this many of the likeliest, before temperature and filters."""

    def __post_init__(self) -> None:
        _whole("max_tokens", self.max_tokens, 1, optional=True)
        _whole("min_tokens", self.min_tokens, 0)
        _whole("top_k", self.top_k, 0)
        _whole("seed", self.seed, -(2**63), 2**64 - 1, optional=True)
        _whole("logprobs", self.logprobs, 0, MOST_LOGPROBS, optional=True)
        _number("temperature", self.temperature, 0.0, 100.0)
        _number("top_p", self.top_p, 0.0, 1.0)
        if self.top_p == 0:
            raise _bad("top_p", self.top_p, "more than 0 and at most 1")
        if not isinstance(self.ignore_eos, bool):
            raise _bad("ignore_eos", self.ignore_eos, "true or false")
        if isinstance(self.stop_token_ids, list):
            object.__setattr__(self, "stop_token_ids", tuple(self.stop_token_ids))
        if not isinstance(self.stop_token_ids, tuple):
            raise _bad("stop_token_ids", self.stop_token_ids, "a list of token ids")
        for token in self.stop_token_ids:
            _whole("stop_token_ids", token, 0)
        if self.max_tokens is not None and self.min_tokens > self.max_tokens:
            raise _bad("min_tokens", self.min_tokens, f"at most max_tokens, which is {self.max_tokens}")

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> SamplingParams:
        """From a client's mapping; a name that is not a parameter is ``unknown_parameter``.

        That includes what cannot work with chunks: several answers (``n``), stop texts (``stop``), and output only at
        the end (``output_kind``).
        """
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                text = f"There is no sampling parameter {name}; those known are {', '.join(known)}."
                raise ParameterError("unknown_parameter", str(name), text)
        return cls(**values)

    def check_vocabulary(self, vocabulary: int) -> None:
        """Raises ``ParameterError`` ``bad_parameter`` for a stop token that the model does not have."""
        for token in self.stop_token_ids:
            if token >= vocabulary:
                text = f"The stop token {token} is not in the model's vocabulary of {vocabulary} tokens."
                raise ParameterError("bad_parameter", "stop_token_ids", text)

    @property
    def greedy(self) -> bool:
        return self.temperature == 0


@dataclass(frozen=True)
class Logprobs:
    """Natural logarithms of probabilities, of the model's own distribution."""

    chosen: float
    rank: int
    """0 when the chosen token was the likeliest."""
    top: tuple[tuple[int, float], ...]
    """The likeliest tokens, as many as asked for, likeliest first."""


@dataclass(frozen=True)
class Choice:
    """One row of a batch whose next token is to be chosen."""

    params: SamplingParams
    draw: float = 0.0
    """Uniform in [0, 1): all the randomness of this choice, so that it does not depend on the batch."""
    banned: tuple[int, ...] = ()


@dataclass(frozen=True)
class Chosen:
    """A chosen token; ``token`` is None when the model gave no usable numbers for this row."""

    token: int | None
    logprobs: Logprobs | None = None


class Dice:
    """The random numbers of one session."""

    def __init__(self) -> None:
        self._seed: int | None = None
        self._random = random.Random()

    def reseed(self, seed: int | None) -> None:
        """Begin the sequence of a new seed; the same seed as before, or none, goes on where it was."""
        if seed is not None and seed != self._seed:
            self._seed, self._random = seed, random.Random(seed)

    def draw(self) -> float:
        return self._random.random()


def _bad(name: str, value: object, wanted: str) -> ParameterError:
    return ParameterError("bad_parameter", name, f"The sampling parameter {name} must be {wanted}; it is {value!r}.")


def _whole(name: str, value: object, least: int, most: int | None = None, *, optional: bool = False) -> None:
    if value is None and optional:
        return
    good = isinstance(value, int) and not isinstance(value, bool) and value >= least
    if not good or (most is not None and value > most):  # type: ignore[operator]
        bounds = f"a whole number from {least}" + (f" to {most}" if most is not None else "")
        raise _bad(name, value, bounds + (", or nothing" if optional else ""))


def _number(name: str, value: object, least: float, most: float) -> None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not good or not least <= value <= most:  # type: ignore[operator]
        raise _bad(name, value, f"a number from {least:g} to {most:g}")
