"""Sound files as blocks and as pieces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from sayso.app.audio.errors import AudioError
from sayso.app.audio.sound_file import open_sound_file, pieces

DATA = Path(__file__).parents[2] / "data"


def test_a_long_file_is_cut_in_pauses_and_nothing_is_left_out(tmp_path: Path) -> None:
    speech, rate = soundfile.read(DATA / "two_cities.wav", dtype="float32")
    soundfile.write(tmp_path / "long.wav", np.concatenate([speech, speech, speech]), rate, subtype="FLOAT")
    cut = list(pieces(open_sound_file(tmp_path / "long.wav")))
    assert np.array_equal(np.concatenate(cut), np.concatenate([speech, speech, speech]))
    assert len(cut) >= 3
    for piece in cut[:-1]:
        assert 20 <= len(piece) / rate <= 40
        assert np.sqrt(np.mean(piece[-1600:] ** 2)) < 0.01, "it was cut in a word"


def test_sound_without_a_pause_is_cut_all_the_same(tmp_path: Path) -> None:
    samples = np.random.default_rng(0).normal(0, 0.3, 90 * 16_000).clip(-1, 1).astype(np.float32)
    soundfile.write(tmp_path / "noise.wav", samples, 16_000, subtype="FLOAT")
    cut = list(pieces(open_sound_file(tmp_path / "noise.wav")))
    assert all(len(piece) <= 40 * 16_000 for piece in cut)
    assert np.array_equal(np.concatenate(cut), samples)


@pytest.mark.parametrize(("rate", "channels"), [(8000, 1), (44100, 2), (48000, 6)])
def test_any_rate_and_channels_are_read(tmp_path: Path, rate: int, channels: int) -> None:
    samples = np.zeros((rate * 3, channels), np.float32)
    soundfile.write(tmp_path / "any.wav", samples, rate)
    file = open_sound_file(tmp_path / "any.wav")
    assert (file.rate, file.channels, file.seconds) == (rate, channels, 3.0)
    assert sum(len(block) for block in file.blocks(0.04)) == len(samples)
    assert sum(map(len, pieces(file))) == pytest.approx(48_000, abs=2)


@pytest.mark.parametrize("content", [b"", b"no sound", b"RIFF\x00\x00\x00\x00WAVE"])
def test_what_is_no_sound_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.wav"
    path.write_bytes(content)
    with pytest.raises(AudioError, match=r"broken\.wav") as caught:
        open_sound_file(path)
    assert caught.value.code == "bad_sound_file"


def test_a_missing_file_is_named() -> None:
    with pytest.raises(AudioError, match=r"nowhere\.wav"):
        open_sound_file(Path("/nowhere.wav"))
