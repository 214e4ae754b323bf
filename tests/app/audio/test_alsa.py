from pathlib import Path

import pytest

from sayso.app.audio.alsa import load_sound_servers_only


@pytest.fixture
def system(tmp_path: Path) -> Path:
    folder = tmp_path / "alsa-lib"
    folder.mkdir()
    for name in ("pcm_pulse", "conf_pulse", "pcm_pipewire", "pcm_a52", "rate_lavrate"):
        (folder / f"libasound_module_{name}.so").touch()
    return folder


def test_only_the_plugins_of_sound_servers_are_left(system: Path, tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    assert load_sound_servers_only(environment, tmp_path / "links", system)
    links = sorted(path.name for path in Path(environment["ALSA_PLUGIN_DIR"]).iterdir())
    assert links == [f"libasound_module_{name}.so" for name in ("conf_pulse", "pcm_pipewire", "pcm_pulse")]


def test_links_follow_the_system_from_start_to_start(system: Path, tmp_path: Path) -> None:
    load_sound_servers_only({}, tmp_path / "links", system)
    (system / "libasound_module_pcm_pipewire.so").unlink()
    (tmp_path / "links" / "libasound_module_pcm_pulse.so").unlink()
    (tmp_path / "links" / "libasound_module_pcm_pulse.so").symlink_to(tmp_path / "gone")
    load_sound_servers_only({}, tmp_path / "links", system)
    links = sorted((tmp_path / "links").iterdir())
    assert [path.name.split("_", 2)[2] for path in links] == ["conf_pulse.so", "pcm_pulse.so"]
    assert all(path.exists() for path in links)


def test_a_folder_chosen_by_the_user_is_left_alone(system: Path, tmp_path: Path) -> None:
    environment = {"ALSA_PLUGIN_DIR": "/opt/alsa"}
    assert not load_sound_servers_only(environment, tmp_path / "links", system)
    assert environment == {"ALSA_PLUGIN_DIR": "/opt/alsa"}


def test_without_plugins_or_a_place_for_links_all_stays_as_it_was(system: Path, tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    (tmp_path / "file").touch()
    assert not load_sound_servers_only(environment, tmp_path / "file" / "links", system)
    (tmp_path / "empty").mkdir()
    assert not load_sound_servers_only(environment, tmp_path / "links", tmp_path / "empty")
    assert environment == {}
