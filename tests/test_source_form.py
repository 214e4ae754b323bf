"""The form of the source: short modules and functions, docstrings, no path of anyone's machine, imports that hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("app", "engine", "server", "ui")
MODULE_LINES = 400
FUNCTION_LINES = 40
TEXT_SUFFIXES = {".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".json", ".svg", ".desktop", ".service", ".sh", ""}


def modules() -> list[Path]:
    return sorted(path for part in PARTS for path in (ROOT / part).rglob("*.py"))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function from `def` on, without its docstring."""
    length = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function) is None:
        return length
    docstring = function.body[0]
    return length - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in modules()}
    assert len(lengths) > 50
    assert {name: length for name, length in lengths.items() if length > MODULE_LINES} == {}


def test_no_function_is_longer_than_40_lines() -> None:
    too_long = {
        f"{path.relative_to(ROOT)}:{function.name}": lines_of(function)
        for path in modules()
        for function in functions(ast.parse(path.read_text()))
        if lines_of(function) > FUNCTION_LINES
    }
    assert too_long == {}


def test_every_module_says_what_it_owns() -> None:
    silent = [path for path in modules() if ast.get_docstring(ast.parse(path.read_text())) is None]
    assert [str(path.relative_to(ROOT)) for path in silent] == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    generic = {"utils", "util", "helpers", "helper", "manager", "misc", "common"}
    assert [str(path.relative_to(ROOT)) for path in modules() if path.stem in generic] == []


def text_files() -> list[Path]:
    folders = (*PARTS, "assets", "tests", "docs", ".ci")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    found += [path for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".git")]
    return [path for path in found if path.suffix in TEXT_SUFFIXES and "__pycache__" not in path.parts]


# Written in pieces, so that this file is not one of those it finds.
MACHINE_PATHS = re.compile("|".join(["/wor" + "k/", "/roo" + r"t/\w", "/opt/whe" + "els", r"\.\./sha" + "red"]))


def test_no_file_names_a_path_of_the_machine_it_was_written_on() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in text_files()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if MACHINE_PATHS.search(line)
    }
    assert found == set()


def imports_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    named = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    return named | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


@pytest.mark.parametrize("path", sorted((ROOT / "server" / "protocol").rglob("*.py")), ids=lambda path: path.stem)
def test_the_wire_protocol_takes_nothing_else_of_the_server(path: Path) -> None:
    # The import contracts cannot say this: a package cannot be forbidden what it is part of.
    taken = {name for name in imports_of(path) if name.startswith("sayso.")}
    assert {name for name in taken if not name.startswith("sayso.server.protocol")} == set()
