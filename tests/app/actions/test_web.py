"""Web addresses and searches go to the browser that the user chose, and nothing but web addresses does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bounded import wait_for
from spoken_actions import ApplicationFolder, Hands

from sayso.app.actions import ActionError, create

pytestmark = pytest.mark.desktop


@pytest.fixture
def browser(bare_desktop: object, tmp_path: Path) -> tuple[str, Path]:
    """A program that writes down the address it is given, and where it writes it."""
    program, opened = tmp_path / "browser", tmp_path / "opened"
    program.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {opened}.part && /bin/mv {opened}.part {opened}\n')
    program.chmod(0o755)
    return str(program), opened


async def opened_by(hands: Hands, sentence: str, opened: Path, **environment: str) -> str:
    performer = create(environment=hands.desktop.environment | environment)
    try:
        await performer.perform(hands.read(sentence))
    finally:
        await performer.close()
    wait_for(opened.exists, "an opened address")
    return opened.read_text()


@pytest.mark.parametrize(
    ("sentence", "address"),
    [
        ("go to example dot com", "https://example.com"),
        ("Open example.com/Docs.", "https://example.com/Docs"),
        ("open http://example.org", "http://example.org"),
        ("visit my dash site dot co dot uk slash about", "https://my-site.co.uk/about"),
        ("search the web for cats & “dogs”", "https://duckduckgo.com/?q=cats+%26+%E2%80%9Cdogs%E2%80%9D"),
    ],
)
async def test_an_address_reaches_the_chosen_browser(
    hands: Hands, browser: tuple[str, Path], sentence: str, address: str
) -> None:
    assert await opened_by(hands, sentence, browser[1], BROWSER=browser[0]) == address


async def test_the_next_choice_is_taken_where_the_first_is_missing(hands: Hands, browser: tuple[str, Path]) -> None:
    choices = f"/nowhere/browser:{browser[0]} %s"

    assert await opened_by(hands, "go to example.com", browser[1], BROWSER=choices) == "https://example.com"


async def test_an_installed_browser_is_used_where_none_is_chosen(
    hands: Hands, browser: tuple[str, Path], applications: ApplicationFolder
) -> None:
    applications.add("surf", Name="Surf", Exec=f"{browser[0]} %u", MimeType="text/html;x-scheme-handler/https;")
    environment = {"PATH": "/nowhere"}

    assert await opened_by(hands, "go to example.com", browser[1], **environment) == "https://example.com"


async def test_without_a_browser_it_says_so(hands: Hands) -> None:
    with pytest.raises(ActionError) as refused:
        await opened_by(hands, "go to example.com", Path("/nowhere"), PATH="/nowhere")

    assert refused.value.code == "no_browser"


@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:alert(1)", "ftp://example.com", "https://"])
async def test_anything_but_a_web_address_is_refused(hands: Hands, browser: tuple[str, Path], address: str) -> None:
    match = replace(hands.read("go to example.com"), slots={"address": address})
    performer = create(environment=hands.desktop.environment | {"BROWSER": browser[0]})
    try:
        with pytest.raises(ActionError) as refused:
            await performer.perform(match)
    finally:
        await performer.close()

    assert refused.value.code == "address_refused"
    assert not browser[1].exists()
