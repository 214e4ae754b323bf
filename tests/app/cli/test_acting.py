"""Commands in the terminal are those of the desktop: the user's own are among them, and what is off is not."""

from pathlib import Path

import pytest

from sayso.app.cli.acting import Acting
from sayso.app.cli.utterances import Report
from sayso.app.commands.other_text import OtherText
from sayso.app.commands.own import OwnCommand, OwnKind
from sayso.app.realtime.events import TurnDone
from sayso.app.settings import Settings, save


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("DISPLAY", raising=False)
    return tmp_path / "sayso"


async def test_own_commands_are_understood_and_those_that_are_off_are_not(folder: Path) -> None:
    own = OwnCommand("lights in the garden", OwnKind.KEYS, "F5")
    save(Settings(own_commands=(own,), off_commands=("volume.change",)), folder)
    acting = Acting(lambda report: None)
    assert acting.is_complete("Lights in the garden.")
    assert acting.is_complete("mute")
    assert not acting.is_complete("volume up")


async def test_settings_that_cannot_be_read_are_told_and_the_commands_that_come_with_it_are_understood(
    folder: Path,
) -> None:
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text("{ no settings")
    told: list[Report] = []
    acting = Acting(told.append)
    assert acting.is_complete("volume up")
    assert [report.code for report in told] == ["settings"]


async def test_what_else_was_perhaps_said_counts(folder: Path) -> None:
    save(Settings(own_commands=(OwnCommand("garden lights", OwnKind.PROGRAM, "true"),)), folder)
    told: list[Report] = []
    acting = Acting(told.append)
    acting.start()
    acting.begin(1)
    assert "Garden lights." in acting.expected[1]
    acting.submit(TurnDone(1, "Guarding lives.", (OtherText("Garden lights.", 0.5),)), 0.0, 1.0)
    await acting.close()
    assert [(report.type, report.code) for report in told] == [("action", "confirm")], "a guess that starts a program"
