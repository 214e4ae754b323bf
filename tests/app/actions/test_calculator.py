"""Spoken sums are answered; what has no answer is refused with the reason."""

from __future__ import annotations

import pytest
from spoken_actions import BareHands

from sayso.app.actions import ActionError


@pytest.mark.parametrize(
    ("sentence", "title", "answer"),
    [
        ("What is twelve times seven?", "Calculate 12 \u00d7 7", "12 \u00d7 7 = 84"),
        ("Calculate 12 + 7.", "Calculate 12 + 7", "12 + 7 = 19"),
        ("what's fifteen percent of eighty", "Calculate 15% of 80", "15% of 80 = 12"),
        ("work out the square root of 144 plus 1", "Calculate \u221a144 + 1", "\u221a144 + 1 = 13"),
    ],
)
async def test_a_sum_is_answered(bare_hands: BareHands, sentence: str, title: str, answer: str) -> None:
    outcome = await bare_hands.do(sentence)

    assert outcome.title == title
    assert outcome.detail == answer


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        ("calculate ten divided by zero", "division_by_zero"),
        ("calculate 10 to the power of 190", "too_large"),
        ("calculate the square root of minus four", "no_real_root"),
    ],
)
async def test_what_has_no_answer_is_refused(bare_hands: BareHands, sentence: str, code: str) -> None:
    with pytest.raises(ActionError) as refused:
        await bare_hands.do(sentence)

    assert refused.value.code == code
