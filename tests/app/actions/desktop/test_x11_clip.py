"""What a selection holds, as a value."""

from __future__ import annotations

import itertools

from sayso.app.actions.desktop.x11_clip import CHUNK, Content, is_contents, pieces, same_client, text_clip


class Atoms:
    """Numbers for names, as an X server gives them."""

    def __init__(self) -> None:
        self._numbers = itertools.count(100)
        self.names: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self.names.setdefault(name, next(self._numbers))


def test_text_is_offered_in_every_form_that_can_hold_it() -> None:
    atoms = Atoms()
    contents = text_clip("naïve", atoms, passing=False).contents
    for name in ("UTF8_STRING", "text/plain;charset=utf-8", "TEXT"):
        assert contents[atoms(name)].data == "naïve".encode()
    assert contents[atoms("STRING")] == Content(atoms("STRING"), 8, "naïve".encode("latin-1"))
    assert contents[atoms("TEXT")].type == atoms("UTF8_STRING")


def test_text_beyond_latin_1_is_not_offered_as_latin_1() -> None:
    atoms = Atoms()
    assert atoms("STRING") not in text_clip("日本", atoms, passing=False).contents


def test_only_passing_text_asks_clipboard_managers_to_forget_it() -> None:
    atoms = Atoms()
    hint = atoms("x-kde-passwordManagerHint")
    assert text_clip("x", atoms, passing=True).contents[hint].data == b"secret"
    assert hint not in text_clip("x", atoms, passing=False).contents


def test_questions_and_side_effects_are_no_contents() -> None:
    assert [name for name in ("TARGETS", "DELETE", "PIXMAP", "image/png", "UTF8_STRING") if is_contents(name)] == [
        "image/png",
        "UTF8_STRING",
    ]


def test_large_contents_go_in_pieces_up_to_an_empty_one() -> None:
    data = bytes(range(256)) * 1000
    cut = pieces(data)
    assert b"".join(cut) == data
    assert cut[-1] == b""
    assert all(0 < len(piece) <= CHUNK for piece in cut[:-1])


def test_windows_of_one_program_share_what_the_server_chose() -> None:
    mask = 0x1FFFFF
    assert same_client(0x600003, 0x60001A, mask)
    assert not same_client(0x600003, 0x80001A, mask)


def test_items_are_counted_in_their_width() -> None:
    assert [Content(1, width, bytes(8)).items for width in (8, 16, 32)] == [8, 4, 2]
