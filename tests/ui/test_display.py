from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from sayso.ui.display import DisplayError, missing_library, require_display, require_libraries

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="displays are looked for on Linux only")


def test_no_display_at_all_says_what_to_do() -> None:
    with pytest.raises(DisplayError) as raised:
        require_display({})
    assert raised.value.code == "no_display"
    assert "sayso serve" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", [":4711", "localhost:4711.0", "nonsense", "127.0.0.1:4711"])
def test_a_display_that_does_not_answer_is_named(name: str) -> None:
    with pytest.raises(DisplayError) as raised:
        require_display({"DISPLAY": name})
    assert raised.value.code == "display_unreachable"
    assert name in str(raised.value)


def test_a_wayland_display_that_answers_is_found(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "wayland-9"))
        listening.listen()
        environment = {"WAYLAND_DISPLAY": "wayland-9", "XDG_RUNTIME_DIR": str(tmp_path), "DISPLAY": ":4711"}
        assert require_display(environment) == ("wayland",)


def test_an_x_display_over_tcp_that_answers_is_found() -> None:
    for number in range(40, 60):
        with socket.socket() as listening:
            try:
                listening.bind(("127.0.0.1", 6000 + number))
            except OSError:
                continue
            listening.listen()
            assert require_display({"DISPLAY": f"127.0.0.1:{number}"}) == ("xcb",)
            return
    pytest.fail("no free port for a display")


def test_a_platform_that_was_chosen_on_purpose_is_left_alone() -> None:
    assert require_display({"QT_QPA_PLATFORM": "offscreen"}) == ()


def test_a_missing_library_is_named_with_its_package() -> None:
    reason = "libxcb-cursor.so.0: cannot open shared object file: No such file or directory"
    assert missing_library(reason) == (
        "Qt needs the system library libxcb-cursor.so.0: install it, on Debian and Ubuntu with "
        "“sudo apt install libxcb-cursor0”."
    )
    assert "libodd.so.7" in missing_library("libodd.so.7: cannot open shared object file")
    assert "strange" in missing_library("strange")


def test_qt_on_this_machine_has_its_libraries() -> None:
    require_libraries(("xcb",))
