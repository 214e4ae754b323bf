"""Which small model is advised for which measured speed, and how figures are remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.app.engine_speed import Speeds, advise, machine, seconds


@pytest.mark.parametrize(
    ("tiny", "base", "advised", "certain", "because"),
    [
        (0.1, 0.2, True, True, "it takes 0.20 s for each second of speech, which leaves room"),
        (0.1, 0.4, True, True, "leaves room"),
        (0.1, 0.5, False, True, "keeps up, but the computer would be busy"),
        (0.1, 1.3, False, True, "1.3 s for each second of speech: the words would come late"),
        (0.1, None, True, False, "should take about 0.21 s"),
        (0.3, None, False, False, "keeps up, but"),
        (0.8, None, False, False, "late"),
        (None, 0.3, True, True, "leaves room"),
        (None, None, False, False, "not been measured"),
    ],
)
def test_base_is_advised_where_it_leaves_room_and_the_reason_is_told(
    tiny: float | None, base: float | None, advised: bool, certain: bool, because: str
) -> None:
    advice = advise(tiny, base)
    assert (advice.base, advice.certain) == (advised, certain)
    assert because in advice.reason


def test_a_slower_machine_is_never_advised_the_larger_model() -> None:
    for known in (lambda factor: advise(factor, None), lambda factor: advise(None, factor)):
        advised = [known(factor / 20).base for factor in range(1, 60)]
        assert advised == sorted(advised, reverse=True)


def test_seconds_have_as_many_digits_as_count() -> None:
    assert [seconds(factor) for factor in (0.0412, 0.999, 1.26, 12.0)] == ["0.04 s", "1.00 s", "1.3 s", "12.0 s"]


def test_a_figure_is_remembered_for_its_model_device_and_threads(tmp_path: Path) -> None:
    speeds = Speeds(tmp_path)
    assert speeds.keep("tiny.en", "auto", 0, 0.25)
    assert speeds.keep("base", "auto", 0, 0.5)
    again = Speeds(tmp_path)
    assert again.get("base", "auto", 0) is None
    again.load()
    assert (again.get("tiny.en", "auto", 0), again.get("base", "auto", 0)) == (0.25, 0.5)
    assert again.get("base", "cpu", 0) is None
    assert again.get("base", "auto", 2) is None
    assert machine() in (tmp_path / "speeds.json").read_text()


def test_figures_that_cannot_be_read_or_written_are_measured_again(tmp_path: Path) -> None:
    (tmp_path / "speeds.json").write_text("{")
    speeds = Speeds(tmp_path)
    speeds.load()
    assert speeds.get("tiny.en", "auto", 0) is None
    (tmp_path / "file").touch()
    unwritable = Speeds(tmp_path / "file")
    assert not unwritable.keep("tiny.en", "auto", 0, 0.25)
    assert unwritable.get("tiny.en", "auto", 0) == 0.25
