"""The tests' own speech and noises: of the promised length, level and sameness, and really spoken."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
import speech
from noises import key_clicks, music, silence, white_noise
from speech import COMMANDS, RATE, VOICES, recording, recording_text, say, say_to_file, word_times

NOISES = {"silence": silence, "white noise": white_noise, "key clicks": key_clicks, "music": music}


def rms(samples: speech.Samples) -> float:
    return float(np.sqrt(np.mean(np.square(samples))))


def test_there_are_sixty_commands_of_0_6_to_3_seconds() -> None:
    lengths = {(each.text, each.voice): len(each.samples) / RATE for each in COMMANDS}
    assert len(lengths) == 60
    assert {key: length for key, length in lengths.items() if not 0.6 <= length <= 3.0} == {}


@pytest.mark.parametrize("voice", VOICES)
def test_each_voice_speaks_without_clipping(voice: str) -> None:
    samples = say("switch to terminal", voice)
    assert samples.dtype == np.float32
    assert np.abs(samples).max() == pytest.approx(0.5, abs=0.01)
    assert rms(samples) > 0.03


def test_voices_differ_and_a_faster_one_is_shorter() -> None:
    spoken = {voice: say("close this window", voice) for voice in VOICES}
    assert len({samples.tobytes() for samples in spoken.values()}) == len(VOICES)
    assert len(spoken["hibari-fast"]) < len(spoken["hibari"]) < len(spoken["hibari-slow"])
    assert len(spoken["american-fast"]) < len(spoken["american"])


@pytest.mark.parametrize("voice", ["hibari", "american"])
def test_speech_made_anew_is_the_same(voice: str, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    kept = say("volume up", voice)
    monkeypatch.setattr(speech, "_CACHE", tmp_path)
    np.testing.assert_array_equal(say("volume up", voice), kept)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_spoken_file_is_16_khz_mono() -> None:
    facts = soundfile.info(say_to_file("mute"))
    assert (facts.samplerate, facts.channels, facts.subtype) == (RATE, 1, "PCM_16")


@pytest.mark.parametrize(("name", "seconds", "start"), [("beckett", 9.96, "Ever tried."), ("two_cities", 28.8, "It")])
def test_recordings_have_their_length_words_and_times(name: str, seconds: float, start: str) -> None:
    samples = recording(name)
    assert len(samples) / RATE == pytest.approx(seconds, abs=0.05)
    assert recording_text(name).startswith(start)
    times = [time for _, begin, end in word_times(name) for time in (begin, end)]
    assert times == sorted(times)
    assert times[-1] <= seconds


@pytest.mark.parametrize("name", NOISES)
def test_a_noise_has_the_length_asked_for_and_does_not_clip(name: str) -> None:
    samples = NOISES[name](7.25)
    assert samples.dtype == np.float32
    assert len(samples) == 7.25 * RATE
    assert np.abs(samples).max() < 1.0


@pytest.mark.parametrize("name", ["white noise", "key clicks", "music"])
def test_a_noise_is_the_same_for_the_same_seed_only(name: str) -> None:
    noise = NOISES[name]
    np.testing.assert_array_equal(noise(3.0, seed=5), noise(3.0, seed=5))
    assert not np.array_equal(noise(3.0, seed=5), noise(3.0, seed=6))
    assert rms(noise(3.0)) > 0.005


def test_white_noise_has_the_level_asked_for() -> None:
    assert 20 * np.log10(rms(white_noise(5.0, -30.0))) == pytest.approx(-30, abs=0.1)


def test_key_clicks_are_short_and_music_goes_on() -> None:
    def share_of_loud_moments(samples: speech.Samples) -> float:
        frames = samples[: len(samples) // 160 * 160].reshape(-1, 160)
        return float((np.sqrt((frames**2).mean(axis=1)) > 0.02).mean())

    assert 0.02 < share_of_loud_moments(key_clicks(20.0)) < 0.4
    assert share_of_loud_moments(music(20.0)) > 0.9
