"""What was typed and not used is kept by page, told of without being shown, and handed out once."""

from __future__ import annotations

from sayso.ui.drafts import Draft, Drafts, sentence

SECRET = Draft("the key of a server", ("secret",))
QUIET = Draft("", "a search")


def test_a_draft_is_handed_out_once() -> None:
    drafts = Drafts()
    drafts.keep("Server", SECRET)
    assert drafts.take("Server") is SECRET
    assert drafts.take("Server") is None


def test_a_page_that_is_left_with_nothing_takes_its_draft_back() -> None:
    drafts = Drafts()
    drafts.keep("Server", SECRET)
    drafts.keep("Server", None)
    assert drafts.told == ()


def test_only_what_people_need_to_know_is_told() -> None:
    drafts = Drafts()
    drafts.keep("Commands", QUIET)
    drafts.keep("Server", SECRET)
    assert drafts.told == (("Server", "the key of a server"),)
    assert sentence(drafts.told) == "Typed in the settings and not in use: the key of a server (page Server)."
    assert sentence(()) == ""


def test_every_change_is_told_once() -> None:
    changes: list[bool] = []
    drafts = Drafts(lambda: changes.append(True))
    for draft in (SECRET, SECRET, None, None):
        drafts.keep("Server", draft)
    assert len(changes) == 2


def test_what_was_typed_is_in_no_text_about_it() -> None:
    assert "secret" not in repr(SECRET)
