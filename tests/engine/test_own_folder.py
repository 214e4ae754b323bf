"""Folders that somebody chose: models are known without being loaded, all else is refused with a reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tiny_causal
import tiny_voxtral
from safetensors.numpy import save_file

from sayso.engine.errors import EngineError
from sayso.engine.own_folder import look_into
from sayso.engine.packaged import find_packaged

WHISPER = {"model_type": "whisper", "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "vocab_size": 10}
WHISPER |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2}


def refused(folder: Path) -> tuple[str, str]:
    with pytest.raises(EngineError) as caught:
        look_into(str(folder))
    return caught.value.code, caught.value.message


@pytest.fixture
def fine_tuned(tmp_path: Path) -> Path:
    """A Whisper as a training run leaves it, with few weights."""
    folder = tmp_path / "whisper-mine"
    folder.mkdir()
    save_file(
        {"model.a": np.zeros((20, 5), np.float32), "model.b": np.zeros(7, np.float16)}, folder / "model.safetensors"
    )
    (folder / "config.json").write_text(json.dumps(WHISPER))
    tokens = [{"id": 50257, "content": "<|endoftext|>"}, {"id": 50258, "content": "<|startoftranscript|>"}]
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": tokens}))
    return folder


def test_a_packaged_folder_is_an_english_whisper() -> None:
    packaged = find_packaged("tiny.en")
    assert packaged is not None
    if packaged.folder is None:
        pytest.skip("the package with tiny.en is not installed")
    model = look_into(str(packaged.folder))
    assert (model.entry.kind, model.entry.languages) == ("whisper", ("en",))
    assert 35e6 < model.entry.parameters < 45e6


def test_a_fine_tuned_whisper_is_known_with_its_size(fine_tuned: Path) -> None:
    model = look_into(str(fine_tuned))
    assert (model.files.kind, model.entry.name, model.entry.parameters) == ("whisper", "whisper-mine", 107)
    assert model.entry.languages == ("many",)
    assert model.entry.download_bytes == (fine_tuned / "model.safetensors").stat().st_size


@pytest.mark.parametrize("original", [False, True])
def test_a_voxtral_folder_is_known_in_both_layouts(tmp_path: Path, original: bool) -> None:
    model = look_into(str(tiny_voxtral.build(tmp_path / "vox", original=original)))
    assert model.entry.kind == "voxtral_realtime"
    assert len(model.entry.languages) == 13
    assert model.entry.parameters > 100_000


def test_a_model_that_continues_text_is_told_apart(tmp_path: Path) -> None:
    code, message = refused(tiny_causal.build(tmp_path / "llama"))
    assert code == "model_cannot_hear"
    assert "continues text and cannot hear" in message


def _drop(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _cut(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])


def _garble(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\xff" * 100)


def _other(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "wav2vec2"}))


def _half(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "whisper"}))


def _foreign_words(folder: Path) -> None:
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": []}))


def _pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def _another_program_s(folder: Path) -> None:
    (folder / "model.bin").write_bytes(b"somebody's own format, of 40 bytes or so")


@pytest.mark.parametrize(
    ("spoil", "code", "says"),
    [
        (_drop("config.json"), "model_damaged", "config.json is missing"),
        (_drop("tokenizer.json"), "model_damaged", "tokenizer.json is missing"),
        (_drop("model.safetensors"), "model_not_found", "holds no model"),
        (_pickled, "model_not_found", "save it as safetensors"),
        (_cut, "model_truncated", "is cut off"),
        (_garble, "model_damaged", "no safetensors file"),
        (_other, "model_unsupported", "'wav2vec2', which cannot be run"),
        (_half, "model_damaged", "does not tell its d_model"),
        (_foreign_words, "model_damaged", "not of a Whisper model"),
        (_another_program_s, "model_unsupported", "no CTranslate2 model"),
    ],
)
def test_what_is_wrong_with_a_folder_is_told(
    fine_tuned: Path, spoil: Callable[[Path], None], code: str, says: str
) -> None:
    spoil(fine_tuned)
    found, message = refused(fine_tuned)
    assert found == code
    assert says in message


def test_what_is_no_folder_or_cannot_be_read_is_told(fine_tuned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(fine_tuned / "config.json")[0] == "folder_missing"
    shutil.move(fine_tuned, fine_tuned.with_name("moved"))
    assert refused(fine_tuned) == (
        "folder_missing",
        f"There is no folder {fine_tuned}. If it is on another disk, connect that.",
    )

    def forbid(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    # Whoever runs the tests may be allowed to read everything.
    monkeypatch.setattr(Path, "iterdir", forbid)
    code, message = refused(fine_tuned.with_name("moved"))
    assert code == "folder_unreadable"
    assert "may not be read by you" in message
