"""A screenshot is a file with what is on the screen, and undo deletes it."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import pytest
from PIL import Image, ImageChops
from spoken_actions import BareHands, Hands

from sayso.app.actions import ActionError, Receipt

pytestmark = pytest.mark.desktop


def pictures(hands: Hands) -> list[Path]:
    return sorted((Path(hands.desktop.environment["HOME"]) / "Pictures").glob("*.png"))


async def test_what_is_on_the_screen_is_saved_and_undo_deletes_it(hands: Hands) -> None:
    with hands.desktop.terminal("a subject"):
        outcome = await hands.do("take a screenshot")
        expected = hands.desktop.screenshot().convert("RGB")

    (file,) = pictures(hands)
    with Image.open(file) as opened:
        assert opened.mode == "RGB"
        assert opened.size == (1280, 800)
        # The terminal's cursor may blink between the two.
        different = ImageChops.difference(opened, expected).convert("L").point(lambda value: 255 * (value > 0))
        assert sum(different.histogram()[1:]) < 1000
        colours = opened.getcolors(1 << 24)
        assert colours is not None
        assert len(colours) > 2
    assert outcome.receipt is Receipt.VERIFIED
    assert outcome.detail == f"saved as ~/Pictures/{file.name}"

    assert outcome.undo is not None
    await hands.performer.undo(outcome.undo)
    assert pictures(hands) == []


async def test_two_in_one_second_are_two_files(hands: Hands) -> None:
    await hands.do("screenshot")
    await hands.do("screenshot")

    files = pictures(hands)
    assert len(files) == 2
    for file in files:
        file.unlink()


async def test_a_folder_that_cannot_be_written_is_named(hands: Hands) -> None:
    folder = Path(hands.desktop.environment["HOME"]) / "Pictures"
    if folder.exists():
        folder.rmdir()
    folder.write_text("in the way")
    try:
        with pytest.raises(ActionError) as refused:
            await hands.do("take a screenshot")
    finally:
        folder.unlink()

    assert refused.value.code == "not_saved"
    assert str(folder) in str(refused.value)


async def test_on_a_full_disk_no_part_of_a_picture_is_left(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path.open

    def full(path: Path, mode: str = "r", **how: Any) -> IO[Any]:
        opened = whole(path, mode, **how)
        if mode != "xb":
            return opened
        opened.close()
        return whole(Path("/dev/full"), "wb")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", full)
        with pytest.raises(ActionError) as refused:
            await hands.do("take a screenshot")

    assert refused.value.code == "not_saved"
    assert pictures(hands) == []


async def test_without_a_display_it_says_so(bare_hands: BareHands) -> None:
    with pytest.raises(ActionError) as refused:
        await bare_hands.do("take a screenshot")

    assert refused.value.code == "needs_x11"
