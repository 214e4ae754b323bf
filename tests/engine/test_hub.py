"""Fetching models from a hub: everything arrives and is checked, what broke off goes on, every fault has a code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from played_hub import PlayedHub, played_hub

from sayso.engine import catalog
from sayso.engine.errors import EngineError
from sayso.engine.hub import HubFile, Progress, pull, wanted
from sayso.engine.model_store import ModelStore

constants = pytest.importorskip("huggingface_hub.constants")

REPOSITORY = "someone/tiny-model"
WEIGHTS = bytes(range(256)) * 2000
FILES = {
    "config.json": b'{"model_type": "llama"}',
    "tokenizer.json": b"{}" * 2000,
    "model.safetensors": WEIGHTS,
    "README.md": b"read me",
    "consolidated.safetensors": b"the same weights again" * 100,
    "onnx/model.onnx": b"another form",
}
FETCHED = {"config.json", "tokenizer.json", "model.safetensors"}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[PlayedHub]:
    with played_hub({REPOSITORY: FILES}) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        # The library writes what came in pieces of this size; its own are larger than these files.
        monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 25_000)
        monkeypatch.setenv("SAYSO_MODELS", str(tmp_path / "models"))
        monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda seconds: None)
        yield hub


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models")


def code_of(store: ModelStore, repository: str = REPOSITORY) -> str:
    with pytest.raises(EngineError) as caught:
        pull(repository, store)
    return caught.value.code


def test_what_a_runner_needs_arrives_whole_and_nothing_else(hub: PlayedHub, store: ModelStore) -> None:
    told: list[Progress] = []
    folder = pull(REPOSITORY, store, told.append)
    assert {path.name for path in folder.iterdir()} == FETCHED
    assert all((folder / name).read_bytes() == FILES[name] for name in FETCHED)
    total = sum(len(FILES[name]) for name in FETCHED)
    assert told[-1] == Progress("model.safetensors", total, total)
    assert [progress.done_bytes for progress in told] == sorted(progress.done_bytes for progress in told)
    assert catalog.resolve(REPOSITORY).folder == folder


def test_a_model_that_is_here_is_not_fetched_again(hub: PlayedHub, store: ModelStore) -> None:
    folder = pull(REPOSITORY, store)
    hub.asked.clear()
    assert pull(REPOSITORY, store) == folder
    assert catalog.resolve(REPOSITORY).kind == "causal"
    assert hub.asked == []


def test_a_transfer_that_broke_off_goes_on_where_it_was(hub: PlayedHub, store: ModelStore) -> None:
    hub.break_after = 0
    assert code_of(store) == "hub_unreachable"
    hub.asked.clear()
    hub.break_after = 100_000
    folder = pull(REPOSITORY, store)
    # It is cut again and again, and each time what came is kept.
    assert hub.ranges("model.safetensors")[:3] == ["", "bytes=100000-", "bytes=200000-"]
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS


def test_another_process_goes_on_with_what_an_interrupted_one_had(hub: PlayedHub, store: ModelStore) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.file == "model.safetensors" and progress.done_bytes > 200_000:
            raise KeyboardInterrupt

    hub.break_after = 150_000
    with pytest.raises(KeyboardInterrupt):
        pull(REPOSITORY, store, interrupt)
    assert not store.holds(REPOSITORY)
    hub.break_after = None
    hub.asked.clear()
    folder = pull(REPOSITORY, store)
    [resumed] = hub.ranges("model.safetensors")
    assert resumed.startswith("bytes=")
    assert int(resumed.removeprefix("bytes=").rstrip("-")) >= 100_000
    assert hub.ranges("config.json") == [], "a file that was complete is not fetched again"
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_file_that_arrives_wrong_is_thrown_away_and_can_be_fetched_again(
    hub: PlayedHub, store: ModelStore, name: str
) -> None:
    hub.spoilt.add(name)
    assert code_of(store) == "model_wrong_hash"
    assert not store.holds(REPOSITORY)
    assert not any(path.name.startswith(name) for path in store.partial(REPOSITORY).iterdir())
    hub.spoilt.clear()
    assert (pull(REPOSITORY, store) / name).read_bytes() == FILES[name]


def test_each_fault_has_its_code(hub: PlayedHub, store: ModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert code_of(store, "someone/else") == "model_not_found"
    hub.gated.add(REPOSITORY)
    assert code_of(store) == "hub_refused"
    hub.gated.clear()
    monkeypatch.setattr("sayso.engine.hub._SPARE_BYTES", 10**18)
    assert code_of(store) == "disk_full"


def test_a_folder_that_cannot_be_written_is_named(hub: PlayedHub, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EngineError, match="SAYSO_MODELS") as caught:
        pull(REPOSITORY, ModelStore(tmp_path / "file"))
    assert caught.value.code == "store_unwritable"


def test_a_repository_without_weights_is_refused(hub: PlayedHub, store: ModelStore) -> None:
    hub.repositories = {REPOSITORY: {"config.json": b"{}"}}
    assert code_of(store) == "model_not_found"


def test_without_a_network_it_says_so_and_what_works(
    hub: PlayedHub, store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    assert code_of(store) == "hub_unreachable"
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(EngineError, match=r"HF_HUB_OFFLINE.*auto"):
        pull(REPOSITORY, store)


def test_two_fetches_of_one_model_do_not_disturb_each_other(hub: PlayedHub, store: ModelStore) -> None:
    store.root.mkdir(parents=True)
    with FileLock(store.root / ".someone--tiny-model.lock"):
        assert code_of(store) == "model_busy"
    pull(REPOSITORY, store)


def test_parts_of_files_that_the_hub_replaced_are_forgotten(hub: PlayedHub, store: ModelStore) -> None:
    partial = store.partial(REPOSITORY)
    partial.mkdir(parents=True)
    (partial / "model.safetensors.0123456789abcdef.part").write_bytes(b"old")
    (partial / "config.json").write_bytes(b'{"model_type": "older"}')
    folder = pull(REPOSITORY, store)
    assert {path.name for path in folder.iterdir()} == FETCHED
    assert (folder / "config.json").read_bytes() == FILES["config.json"]


def test_one_copy_of_the_weights_is_chosen() -> None:
    def names(*given: str) -> set[str]:
        return {file.name for file in wanted([HubFile(name, 1, "") for name in given])}

    assert names("params.json", "tekken.json", "consolidated.safetensors") == {
        "params.json",
        "tekken.json",
        "consolidated.safetensors",
    }
    shards = {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json"}
    assert names(*shards, "consolidated.safetensors", "pytorch_model.bin", ".gitattributes") == shards
    assert names("model.bin", "vocabulary.txt", "config.json") == {"model.bin", "vocabulary.txt", "config.json"}
