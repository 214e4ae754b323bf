"""What is installed is the whole of Sayso, and nothing under a licence that its users would have to take over."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PARTS = ("app", "engine", "server", "ui", "assets")


def installable_files() -> set[str]:
    """Every file of the packages, by its path in an installed Sayso."""
    files = [path for part in PARTS for path in (ROOT / part).rglob("*") if path.is_file()]
    return {f"sayso/{path.relative_to(ROOT).as_posix()}" for path in files if "__pycache__" not in path.parts}


def test_every_package_of_the_tree_is_listed() -> None:
    # Setuptools counts a folder of data as a package too, and warns whoever installs when it is not listed.
    of_the_tree = {str(Path(name).parent).replace("/", ".") for name in installable_files()}
    assert of_the_tree == set(PROJECT["tool"]["setuptools"]["packages"])


def test_every_package_has_its_init_file() -> None:
    packages = [
        ROOT / name.removeprefix("sayso.").replace(".", "/") for name in PROJECT["tool"]["setuptools"]["packages"]
    ]
    without = [package for package in packages if any(package.glob("*.py")) and not (package / "__init__.py").is_file()]
    assert without == []
    assert not (ROOT / "sayso").exists()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    # Built from a copy, since a build folder left in the tree could bring files that are no longer there.
    folder = tmp_path_factory.mktemp("wheel")
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / "tree" / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / "tree" / name)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, "."]
    built = subprocess.run(command, cwd=folder / "tree", capture_output=True, text=True, timeout=110, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return zipfile.ZipFile(next(folder.glob("sayso-*.whl")))


def test_the_wheel_has_every_file_of_the_packages_and_no_other(wheel: zipfile.ZipFile) -> None:
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == installable_files()


def test_the_wheel_puts_nothing_generic_into_site_packages(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"sayso"}
    assert "sayso/__init__.py" not in wheel.namelist()


def test_the_wheel_has_the_grammar_the_licence_and_the_command(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert "sayso/assets/commands/en.yaml" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    entry_points = next(name for name in names if name.endswith("entry_points.txt"))
    assert "sayso = sayso.app.cli.main:main" in wheel.read(entry_points).decode()


def extra(name: str) -> set[str]:
    return set(PROJECT["project"]["optional-dependencies"][name])


def names(requirements: set[str]) -> set[str]:
    return {canonicalize_name(Requirement(each).name) for each in requirements}


def test_a_desktop_needs_no_torch_and_a_server_needs_no_qt() -> None:
    assert not names(extra("desktop")) & {"torch", "silero-vad", "starlette", "uvicorn", "transformers"}
    assert not names(extra("server")) & {"torch", "silero-vad", "pyside6-essentials", "qasync"}
    assert not names(extra("engine")) & {"pyside6-essentials", "qasync", "transformers"}


def asked_by(name: str, extras: frozenset[str]) -> list[Requirement]:
    """What a distribution asks for here; for Sayso itself, what the tree says, whatever was installed."""
    if name == "sayso":
        own = PROJECT["project"]["dependencies"] + [each for one in extras for each in extra(one)]
        return [each for each in map(Requirement, own) if each.marker is None or each.marker.evaluate()]
    asked = [Requirement(each) for each in importlib.metadata.requires(name) or []]
    settings = [{"extra": each} for each in extras or {""}]
    return [each for each in asked if each.marker is None or any(map(each.marker.evaluate, settings))]


def requirement_closure(extras: frozenset[str]) -> set[str]:
    """Names of all distributions that Sayso with these extras needs here."""
    found: set[tuple[str, frozenset[str]]] = set()
    waiting = [("sayso", extras)]
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) not in found:
            found.add((name, wanted))
            waiting += [(canonicalize_name(each.name), frozenset(each.extras)) for each in asked_by(name, wanted)]
    return {name for name, _ in found} - {"sayso"}


def licences(name: str) -> list[str]:
    """The licences to choose from that a distribution's metadata name."""
    metadata = importlib.metadata.metadata(name)
    stated = metadata.get("License-Expression") or metadata.get("License") or ""
    if stated and "\n" not in stated:
        return re.split(r"\s+OR\s+", stated)
    return [each for each in metadata.get_all("Classifier") or [] if each.startswith("License ::")]


def is_copyleft(licence: str) -> bool:
    """Whether a licence would reach the program that uses the library: GPL and AGPL, but not LGPL."""
    return re.search(r"(?<![a-z])a?gpl|(?<!lesser )general public|affero", licence.lower()) is not None


@pytest.mark.parametrize(
    ("licence", "copyleft"),
    [
        ("GPL-3.0-only", True),
        ("AGPL-3.0-or-later", True),
        ("License :: OSI Approved :: GNU General Public License v3 (GPLv3)", True),
        ("LGPL-2.1-or-later", False),
        ("License :: OSI Approved :: GNU Lesser General Public License v3 (LGPLv3)", False),
        ("MIT", False),
    ],
)
def test_copyleft_licences_are_known(licence: str, copyleft: bool) -> None:
    assert is_copyleft(licence) is copyleft


def test_nothing_that_is_installed_for_users_is_under_the_gpl() -> None:
    needed = requirement_closure(frozenset({"all"}))
    assert {"torch", "pyside6-essentials", "soxr", "uvicorn", "hassil"} <= needed
    stated = {name: licences(name) for name in needed}
    assert {name for name, choices in stated.items() if not choices} == set(), "no licence is stated"
    assert {name: choices for name, choices in stated.items() if all(map(is_copyleft, choices))} == {}


def test_every_distribution_that_is_needed_has_an_exact_version() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    exact = {canonicalize_name(line.split("==")[0]) for line in lines if "==" in line}
    needed = requirement_closure(frozenset({"all", "dev"}))
    platform_parts = {name for name in needed if name.startswith(("nvidia-", "cuda-")) or name == "triton"}
    assert needed - exact - platform_parts == set()


def test_the_exact_versions_fit_what_is_asked_for() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    exact = {canonicalize_name(name): version for name, version in (line.split("==") for line in lines if line)}
    asked = [Requirement(each) for each in PROJECT["project"]["dependencies"]]
    asked += [Requirement(each) for group in PROJECT["project"]["optional-dependencies"].values() for each in group]
    ours = [each for each in asked if each.name != "sayso"]
    unfit = {str(each) for each in ours if not each.specifier.contains(exact[canonicalize_name(each.name)])}
    assert unfit == set()
