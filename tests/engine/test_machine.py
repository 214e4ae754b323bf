"""What the machine is, asked of the system: a GPU counts when NVIDIA's tool tells its memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.engine.machine import gpu_memory, this_machine

GIB = 1 << 30


def tool(folder: Path, script: str) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / "nvidia-smi"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_the_largest_gpu_counts(folder: Path) -> None:
    tool(folder, "echo 8192; echo 24576")
    assert gpu_memory() == 24 * GIB
    assert this_machine().gpu_bytes == this_machine("cuda:0").gpu_bytes == 24 * GIB


def test_a_gpu_that_is_not_to_be_used_does_not_count(folder: Path) -> None:
    tool(folder, "echo 24576")
    assert this_machine("cpu").gpu_bytes == 0


@pytest.mark.parametrize("script", ["exit 9", "echo 'No devices were found'", "echo '[N/A]'"])
def test_a_tool_that_fails_is_no_gpu(folder: Path, script: str) -> None:
    tool(folder, script)
    assert gpu_memory() == 0


def test_this_machine_has_cores_and_memory() -> None:
    machine = this_machine("cpu")
    assert machine.cores >= 1
    assert machine.memory_bytes > 100 * 1024 * 1024
