"""Faults of the microphone and of sound files."""

from __future__ import annotations

from sayso.app.errors import AppError


class AudioError(AppError):
    """Codes: sound_system_missing, sound_system_stuck, sound_system_failed, microphone_busy, format_refused,
    bad_sound_file.
    """
