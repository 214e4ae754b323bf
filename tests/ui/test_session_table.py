"""The model of the table of sessions: rows come, change and go in place, whatever the order."""

from __future__ import annotations

from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from sayso.app.memory_view import SessionRow
from sayso.ui.session_table import SessionModel, SessionTable
from sayso.ui.theme import Theme

rows = st.lists(
    st.builds(SessionRow, st.sampled_from("abcdef"), st.sampled_from(["ready", "parked"]), st.just(1.0), st.just(2.0)),
    max_size=6,
    unique_by=lambda row: row.id,
)


@hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(rows, max_size=5))
def test_whatever_comes_is_what_is_shown(qtbot: QtBot, steps: list[list[SessionRow]]) -> None:
    model = SessionModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for step in steps:
        model.show_rows(tuple(step))
        assert [model.session(number) for number in range(model.rowCount())] == step
    del tester


def test_a_chosen_session_stays_chosen_while_others_come_and_go(qtbot: QtBot, theme: Theme) -> None:
    table = SessionTable(theme)
    qtbot.addWidget(table)
    first, second, third = (SessionRow(f"sess-{name}", "ready", 1.0, 2.0) for name in ("one", "two", "three"))
    table.show_rows((first, second))
    table.setCurrentIndex(table.rows.index(1, 0))
    table.show_rows((second, third))
    chosen = table.chosen()
    assert chosen is not None
    assert chosen.id == "sess-two"
    table.show_rows((third,))
    assert table.chosen() is None or table.chosen() == third


def test_each_figure_is_read_with_the_name_of_its_column(theme: Theme) -> None:
    model = SessionModel()
    model.show_rows((SessionRow("sess-1234567890", "parked", 75.0, 4000.0, host=23_000_000, own=True),))
    read = [
        model.data(model.index(0, column), Qt.ItemDataRole.AccessibleTextRole) for column in range(model.columnCount())
    ]
    assert read[0] == "Session: This desktop"
    assert "State: parked" in read
    assert "RAM: 23 MB" in read
    assert "Silent: 1 min 15 s" in read
