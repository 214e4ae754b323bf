"""``sayso models`` as its user runs it: a process of its own, against a hub on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bounded import wait_for
from played_hub import PlayedHub, played_hub
from tiny_causal import build
from tiny_voxtral import build as build_voxtral

pytest.importorskip("huggingface_hub")

REPOSITORY = "someone/tiny-llama"
BOUND_S = 60.0
WEIGHTS = bytes(range(256)) * 90_000
SAYSO = (sys.executable, "-m", "sayso.app.cli.main")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def hub(tiny: Path) -> Iterator[PlayedHub]:
    files = {path.name: path.read_bytes() for path in tiny.iterdir()}
    with played_hub({REPOSITORY: files, "Systran/faster-whisper-base.en": {"model.bin": WEIGHTS}}) as hub:
        yield hub


@pytest.fixture
def environment(hub: PlayedHub, tmp_path: Path) -> dict[str, str]:
    own = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hub"), "SAYSO_MODELS": str(tmp_path / "models")}
    # A hub that stalls is not given up and asked again before the test is through, however slow the machine.
    return {**os.environ, **own, "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DOWNLOAD_TIMEOUT": "60"}


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Runs ``sayso`` with these arguments; the hub's address can be another one."""

    def run(
        *arguments: str, endpoint: str = "", expect: int = 0, piped: bool = False
    ) -> subprocess.CompletedProcess[str]:
        own = {**environment, "HF_ENDPOINT": endpoint or environment["HF_ENDPOINT"]}
        # What reads its standard input ends with it, so that it must stay open.
        read, write = os.pipe()
        command = [*SAYSO, *arguments]
        try:
            done = subprocess.run(
                command,
                stdin=read if piped else None,
                capture_output=True,
                text=True,
                timeout=BOUND_S,
                env=own,
                check=False,
            )
        finally:
            os.close(read)
            os.close(write)
        assert done.returncode == expect, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def listed(run: Run) -> dict[str, dict[str, object]]:
    lines = run("models", "list", "--json").stdout.splitlines()
    return {entry["name"]: entry for entry in map(json.loads, lines)}


def test_a_model_is_fetched_found_listed_and_removed(run: Run, tiny: Path, hub: PlayedHub) -> None:
    pulled = run("models", "pull", REPOSITORY)
    folder = Path(pulled.stdout.strip())
    assert (folder / "model.safetensors").read_bytes() == (tiny / "model.safetensors").read_bytes()
    assert "100 %" in pulled.stderr
    assert run("models", "path", REPOSITORY).stdout == pulled.stdout
    assert listed(run)[REPOSITORY]["kind"] == "causal"
    hub.asked.clear()
    assert run("models", "pull", REPOSITORY).stdout == pulled.stdout
    assert hub.asked == []
    assert "Removed" in run("models", "remove", REPOSITORY).stdout
    assert not folder.exists()
    assert REPOSITORY not in listed(run)
    assert "not installed" in run("models", "path", REPOSITORY, expect=1).stderr
    assert "not installed" in run("models", "remove", REPOSITORY, expect=1).stderr


def test_folders_of_ones_own_are_looked_into_and_listed(run: Run, tiny: Path, tmp_path: Path) -> None:
    hearing, gone = build_voxtral(tmp_path / "mine"), tmp_path / "gone"
    told = json.loads(run("models", "check", str(hearing), "--json").stdout)
    assert (told["name"], told["kind"]) == (str(hearing), "voxtral_realtime")
    assert (
        "continues text" in json.loads(run("models", "check", str(tiny), "--json", expect=1).stdout)["error"]["message"]
    )
    assert "There is no folder" in run("models", "check", str(gone), expect=1).stderr
    lines = run("models", "list", "--json", "--folder", str(hearing), "--folder", str(gone)).stdout.splitlines()
    entries = {entry["name"]: entry for entry in map(json.loads, lines)}
    own, lost = entries[str(hearing)], entries[str(gone)]
    assert (own["own"], own["told_as"], own["installed"], own["hears"]) == (True, "mine", True, True)
    assert own["memory_bytes"] > own["download_bytes"] > 0
    assert lost["fault"].startswith("There is no folder")
    assert str(hearing) in run("models", "list", "--folder", str(hearing), "--folder", str(gone)).stdout


def test_a_name_of_the_catalogue_is_fetched_and_then_marked(run: Run) -> None:
    before = listed(run)
    assert not before["base.en"]["installed"]
    run("models", "pull", "base.en")
    after = listed(run)
    assert after["base.en"]["installed"]
    assert sum(bool(entry["auto"]) for entry in after.values()) == 1
    assert "base.en" in run("models", "path", "base.en").stdout


