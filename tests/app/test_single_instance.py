"""One Sayso for each user: real locks, sockets and processes in a folder of the test's own."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sayso.app.single_instance import CLOSING, ControlError, Instance, ask, claim, claim_or_show, folder, leave

HOLD = """
import sys
from pathlib import Path
from sayso.app.single_instance import claim
assert claim(Path(sys.argv[1])) is not None
print("claimed", flush=True)
sys.stdin.read()
"""


@contextmanager
def answering(instance: Instance, answer: bytes, asked: list[bytes]) -> Iterator[None]:
    """The instance answers its next client with this."""
    instance.listening.settimeout(10)

    def serve() -> None:
        connection, _ = instance.listening.accept()
        with connection:
            asked.append(connection.recv(128))
            connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    yield
    thread.join(10)


def test_the_folder_can_be_entered_by_its_user_only(tmp_path: Path) -> None:
    made = folder({"XDG_RUNTIME_DIR": str(tmp_path)})
    assert made == tmp_path / "sayso"
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_a_folder_open_to_others_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "sayso").mkdir(mode=0o755)
    assert stat.S_IMODE(folder({"XDG_RUNTIME_DIR": str(tmp_path)}).stat().st_mode) == 0o700


def test_a_link_is_not_followed_and_another_folder_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "sayso").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert folder({"XDG_RUNTIME_DIR": str(tmp_path)}) == tmp_path / f"sayso-{os.getuid()}"


def test_where_no_folder_is_private_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"sayso-{os.getuid()}").write_text("in the way")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ControlError, match="XDG_RUNTIME_DIR") as caught:
        folder({"XDG_RUNTIME_DIR": str(tmp_path / "missing")})
    assert caught.value.code == "no_private_folder"


def test_only_one_can_claim_and_the_next_one_after_it_has_ended(tmp_path: Path) -> None:
    first = claim(tmp_path)
    assert first is not None
    with first:
        assert claim(tmp_path) is None
    second = claim(tmp_path)
    assert second is not None
    with second:
        pass


def test_what_a_killed_one_left_is_replaced(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"claimed\n"
        assert claim(tmp_path) is None
        holder.send_signal(signal.SIGKILL)
        holder.wait(10)
    assert (tmp_path / "control").is_socket()
    with pytest.raises(ControlError) as caught:
        ask(tmp_path, "toggle")
    assert caught.value.code == "not_running"
    after = claim(tmp_path)
    assert after is not None
    with after:
        pass


def test_a_question_is_one_line_and_done_is_its_answer(tmp_path: Path) -> None:
    instance, asked = claim(tmp_path), []
    assert instance is not None
    with instance, answering(instance, b"done\n", asked):
        ask(tmp_path, "toggle")
    assert asked == [b"toggle\n"]


@pytest.mark.parametrize(("answer", "code"), [(b"refused\n", "refused"), (CLOSING, "closing"), (b"", "closing")])
def test_any_other_answer_is_an_error(tmp_path: Path, answer: bytes, code: str) -> None:
    instance = claim(tmp_path)
    assert instance is not None
    with instance, answering(instance, answer, []), pytest.raises(ControlError) as caught:
        ask(tmp_path, "toggle")
    assert caught.value.code == code


def test_without_a_running_one_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(ControlError, match="not running") as caught:
        ask(tmp_path, "show")
    assert caught.value.code == "not_running"


def test_whoever_comes_second_has_the_first_show_itself(tmp_path: Path) -> None:
    first, asked = claim(tmp_path), []
    assert first is not None
    with first, answering(first, b"done\n", asked):
        assert claim_or_show(tmp_path) is None
    assert asked == [b"show\n"]


def test_the_leave_to_be_in_front_is_handed_on(tmp_path: Path) -> None:
    first, asked = claim(tmp_path), []
    assert first is not None
    with first, answering(first, b"done\n", asked):
        assert claim_or_show(tmp_path, leave({"XDG_ACTIVATION_TOKEN": "shell/1-2_TIME3"})) is None
    assert asked == [b"show shell/1-2_TIME3\n"]
    for unfit in ("two words", "two\nlines", "x" * 1000, ""):
        assert leave({"XDG_ACTIVATION_TOKEN": unfit}) == ""


def test_whoever_comes_while_the_first_ends_takes_its_place(tmp_path: Path) -> None:
    first, asked = claim(tmp_path), []
    assert first is not None

    def end() -> None:
        with first, answering(first, CLOSING, asked):
            pass

    ending = threading.Thread(target=end)
    ending.start()
    second = claim_or_show(tmp_path)
    ending.join(10)
    assert asked == [b"show\n"]
    assert second is not None
    with second:
        assert second.listening.family is socket.AF_UNIX
