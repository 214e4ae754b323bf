"""The Qt style sheet, made from colours and spacing. Widgets are named by the property ``role``, never by position."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sayso.ui.theme import Colours, Spacing

_SHEET = Template(
    """
QWidget { color: $text; }
QMainWindow, QDialog { background: $window; }
QToolTip { background: $surface; color: $text; border: 1px solid $border; padding: ${xs}px; }

*[role="card"] { background: $surface; border: 1px solid $line; border-radius: ${s}px; }
*[role="heading"] { font-weight: 600; color: $muted; }
*[role="muted"] { color: $muted; }
*[tone="muted"] { color: $muted; }
*[tone="accent"] { color: $accent; }
*[tone="good"] { color: $good; }
*[tone="waiting"] { color: $waiting; }
*[tone="bad"] { color: $bad; }

QPushButton {
  background: $surface; color: $text; border: 1px solid $border; border-radius: ${radius}px;
  padding: ${xs}px ${m}px; min-height: ${line_height}px;
}
QPushButton:hover { background: $raised; }
QPushButton:pressed { background: $track; }
QPushButton:disabled { color: $muted; border-color: $line; }
QPushButton:focus { border: 2px solid $accent; padding: ${xs_inner}px ${m_inner}px; }

QPushButton[role="primary"] {
  background: $accent; color: $on_accent; border: 1px solid $accent; font-weight: 600; padding: ${s}px ${l}px;
}
QPushButton[role="primary"]:hover { background: $accent_strong; border-color: $accent_strong; }
QPushButton[role="primary"]:focus { border: 2px solid $text; padding: ${s_inner}px ${l_inner}px; }
QPushButton[role="primary"][listening="true"] { background: $surface; color: $accent; border-color: $accent; }
QPushButton[role="primary"][listening="true"]:hover { background: $accent_tint; }
QPushButton[role="primary"]:disabled { background: $raised; color: $muted; border-color: $line; }

*[role="segments"] { background: $raised; border: 1px solid $line; border-radius: ${radius}px; }
QPushButton[role="segment"] {
  background: transparent; color: $muted; border: 2px solid transparent; border-radius: ${radius_inner}px;
  padding: ${hair}px ${m}px;
}
QPushButton[role="segment"]:hover { color: $text; }
QPushButton[role="segment"]:checked {
  background: $surface; color: $accent; border-color: $surface; font-weight: 600;
}
QPushButton[role="segment"]:focus { border-color: $accent; padding: ${hair}px ${m}px; }

QPushButton[role="quiet"] { background: transparent; border: 1px solid transparent; color: $accent; }
QPushButton[role="quiet"]:hover { background: $raised; }
QPushButton[role="quiet"]:focus { border: 2px solid $accent; padding: ${xs_inner}px ${m_inner}px; }
QPushButton[role="quiet"]::menu-indicator { width: 0px; }
QPushButton[role="quiet-icon"] { background: transparent; border: 1px solid transparent; padding: ${xs}px; }
QPushButton[role="quiet-icon"]:hover { background: $raised; }
QPushButton[role="quiet-icon"]:focus { border: 2px solid $accent; padding: ${xs_inner}px; }
QPushButton[role="quiet-small"] {
  background: transparent; border: 2px solid transparent; color: $accent; padding: 0px ${s}px; min-height: 0px;
}
QPushButton[role="quiet-small"]:hover { background: $raised; }
QPushButton[role="quiet-small"]:focus { border-color: $accent; padding: 0px ${s}px; }
QPushButton[role="jump"] {
  background: $accent; color: $on_accent; border: 1px solid $accent; border-radius: ${pill}px; padding: ${xs}px ${m}px;
}
QPushButton[role="jump"]:focus { border: 2px solid $text; padding: ${xs_inner}px ${m_inner}px; }

QLineEdit {
  background: $surface; color: $text; border: 1px solid $border; border-radius: ${radius}px;
  padding: ${xs}px ${s}px; min-height: ${line_height}px;
  selection-background-color: $accent; selection-color: $on_accent;
}
QLineEdit:focus { border: 2px solid $accent; padding: ${xs_inner}px ${s_inner}px; }
QLineEdit { placeholder-text-color: $muted; }
QLineEdit[invalid="true"] { border-color: $bad; }

