"""Paths as people type and paste them, and what folders are called in a list."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.app.model_folders import path_of, titles


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (" /models/mine/ ", "/models/mine"),
        ("~/models/mine", f"{Path.home()}/models/mine"),
        ("~nobody-here/mine", f"{Path.cwd()}/~nobody-here/mine"),
        ("'/models/my own'", "/models/my own"),
        ("file:///models/my%20own", "/models/my own"),
        ("/models/../other", "/other"),
        ("   ", ""),
    ],
)
def test_a_path_is_understood_however_it_is_written(typed: str, meant: str) -> None:
    assert path_of(typed) == meant


def test_folders_of_one_name_are_told_apart_by_where_they_lie() -> None:
    assert titles(["/a/mine", "/b/mine", "/b/other", "/"]) == {
        "/a/mine": "mine (a)",
        "/b/mine": "mine (b)",
        "/b/other": "other",
        "/": "/",
    }
