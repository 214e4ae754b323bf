"""The engine's end of the pipe, over real pipes."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso.engine import messages as m
from sayso.engine.channel import Channel
from sayso.engine.framing import Decoder, encode

WAIT_S = 10.0


class Ends:
    """A channel and the other end of its two pipes."""

    def __init__(self, inbox_bytes: int = 10**6) -> None:
        theirs_read, self.write_fd = os.pipe()
        self.read_fd, theirs_write = os.pipe()
        self._theirs = [theirs_read, theirs_write]
        self.channel = Channel(theirs_read, theirs_write, m.Down, inbox_bytes)
        self.channel.leave()
        self.channel.start()

    def close(self) -> None:
        for fd in (self.write_fd, self.read_fd, self._theirs[1]):
            os.close(fd)
        while self.channel.take(WAIT_S) is not None:
            pass
        os.close(self._theirs[0])


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    yield made
    made.close()


def test_messages_are_taken_in_order(ends: Ends) -> None:
    sent = [m.Open(str(i)) for i in range(100)]
    os.write(ends.write_fd, b"".join(encode(message) for message in sent))
    taken: list[m.Message] = []
    while len(taken) < 100:
        taken += ends.channel.take(WAIT_S) or pytest.fail("the pipe ended")
    assert taken == sent


def test_taking_waits_no_longer_than_asked(ends: Ends) -> None:
    assert ends.channel.take(0.0) == []


def test_results_are_written_as_frames(ends: Ends) -> None:
    ends.channel.send([m.Opened("a"), m.Closed("a", "closed")])
    assert Decoder(m.Up).feed(os.read(ends.read_fd, 4096)) == [m.Opened("a"), m.Closed("a", "closed")]


def test_the_end_of_the_pipe_is_told_after_its_last_message() -> None:
    ends = Ends()
    os.write(ends.write_fd, encode(m.Stop()))
    ends.close()
    assert ends.channel.take(WAIT_S) is None
    assert ends.channel.error is None


def test_garbage_ends_the_channel_with_a_coded_error() -> None:
    ends = Ends()
    os.write(ends.write_fd, b"hello? is anybody there?")
    assert ends.channel.take(WAIT_S) is None
    assert ends.channel.error is not None
    assert ends.channel.error.code == "frame_too_long"
    ends.close()


def test_a_full_inbox_holds_up_the_sender_and_loses_nothing() -> None:
    ends = Ends(inbox_bytes=1000)
    sent = [m.Audio("a", 0, i.to_bytes(4, "little") * 100) for i in range(2000)]
    written = threading.Event()

    def write() -> None:
        for message in sent:
            os.write(ends.write_fd, encode(message))
        written.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert not written.wait(0.2)
    taken: list[m.Message] = []
    while len(taken) < len(sent):
        taken += ends.channel.take(WAIT_S) or pytest.fail("the pipe ended")
    writer.join(WAIT_S)
    assert taken == sent
    ends.close()


def test_nothing_printed_in_the_process_reaches_the_pipe() -> None:
    code = (
        "import os, sys\n"
        "from sayso.engine.channel import claim_standard_streams\n"
        "read_fd, write_fd = claim_standard_streams()\n"
        "print('stray'); os.system('echo stray too'); sys.stdout.flush()\n"
        "os.write(write_fd, os.read(read_fd, 100))\n"
        "assert sys.stdin.read() == ''\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"ping", capture_output=True, timeout=30, check=True)
    assert done.stdout == b"ping"
    assert done.stderr.count(b"stray") == 2


def test_a_process_that_ends_under_a_step_does_what_it_must_do_last(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from sayso.engine import channel, messages\n"
        "channel.GRACE_S = 0.01\n"
        "ends = channel.Channel(0, 1, messages.Down, 1000)\n"
        "ends.abandoned = Path(sys.argv[1]).touch\n"
        "ends.start()\n"
        "time.sleep(60)\n"
    )
    last = tmp_path / "last"
    done = subprocess.run([sys.executable, "-c", code, last], input=b"", capture_output=True, timeout=30, check=True)
    assert (done.stderr, last.exists()) == (b"", True)