QComboBox {
  background: $surface; color: $text; border: 1px solid $border; border-radius: ${radius}px;
  padding: ${xs}px ${s}px; min-height: ${line_height}px;
}
QComboBox::drop-down { border: none; width: ${l}px; }
QComboBox:focus { border: 2px solid $accent; padding: ${xs_inner}px ${s_inner}px; }
QComboBox QLineEdit, QComboBox QLineEdit:focus {
  background: transparent; border: none; padding: 0; min-height: 0;
}
QTreeView, QTableView {
  background: $surface; color: $text; border: 1px solid $border; border-radius: ${radius}px;
  selection-background-color: $accent; selection-color: $on_accent;
}
QTableView::item { padding: 0px ${s}px; }
QTreeView:focus, QTableView:focus { border: 2px solid $accent; }
QTreeView[role="figures"]::item { padding: ${hair}px ${xs}px; }
QTreeView[role="figures"] QHeaderView::section { padding: ${xs}px; }
QComboBox:disabled, QCheckBox:disabled { color: $muted; border-color: $line; }
QHeaderView::section { background: $raised; color: $muted; border: none; padding: ${xs}px ${s}px; }
QListWidget[role="pages"] {
  background: transparent; border: 2px solid transparent; border-radius: ${radius}px; outline: none;
}
QListWidget[role="pages"]:focus { border-color: $accent; }
QListWidget[role="pages"]::item { color: $text; border-radius: ${radius}px; padding: ${s}px; margin: 1px; }
QListWidget[role="pages"]::item:hover { background: $raised; }
QListWidget[role="pages"]::item:selected { background: $accent_tint; color: $accent; }
QStackedWidget { background: transparent; }

QTextEdit {
  background: transparent; color: $text; border: 2px solid transparent; border-radius: ${radius}px;
  selection-background-color: $accent; selection-color: $on_accent;
}
QPlainTextEdit {
  background: $surface; color: $text; border: 1px solid $border; border-radius: ${radius}px;
  selection-background-color: $accent; selection-color: $on_accent;
}
QPlainTextEdit:focus { border: 2px solid $accent; }
QTextEdit:focus, QScrollArea:focus { border-color: $accent; }
QScrollArea { background: transparent; border: 2px solid transparent; border-radius: ${radius}px; }
QScrollArea > QWidget > QWidget { background: transparent; }

*[role="feed-row"] { background: transparent; border: none; border-top: 1px solid $line; }
*[role="feed-row"][first="true"] { border-top-color: transparent; }
*[role="feed-title"] { font-weight: 600; }

*[role="notice"] { background: $waiting_tint; border: 1px solid $waiting; border-radius: ${radius}px; }
*[role="notice"][severe="true"] { background: $bad_tint; border-color: $bad; }
*[role="notice"] QPushButton { background: transparent; border: 1px solid transparent; }
*[role="notice"] QPushButton:hover { border-color: $border; }
*[role="notice"] QPushButton:focus { border: 2px solid $accent; padding: ${xs_inner}px ${m_inner}px; }

QSplitter::handle { background: transparent; }
QSplitter::handle:hover { background: $line; }
QMenu { background: $surface; border: 1px solid $border; padding: ${xs}px; }
QMenu::item { padding: ${xs}px ${l}px; border-radius: ${xs}px; }
QMenu::item:selected { background: $accent; color: $on_accent; }
QMenu::item:disabled { background: transparent; color: $muted; }

QScrollBar:vertical { background: transparent; width: ${bar}px; margin: 0; }
QScrollBar::handle:vertical { background: $border; border-radius: ${bar_radius}px; min-height: ${xl}px; margin: 1px; }
QScrollBar::handle:vertical:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { height: 0; width: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
"""
)


def stylesheet(colours: Colours, spacing: Spacing) -> str:
    lengths = {
        "hair": max(1, spacing.times(0.5)),
        "xs": spacing.xs,
        "s": spacing.s,
        "m": spacing.m,
        "l": spacing.l,
        "xl": spacing.xl,
        "xs_inner": spacing.xs - 1,
        "s_inner": spacing.s - 1,
        "m_inner": spacing.m - 1,
        "l_inner": spacing.l - 1,
        "radius": spacing.times(1.5),
        "radius_inner": spacing.times(1.2),
        "pill": spacing.times(3),
        "line_height": spacing.times(4.5),
        "bar": spacing.times(2.5),
        "bar_radius": spacing.times(1),
    }
    names = {name: getattr(colours, name) for name in colours.__dataclass_fields__}
    return _SHEET.substitute(names, **{name: str(length) for name, length in lengths.items()})
