from __future__ import annotations

import json

import pytest
from tiny_voxtral import SMALL, TINY, config, params

from sayso.engine.errors import EngineError
from sayso.engine.modules.voxtral_shape import is_realtime_params, read_shape


@pytest.mark.parametrize("sizes", [TINY, SMALL])
def test_both_layouts_describe_the_same_model(tmp_path, sizes) -> None:
    for name, written in (("config.json", config(sizes)), ("params.json", params(sizes))):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text(json.dumps(written))
    shape = read_shape(tmp_path / "config.json")
    assert shape == read_shape(tmp_path / "params.json")
    assert (shape.encoder.window, shape.decoder.window) == (sizes.encoder_window, sizes.window)
    assert (shape.decoder.theta, shape.decoder.grouped) == (1e6, sizes.heads // sizes.kv_heads)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"text_config": {}}, "model_damaged"),
        ({"downsample_factor": 2}, "model_damaged"),
        ({"audio_config": {**config(TINY)["audio_config"], "sliding_window": None}}, "model_damaged"),  # type: ignore[dict-item]
        ({"text_config": {**config(TINY)["text_config"], "num_key_value_heads": 5}}, "model_damaged"),  # type: ignore[dict-item]
    ],
)
def test_sizes_that_make_no_sense_are_refused(tmp_path, change, code) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**config(TINY), **change}))
    with pytest.raises(EngineError) as fault:
        read_shape(tmp_path)
    assert fault.value.code == code


def test_a_folder_without_either_file_holds_no_model(tmp_path) -> None:
    with pytest.raises(EngineError) as fault:
        read_shape(tmp_path)
    assert fault.value.code == "model_not_found"


def test_only_a_causal_encoder_makes_it_a_realtime_model() -> None:
    described = params(TINY)
    assert is_realtime_params(described)
    described["multimodal"]["whisper_model_args"]["encoder_args"]["causal"] = False  # type: ignore[index]
    assert not is_realtime_params(described)
    assert not is_realtime_params({"dim": 4096})
    assert not is_realtime_params({"multimodal": None})
