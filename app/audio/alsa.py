"""Which of ALSA's plugins are loaded while PortAudio looks for microphones.

PortAudio opens every device that ALSA can name, and Debian's plugin package names encoders and rate converters too:
they load a video codec library (17 MB resident here) into a program that only records. ``ALSA_PLUGIN_DIR`` (alsa-lib
1.1.7) says where plugins are; it is pointed at a folder that links to those of sound servers only. Called once, before
any thread, by whoever starts the process.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path

_SYSTEM = ("lib/*/alsa-lib", "lib64/alsa-lib", "lib/alsa-lib")
_SOUND_SERVERS = ("pulse", "pipewire", "jack")
_VARIABLE = "ALSA_PLUGIN_DIR"


def load_sound_servers_only(environment: MutableMapping[str, str], folder: Path, system: Path | None = None) -> bool:
    """Set the variable in ``environment``; ``folder`` is made for the links. False where all stays as it was.

    A variable that is set already, a system without plugins, and a folder that cannot be written leave it unset: then
    everything works as before and only costs more memory.
    """
    source = system or _system_folder()
    if _VARIABLE in environment or source is None:
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        wanted = {path.name: path for name in _SOUND_SERVERS for path in source.glob(f"libasound_module_*_{name}.so")}
        for old in folder.iterdir():
            if old.name not in wanted:
                old.unlink()
        for name, path in wanted.items():
            if not (folder / name).exists():
                (folder / name).unlink(missing_ok=True)
                (folder / name).symlink_to(path)
    except OSError:
        return False
    if not wanted:
        return False
    environment[_VARIABLE] = str(folder)
    return True


def _system_folder() -> Path | None:
    return next((found for pattern in _SYSTEM for found in sorted(Path("/usr").glob(pattern))), None)
