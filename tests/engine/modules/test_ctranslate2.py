from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from sayso.engine.errors import EngineError
from sayso.engine.modules import ctranslate2


def _string(text: str) -> bytes:
    return struct.pack("<H", len(text) + 1) + text.encode() + b"\0"


def _variable(name: str, value: np.ndarray, kind: int) -> bytes:
    shape = struct.pack("<B", value.ndim) + b"".join(struct.pack("<I", size) for size in value.shape)
    return _string(name) + shape + struct.pack("<BI", kind, value.nbytes) + value.tobytes()


def _file(*variables: bytes, version: int = 6) -> bytes:
    header = struct.pack("<I", version) + _string("WhisperSpec") + struct.pack("<II", 3, len(variables))
    return header + b"".join(variables) + struct.pack("<I", 1) + _string("second") + _string("first")


def _first() -> bytes:
    return _variable("first", np.arange(6, dtype=np.float16).reshape(2, 3), 4)


def test_variables_and_aliases_come_with_their_shapes(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(_file(_first(), _variable("heads", np.array(6, np.int16), 2)))
    read = ctranslate2.read(path)
    assert read.specification == "WhisperSpec"
    assert read.scalar("heads") == 6
    np.testing.assert_array_equal(read.float32("second"), np.arange(6, dtype=np.float32).reshape(2, 3))


def test_int8_weights_are_multiplied_out(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    whole = np.array([[127, -127], [64, 0]], np.int8)
    scale = np.array([127.0, 64.0], np.float32)
    path.write_bytes(_file(_first(), _variable("w", whole, 1), _variable("w_scale", scale, 0)))
    np.testing.assert_allclose(ctranslate2.read(path).float32("w"), [[1.0, -1.0], [1.0, 0.0]])


def test_bfloat16_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    bits = (np.array([1.5, -2.0], np.float32).view(np.uint32) >> 16).astype(np.uint16)
    path.write_bytes(_file(_first(), _variable("b", bits, 5)))
    np.testing.assert_array_equal(ctranslate2.read(path).float32("b"), [1.5, -2.0])


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.98])
def test_a_file_that_is_cut_off_says_so(tmp_path: Path, share: float) -> None:
    whole = _file(_first())
    path = tmp_path / "model.bin"
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(EngineError, match="again") as caught:
        ctranslate2.read(path)
    assert caught.value.code == "model_truncated"


def test_another_file_is_not_taken_for_a_model(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(_file(_first(), version=99))
    with pytest.raises(EngineError) as caught:
        ctranslate2.read(path)
    assert caught.value.code == "model_unsupported"


@pytest.mark.parametrize("cut", [17, 30, 60, 75, -1])
def test_a_file_that_was_cut_into_parts_is_read_as_one(tmp_path: Path, cut: int) -> None:
    whole = _file(_first(), _variable("w", np.arange(8, dtype=np.float32), 0))
    parts = [tmp_path / "one", tmp_path / "two"]
    parts[0].write_bytes(whole[:cut])
    parts[1].write_bytes(whole[cut:])
    read = ctranslate2.read(*parts)
    np.testing.assert_array_equal(read.float32("second"), np.arange(6, dtype=np.float32).reshape(2, 3))
    np.testing.assert_array_equal(read.float32("w"), np.arange(8, dtype=np.float32))
    with pytest.raises(EngineError, match="again") as caught:
        ctranslate2.read(parts[0])
    assert caught.value.code == "model_truncated"
