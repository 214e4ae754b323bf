"""The line about drafts tells the oldest, leads to its page, and puts its buttons below where there is little room."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sayso.ui.draft_bar import DraftBar
from sayso.ui.theme import Theme

TOLD = (("Server", "the key of a server"), ("Commands", "your command “good evening”"))


@pytest.fixture
def bar(qtbot: QtBot, theme: Theme) -> DraftBar:
    made = DraftBar(theme)
    qtbot.addWidget(made)
    made.show_told(TOLD)
    return made


def test_the_oldest_is_told_and_both_buttons_are_about_it(bar: DraftBar, qtbot: QtBot) -> None:
    assert bar.words.text() == "Not in use yet: the key of a server."
    with qtbot.waitSignal(bar.page_wanted) as wanted:
        bar.go.click()
    with qtbot.waitSignal(bar.discarded) as discarded:
        bar.discard.click()
    assert (wanted.args, discarded.args) == (["Server"], ["Server"])
    bar.show_told(TOLD[1:])
    assert bar.go.text() == "Go to Commands"
    bar.show_told(())
    assert bar.isHidden()


def test_the_buttons_stand_below_the_words_where_there_is_little_room(bar: DraftBar, theme: Theme) -> None:
    def is_below() -> bool:
        QApplication.processEvents()
        return bar.go.mapTo(bar, bar.go.rect().topLeft()).y() > bar.words.geometry().bottom()

    bar.resize(theme.spacing.times(200), bar.sizeHint().height())
    assert not is_below()
    bar.resize(theme.spacing.times(70), theme.spacing.times(40))
    assert is_below()
