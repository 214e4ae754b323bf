"""Texts of all scripts and kinds of characters that people dictate, mixed anew for each seed. Pure.

Each begins and ends with a letter, a digit or a picture, and is in composed form (NFC), as text from a recogniser is.
"""

# ruff: noqa: RUF001 - characters that look alike are what these texts are for.

from __future__ import annotations

import random
import unicodedata

WORDS = (
    *("hello", "the", "quick", "brown", "fox", "42", "x", "e-mail", "C++", "~/notes.txt", "a_b", "50%", "#tag", "@me"),
    *("naïve", "Straße", "café", "Ångström", "żółć", "Þórr", "ığdır", "5€", "£20", "½", "±3°"),
    *("Ελληνικά", "λόγος", "Русский", "язык", "їжак", "Ќе", "շնորհակալ", "მადლობა"),
    *("日本語", "你好", "한국어", "漢字かな交じり", "𠮷野家", "ไทย", "हिन्दी", "தமிழ்", "বাংলা"),
    *("עברית", "שלום", "العربية", "مرحبا", "فارسی"),
    *("😀", "👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "❤\ufe0f", "🏴\u200d☠\ufe0f", "1\ufe0f\u20e3", "\U0001fae8"),
    *("x\u0301", "q\u0307\u0323", "Z\u0351\u036b", "∑∞≠", "→", "𝒳", "™"),
    *("“quoted”", "‘so’", "«ja»", "'single'", '"double"', "`code`", "$HOME", "\\n", "{a}", "[b]", "<i>", "a;b", "x|y"),
)
_BETWEEN = (" ", " ", " ", " ", ", ", " — ", "; ", "\n", "\n\n", "\t")


def mixed_text(seed: int) -> str:
    """A text of one to twenty words; every tenth one is long."""
    chance = random.Random(seed)
    count = chance.randint(150, 300) if seed % 10 == 9 else chance.randint(1, 20)
    parts = [chance.choice(WORDS)]
    for _ in range(count - 1):
        parts += [chance.choice(_BETWEEN), chance.choice(WORDS)]
    # What is set off by a space from the text before it must not begin or end with a mark.
    return unicodedata.normalize("NFC", f"a{seed} {''.join(parts)} z")
