"""Applications open by their names and are seen to open; what cannot be started says why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bounded import wait_for
from spoken_actions import ApplicationFolder, Hands

from sayso.app.actions import ActionError, Receipt, create

pytestmark = pytest.mark.desktop


async def test_an_opened_application_is_verified_by_its_window_and_undo_closes_it(
    hands: Hands, applications: ApplicationFolder
) -> None:
    applications.add("org.example.Paint", Name="Paint Box", Exec="xterm -T canvas %U")

    outcome = await hands.do("open paintbox")

    window = hands.desktop.wait_for_window("canvas")
    assert outcome.title == "Open Paint Box"
    assert outcome.receipt is Receipt.VERIFIED
    assert outcome.undo is not None
    await hands.performer.undo(outcome.undo)
    hands.desktop.wait_until_closed(window)


@pytest.mark.parametrize("spoken", ["fire fox", "web browser", "the firefox app", "fire fox please"])
async def test_an_application_is_found_by_any_of_its_names(
    hands: Hands, applications: ApplicationFolder, spoken: str
) -> None:
    applications.add("firefox", Name="Firefox", GenericName="Web Browser", Exec="firefox %u")
    applications.add("editor", Name="Text Editor", Exec="editor %F")

    assert hands.performer.describe(hands.read(f"open {spoken}")) == "Open Firefox"


async def test_two_applications_alike_are_both_named_and_neither_is_started(
    hands: Hands, applications: ApplicationFolder, tmp_path: Path
) -> None:
    for name in ("Office Writer", "Office Reader"):
        applications.add(name.replace(" ", ""), Name=name, Exec=f"touch {tmp_path / 'started'}")

    with pytest.raises(ActionError) as refused:
        await hands.do("open office")

    assert refused.value.code == "ambiguous_application"
    assert "Office Writer" in str(refused.value)
    assert "Office Reader" in str(refused.value)
    assert not (tmp_path / "started").exists()


async def test_an_unknown_application_is_refused_with_the_nearest_one(
    hands: Hands, applications: ApplicationFolder
) -> None:
    applications.add("firefox", Name="Firefox", Exec="firefox")

    with pytest.raises(ActionError) as refused:
        await hands.do("open fireworks")

    assert refused.value.code == "unknown_application"
    assert "Did you mean Firefox?" in str(refused.value)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("/nowhere/program", "program_missing"),
        ("sh -c 'exit 3'", "application_ended"),
        ('"unbalanced', "broken_entry"),
        ("/etc/passwd", "not_started"),
    ],
)
async def test_an_application_that_does_not_start_says_why(
    hands: Hands, applications: ApplicationFolder, command: str, code: str
) -> None:
    applications.add("broken", Name="Broken", Exec=command)

    with pytest.raises(ActionError) as refused:
        await hands.do("open broken")

    assert refused.value.code == code
    assert "Broken" in str(refused.value)


async def test_an_application_shares_no_pipe_with_us_and_has_its_own_session(
    hands: Hands, applications: ApplicationFolder, tmp_path: Path
) -> None:
    report = tmp_path / "report"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\nls -l /proc/self/fd > {report}.part\nps -o sid= -p $$ >> {report}.part\n")
    script.write_text(script.read_text() + f"mv {report}.part {report}\nexec xterm -T done -class Report\n")
    script.chmod(0o755)
    applications.add("report", Name="Report", Exec=str(script), StartupWMClass="Report")
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    try:
        await hands.do("open report")
    finally:
        os.close(reading)
        os.close(writing)

    wait_for(report.exists, "the report")
    lines = report.read_text().splitlines()
    assert not any("pipe:" in line for line in lines)
    assert int(lines[-1]) != os.getsid(0)
    await hands.do("close report")


async def test_an_entry_installed_while_we_run_is_found(hands: Hands, applications: ApplicationFolder) -> None:
    assert not (await hands.performer.names()).knows("late comer")
    applications.add("late", Name="Late Comer", Exec="true")

    assert (await hands.performer.names()).knows("late comer")


async def test_without_a_display_an_application_is_started_and_said_to_be_sent(
    hands: Hands, applications: ApplicationFolder, tmp_path: Path
) -> None:
    applications.add("plain", Name="Plain", Exec=f"touch {tmp_path / 'started'}")
    environment = {name: value for name, value in hands.desktop.environment.items() if name != "DISPLAY"}
    performer = create(environment=environment)
    try:
        outcome = await performer.perform(hands.read("open plain"))
    finally:
        await performer.close()

    assert outcome.receipt is Receipt.SENT
    wait_for((tmp_path / "started").exists, "the program")
