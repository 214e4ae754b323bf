"""What the server may be started with."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.server.config import ServerConfig, config_from_line, is_loopback, key_from
from sayso.server.errors import ServerError


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8", "::ffff:127.0.0.1"])
def test_loopback_needs_no_key(host: str) -> None:
    assert is_loopback(host)
    ServerConfig(host=host).check()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org", "127.0.0.1.example.org"])
def test_any_other_host_needs_one(host: str) -> None:
    with pytest.raises(ServerError, match="SAYSO_API_KEY") as caught:
        ServerConfig(host=host).check()
    assert caught.value.code == "key_required"
    ServerConfig(host=host, key="secret").check()


@pytest.mark.parametrize("key", ["two words", "line\n", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused(key: str) -> None:
    with pytest.raises(ServerError) as caught:
        ServerConfig(key=key).check()
    assert caught.value.code == "bad_key"
    assert key not in caught.value.message


@pytest.mark.parametrize("origin", ["app.example", "https://", "https://app.example/page", "https://[app", "", "null"])
def test_what_is_no_origin_is_refused_instead_of_matching_nothing(origin: str) -> None:
    with pytest.raises(ServerError, match="scheme://host") as caught:
        ServerConfig(allow_origins=("https://fine.example", origin)).check()
    assert caught.value.code == "bad_origin"
    ServerConfig(allow_origins=("*", "https://fine.example:8443/", "http://[::1]:8000")).check()


def test_a_port_must_be_one() -> None:
    with pytest.raises(ServerError) as caught:
        ServerConfig(port=70_000).check()
    assert caught.value.code == "bad_port"


def test_the_desktops_line_is_read() -> None:
    line = b'{"host":"127.0.0.1","port":0,"key":"k","model":"auto","device":"cpu","threads":2}\n'
    assert config_from_line(line) == ServerConfig(port=0, key="k", device="cpu", threads=2)


@pytest.mark.parametrize("line", [b"", b"hello", b"[]", b'{"port":"x"}', b'{"prot":1}'])
def test_a_line_that_cannot_be_read_says_so(line: bytes) -> None:
    with pytest.raises(ServerError) as caught:
        config_from_line(line)
    assert caught.value.code == "bad_config"


def test_the_key_comes_from_the_file_first(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("from-file\n")
    environ = {"SAYSO_API_KEY": "from-environment"}
    assert key_from(file, environ) == "from-file"
    assert key_from(None, environ) == "from-environment"
    assert key_from(None, {}) == ""


def test_a_key_file_that_is_empty_or_missing_is_an_error(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    for file in (empty, tmp_path / "none", tmp_path):
        with pytest.raises(ServerError) as caught:
            key_from(file, {})
        assert caught.value.code == "bad_key_file"