def test_the_list_says_what_each_model_needs_and_may_be_used_for(run: Run) -> None:
    table = run("models", "list").stdout
    assert table.splitlines()[0].split() == ["name", "download", "memory", "languages", "licence", "delays"]
    entries = listed(run)
    voxtral = entries["voxtral-realtime"]
    assert voxtral["delays_ms"][0] == 80  # type: ignore[index]
    assert len(voxtral["languages"]) == 13  # type: ignore[arg-type]
    for name, entry in entries.items():
        assert name in table
        assert entry["licence"]
        assert entry["memory_bytes"] > 0 < entry["download_bytes"]  # type: ignore[operator]


def test_without_a_network_a_fetch_ends_at_once_and_says_what_works(run: Run) -> None:
    refused = run("models", "pull", REPOSITORY, endpoint="http://127.0.0.1:9", expect=1)
    assert "hub_unreachable" in refused.stderr
    assert "--model auto" in refused.stderr


def test_a_fetch_that_is_interrupted_says_how_to_go_on_and_then_goes_on(
    run: Run, hub: PlayedHub, environment: dict[str, str]
) -> None:
    hub.stall_after = 15_000_000
    # Tests that are started in the background may ignore the signal of Ctrl+C, and their children with them.
    command = ["env", "--default-signal=INT", *SAYSO, "models", "pull", "base.en"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as child:
        try:
            assert hub.stalled.wait(BOUND_S)
            # What came is written in pieces of 10 MiB, so one of them is there or will be in a moment.
            part = Path(environment["SAYSO_MODELS"])
            wait_for(lambda: [path for path in part.rglob("*.part") if path.stat().st_size], "a part is written")
            child.send_signal(signal.SIGINT)
            _, told = child.communicate(timeout=BOUND_S)
        finally:
            child.kill()
    assert child.returncode == 1
    assert "sayso models pull base.en" in told
    assert "Traceback" not in told
    hub.stall_after = None
    hub.asked.clear()
    folder = Path(run("models", "pull", "base.en").stdout.strip())
    assert hub.ranges("model.bin") == ["bytes=10485760-"]
    assert (folder / "model.bin").read_bytes() == WEIGHTS


def test_each_fault_is_one_line_with_a_code(run: Run, hub: PlayedHub) -> None:
    assert "model_not_found" in run("models", "pull", "someone/else", expect=1).stderr
    assert "model_not_found" in run("models", "pull", "no such name", expect=1).stderr
    assert "model_packaged" in run("models", "remove", "tiny.en", expect=1).stderr
    hub.spoilt.add("model.safetensors")
    assert "model_wrong_hash" in run("models", "pull", REPOSITORY, expect=1).stderr


@pytest.mark.engine
def test_a_text_model_alone_is_not_served_and_the_reason_is_told(run: Run, tiny: Path) -> None:
    refused = run("serve", "--port", "0", "--model", str(tiny), expect=1)
    assert "engine_failed" in refused.stderr
    assert "listening" not in refused.stdout
    assert "cannot transcribe" in refused.stderr


def test_a_program_that_fetches_reads_how_far_it_is_and_ends_it_by_closing_the_input(
    run: Run, hub: PlayedHub, environment: dict[str, str]
) -> None:
    hub.stall_after = 15_000_000
    command = [*SAYSO, "models", "pull", "base.en", "--json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            told = json.loads(child.stdout.readline())
            assert 0 <= told["done_bytes"] <= told["total_bytes"] == len(WEIGHTS)
            assert hub.stalled.wait(BOUND_S)
            child.stdin.close()
            assert child.wait(BOUND_S) == 130
        finally:
            child.kill()
    hub.stall_after = None
    lines = run("models", "pull", "base.en", "--json", piped=True).stdout.splitlines()
    assert json.loads(lines[-2])["done_bytes"] == len(WEIGHTS)
    assert Path(json.loads(lines[-1])["folder"]).is_dir()
    assert json.loads(run("models", "remove", "base.en", "--json").stdout) == {"removed_bytes": len(WEIGHTS)}


def test_a_program_reads_faults_with_their_code(run: Run) -> None:
    for arguments in (("pull", "someone/else"), ("speed", "base.en"), ("remove", "base.en")):
        told = json.loads(run("models", *arguments, "--json", expect=1, piped=True).stdout)
        assert told["error"]["code"] == "model_not_found"
        assert told["error"]["message"]


@pytest.mark.engine
def test_a_model_is_measured_in_a_process_of_the_engine(run: Run) -> None:
    told = json.loads(
        run("models", "speed", "tiny.en", "--json", "--device", "cpu", "--threads", "1", piped=True).stdout
    )
    assert (told["model"], told["device"], told["threads"]) == ("tiny.en", "cpu", 1)
    assert told["factor"] > 0
    assert "for each second of speech" in run("models", "speed", "auto", "--device", "cpu").stdout
    missing = run("models", "speed", "tiny.en", "--device", "abacus", "--json", expect=1, piped=True)
    assert json.loads(missing.stdout)["error"]["code"] == "device_missing"
