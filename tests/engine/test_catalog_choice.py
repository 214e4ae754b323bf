"""What ``auto`` is: a function of the machine and of what is installed."""

from __future__ import annotations

import pytest

from sayso.engine.catalog_choice import GIB, Machine, choose, memory_need, suits
from sayso.engine.catalog_entries import ENTRIES, Entry, find

LAPTOP = Machine(cores=4, memory_bytes=8 * GIB)
WORKSTATION = Machine(cores=16, memory_bytes=64 * GIB)
GPU = Machine(cores=8, memory_bytes=32 * GIB, gpu_bytes=24 * GIB)
SMALL_GPU = Machine(cores=8, memory_bytes=32 * GIB, gpu_bytes=6 * GIB)


def entries(*names: str) -> list[Entry]:
    found = [find(name) for name in names]
    assert None not in found
    return found  # type: ignore[return-value]


SPEECH = [entry for entry in ENTRIES if entry.hears]


@pytest.mark.parametrize(
    ("machine", "names", "chosen"),
    [
        (Machine(2, 4 * GIB), ("tiny.en",), "tiny.en"),
        (Machine(1, 4 * GIB), ("tiny.en", "base.en", "small.en"), "base.en"),
        (Machine(4, GIB), ("tiny.en", "base.en", "small.en"), "tiny.en"),
        (LAPTOP, ("tiny.en", "base.en", "large-v3"), "base.en"),
        (WORKSTATION, ("tiny.en", "base.en", "small.en", "voxtral-realtime"), "small.en"),
        (GPU, ("tiny.en", "large-v3", "voxtral-realtime"), "voxtral-realtime"),
        (GPU, ("tiny.en", "large-v3"), "large-v3"),
        (SMALL_GPU, ("tiny.en", "large-v3", "voxtral-realtime"), "large-v3"),
        (Machine(1, 2 * GIB), ("medium", "large-v3"), "medium"),
    ],
)
def test_the_best_installed_model_that_keeps_up_is_chosen(
    machine: Machine, names: tuple[str, ...], chosen: str
) -> None:
    assert choose(machine, entries(*names)).name == chosen


def test_more_machine_never_means_a_smaller_model() -> None:
    machines = [Machine(cores, cores * 2 * GIB) for cores in (1, 2, 4, 8, 16, 32, 64)]
    sizes = [choose(machine, SPEECH).parameters for machine in machines]
    assert sizes == sorted(sizes)


def test_the_order_of_what_is_installed_does_not_matter() -> None:
    for machine in (LAPTOP, WORKSTATION, GPU, SMALL_GPU):
        assert choose(machine, SPEECH).parameters == choose(machine, SPEECH[::-1]).parameters


def test_a_text_model_never_suits() -> None:
    assert not any(suits(entry, GPU) for entry in ENTRIES if not entry.hears)


def test_a_need_grows_with_the_model_and_a_streaming_model_counts_a_session() -> None:
    tiny, large, voxtral = entries("tiny.en", "large-v3", "voxtral-realtime")
    assert memory_need(tiny) < memory_need(large) < memory_need(voxtral)
    assert memory_need(voxtral, gpu=True) < 16 * GIB


def test_entries_are_complete_and_their_names_are_unique() -> None:
    names = [entry.name for entry in ENTRIES]
    assert len(set(names)) == len(names)
    for entry in ENTRIES:
        assert entry.languages
        assert entry.licence
        assert entry.parameters > 0 < entry.download_bytes
        assert entry.repository or entry.package
