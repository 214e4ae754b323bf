"""Sizes of a Voxtral Realtime model, read from transformers' ``config.json`` or the original ``params.json``.

Pure: no torch. Both files describe the same network: a causal audio encoder at 50 frames a second, four of which make
one embedding, and a decoder that takes one position every 80 ms.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.engine.errors import EngineError

CONFIG = "config.json"
PARAMS = "params.json"
MODEL_TYPE = "voxtral_realtime"
FRAMES_PER_POSITION = 4
"""Encoder frames that make one position of the decoder."""
_DEFAULT_THETA = 10_000.0
"""What transformers takes when the file names none; the published model says 1e6."""
_DEFAULT_MEL_MAX = 1.5


@dataclass(frozen=True)
class StackShape:
    """One stack of layers: the audio encoder or the text decoder."""

    width: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    inner: int
    """Width inside the feed-forward part."""
    window: int
    """Positions that a query sees, itself included."""
    theta: float
    epsilon: float

    @property
    def grouped(self) -> int:
        """Query heads that share one key head."""
        return self.heads // self.kv_heads


@dataclass(frozen=True)
class VoxtralShape:
    """The whole model. ``mel_max`` is the constant loudest log-mel value that features are floored against."""

    encoder: StackShape
    decoder: StackShape
    mel_bands: int
    vocabulary: int
    condition_width: int = 32
    """Inner width of the two small layers that turn the delay into a scale."""
    mel_max: float = _DEFAULT_MEL_MAX


def read_shape(folder: Path) -> VoxtralShape:
    """The sizes of the model in ``folder``. Raises EngineError ``model_not_found`` or ``model_damaged``."""
    for name, parse in ((CONFIG, shape_from_config), (PARAMS, _from_params)):
        path = folder / name
        if not path.is_file():
            continue
        try:
            shape = parse(json.loads(path.read_text("utf-8")))
            _check(shape)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EngineError("model_damaged", f"{path} cannot be read: {error!r}.") from error
        return shape
    raise EngineError("model_not_found", f"{folder} holds no Voxtral Realtime model: no {CONFIG} and no {PARAMS}.")


def is_realtime_params(params: Mapping[str, Any]) -> bool:
    """Whether an original ``params.json`` is of this kind: a causal audio encoder beside the text model."""
    try:
        return bool(params["multimodal"]["whisper_model_args"]["encoder_args"]["causal"])
    except (KeyError, TypeError):
        return False


def shape_from_config(config: Mapping[str, Any]) -> VoxtralShape:
    audio, text = config["audio_config"], config["text_config"]
    if int(config.get("downsample_factor", FRAMES_PER_POSITION)) != FRAMES_PER_POSITION:
        raise ValueError(f"downsample_factor must be {FRAMES_PER_POSITION}")
    encoder = StackShape(
        width=int(audio["hidden_size"]),
        layers=int(audio["num_hidden_layers"]),
        heads=int(audio["num_attention_heads"]),
        kv_heads=int(audio["num_attention_heads"]),
        head_width=int(audio["head_dim"]),
        inner=int(audio["intermediate_size"]),
        window=int(audio["sliding_window"]),
        theta=_theta(audio),
        epsilon=float(audio.get("rms_norm_eps", 1e-5)),
    )
    decoder = StackShape(
        width=int(text["hidden_size"]),
        layers=int(text["num_hidden_layers"]),
        heads=int(text["num_attention_heads"]),
        kv_heads=int(text["num_key_value_heads"]),
        head_width=int(text.get("head_dim") or text["hidden_size"] // text["num_attention_heads"]),
        inner=int(text["intermediate_size"]),
        window=int(text["sliding_window"]),
        theta=_theta(text),
        epsilon=float(text.get("rms_norm_eps", 1e-5)),
    )
    return VoxtralShape(encoder, decoder, int(audio.get("num_mel_bins", 128)), int(text["vocab_size"]))


def _from_params(params: Mapping[str, Any]) -> VoxtralShape:
    if not is_realtime_params(params):
        raise ValueError("it describes no model with a causal audio encoder")
    whisper = params["multimodal"]["whisper_model_args"]
    audio, spectrum = whisper["encoder_args"], whisper["encoder_args"]["audio_encoding_args"]
    if int(whisper["downsample_args"]["downsample_factor"]) != FRAMES_PER_POSITION:
        raise ValueError(f"downsample_factor must be {FRAMES_PER_POSITION}")
    return VoxtralShape(
        _stack(audio, int(audio.get("n_kv_heads") or audio["n_heads"])),
        _stack(params, int(params["n_kv_heads"])),
        int(spectrum["num_mel_bins"]),
        int(params["vocab_size"]),
        int(params.get("ada_rms_norm_t_cond_dim", 32)),
        float(spectrum.get("global_log_mel_max", _DEFAULT_MEL_MAX)),
    )


def _stack(args: Mapping[str, Any], kv_heads: int) -> StackShape:
    return StackShape(
        width=int(args["dim"]),
        layers=int(args["n_layers"]),
        heads=int(args["n_heads"]),
        kv_heads=kv_heads,
        head_width=int(args["head_dim"]),
        inner=int(args["hidden_dim"]),
        window=int(args["sliding_window"]),
        theta=float(args.get("rope_theta", _DEFAULT_THETA)),
        epsilon=float(args.get("norm_eps", 1e-5)),
    )


def _theta(config: Mapping[str, Any]) -> float:
    rope = config.get("rope_parameters") or {}
    if rope.get("rope_type", "default") != "default":
        raise ValueError(f"rope_type {rope['rope_type']!r} is not known")
    return float(rope.get("rope_theta") or config.get("rope_theta") or _DEFAULT_THETA)


def _check(shape: VoxtralShape) -> None:
    for name, stack in (("encoder", shape.encoder), ("decoder", shape.decoder)):
        if min(stack.width, stack.layers, stack.heads, stack.head_width, stack.inner, stack.window) < 1:
            raise ValueError(f"a size of the {name} is not positive")
        if stack.heads % stack.kv_heads or stack.head_width % 2:
            raise ValueError(f"the {name} has {stack.heads} heads for {stack.kv_heads}, of width {stack.head_width}")
