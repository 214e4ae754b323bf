"""Folders of fetched models: complete or not there, whatever was left in part."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.engine import catalog
from sayso.engine.catalog_choice import GIB, Machine
from sayso.engine.errors import EngineError
from sayso.engine.model_store import ModelStore, default_root
from sayso.engine.packaged import PackagedModel, WeightFile

BASE, LARGE = "Systran/faster-whisper-base.en", "Systran/faster-whisper-large-v3"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelStore:
    monkeypatch.setenv("SAYSO_MODELS", str(tmp_path / "models"))
    return ModelStore()


def put(store: ModelStore, repository: str) -> Path:
    folder = store.folder(repository)
    folder.mkdir(parents=True)
    (folder / "model.bin").write_bytes(b"weights")
    return folder


def test_an_empty_store_holds_nothing_and_makes_no_folder(store: ModelStore) -> None:
    assert store.repositories() == []
    assert not store.holds(BASE)
    assert not store.remove(BASE)
    assert not store.root.exists()


def test_a_model_in_part_is_not_there_but_can_be_removed(store: ModelStore) -> None:
    store.partial(BASE).mkdir(parents=True)
    (store.partial(BASE) / "model.bin.part").write_bytes(b"half")
    assert not store.holds(BASE)
    assert store.repositories() == []
    assert store.size(BASE) == 4
    assert store.remove(BASE)
    assert store.size(BASE) == 0


def test_models_are_named_by_their_ids(store: ModelStore) -> None:
    put(store, BASE)
    put(store, "someone/a--strange-name")
    assert store.repositories() == [BASE, "someone/a--strange-name"]


def test_the_root_is_the_users_unless_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SAYSO_MODELS", raising=False)
    assert default_root().parts[-2:] == ("sayso", "models")


def test_a_fetched_model_is_found_by_its_name_and_by_its_id_without_a_network(store: ModelStore) -> None:
    folder = put(store, BASE)
    for name in ("base.en", BASE):
        files = catalog.resolve(name)
        assert (files.kind, files.folder, files.name) == ("whisper", folder, name)


@pytest.mark.parametrize(
    ("machine", "chosen"),
    [
        (Machine(8, 16 * GIB), "base.en"),
        (Machine(64, 64 * GIB), "large-v3"),
        (Machine(2, 8 * GIB, 24 * GIB), "large-v3"),
    ],
)
def test_auto_is_what_suits_the_machine_among_what_is_here(
    store: ModelStore, monkeypatch: pytest.MonkeyPatch, machine: Machine, chosen: str
) -> None:
    put(store, BASE)
    put(store, LARGE)
    asked: list[str] = []

    def this_machine(device: str) -> Machine:
        asked.append(device)
        return machine

    monkeypatch.setattr(catalog, "this_machine", this_machine)
    assert catalog.resolve("auto", "cuda").name == chosen
    assert asked == ["cuda"]


def test_without_any_model_auto_says_what_to_install(store: ModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PackagedModel, "folder", None)
    monkeypatch.setattr(WeightFile, "place", None)
    with pytest.raises(EngineError, match="offline") as caught:
        catalog.resolve("auto")
    assert caught.value.code == "extra_missing"
