"""A server is tried over real sockets, and each fault is told apart from every other."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from pathlib import Path

import pytest
from certificates import Signer, self_signed, signer
from played_vllm import VllmServer, vllm_server
from running_server import scripted, server
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from sayso.app.realtime import trial
from sayso.app.realtime.endpoint import remote
from sayso.app.realtime.trial import try_server
from sayso.app.remote_server_view import Finding
from sayso.server.config import ServerConfig

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where something must not answer, it is not waited for as long as in earnest."""
    monkeypatch.setattr(trial, "_OBJECTION_S", 0.1)


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Signer:
    """A signer that this process trusts."""
    made = signer(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    return made


async def found(address: str, key: str = "", model: str = "") -> Finding:
    async with asyncio.timeout(60):
        return await try_server(remote(address, key, model))


@contextlib.asynccontextmanager
async def tls_server(context: ssl.SSLContext, host: str = "127.0.0.1") -> AsyncIterator[str]:
    """The address of a vLLM server behind TLS."""
    played = VllmServer()
    async with serve(played.handle, "127.0.0.1", 0, process_request=played.admit, ssl=context) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        yield f"wss://{host}:{port}"


@contextlib.asynccontextmanager
async def program(talk: Talk, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """``host:port`` of something that is no speech server."""
    listening = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=context)
    async with listening:
        host, port = listening.sockets[0].getsockname()
        yield f"{host}:{port}"


async def web_page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """What a web server does that knows no WebSockets."""
    with contextlib.suppress(asyncio.IncompleteReadError):
        await reader.readuntil(b"\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
    writer.close()


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


async def test_a_sayso_server_tells_its_version_its_engine_and_its_model() -> None:
    async with server(scripted()) as url:
        finding = await found(url)
    assert (finding.works, finding.code, finding.headline) == (True, "works", "It works")
    facts = dict(finding.facts)
    assert facts["Server"] == f"Sayso {importlib.metadata.version('sayso')}"
    assert facts["Engine"] == "ready"
    assert facts["Model"] == "scripted"
    assert "auto" in finding.models
    assert facts["Round trip"].endswith(" ms")


async def test_a_sayso_server_tells_a_missing_key_from_a_wrong_one_and_takes_the_right_one() -> None:
    async with server(scripted(), ServerConfig(port=0, key="secret")) as url:
        assert (await found(url)).code == "key_missing"
        wrong = await found(url, "guess")
        assert (wrong.code, wrong.headline) == ("key_wrong", "The key is wrong")
        assert (await found(url, "secret")).works
        unknown = await found(url, "secret", "huge")
    assert unknown.code == "model_not_found"
    assert "huge" in unknown.headline
    assert unknown.models


async def test_an_engine_that_cannot_start_is_told_although_the_server_answers() -> None:
    async with server(scripted("--fail-load", "model_missing"), once_ready=False) as url:
        async with asyncio.timeout(15):
            while (finding := await found(url)).works:
                assert dict(finding.facts)["Engine"] in ("starting", "loading its model")
    assert finding.code == "engine_failed"
    assert dict(finding.facts)["Engine"] == "cannot start"


async def test_a_vllm_server_is_known_by_its_version_and_its_models_are_listed() -> None:
    played = VllmServer(model="voxtral")

    def admit(connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/version":
            return connection.respond(HTTPStatus.OK, '{"version": "0.11.2"}')
        return played.admit(connection, request)

    async with serve(played.handle, "127.0.0.1", 0, process_request=admit, compression=None) as listening:
        address = f"127.0.0.1:{next(iter(listening.sockets)).getsockname()[1]}"
        finding = await found(address)
        unknown = await found(address, model="whisper")
    assert finding.works
    assert dict(finding.facts)["Server"] == "vLLM 0.11.2"
    assert dict(finding.facts)["Model"] == "voxtral"
    assert finding.models == ("voxtral",)
    assert "no tentative" not in finding.headline
    assert "tentative" in finding.advice
    assert unknown.code == "model_not_found"
    assert "voxtral" in unknown.advice


async def test_a_model_that_only_the_session_refuses_is_told_too() -> None:
    played = VllmServer()

    def admit(connection: ServerConnection, request: Request) -> Response | None:
        if request.path != "/v1/realtime":
            return connection.respond(HTTPStatus.NOT_FOUND, "")
        return None

    async with serve(played.handle, "127.0.0.1", 0, process_request=admit, compression=None) as listening:
        address = f"127.0.0.1:{next(iter(listening.sockets)).getsockname()[1]}"
        finding = await found(address, model="huge")
    assert finding.code == "model_not_found"


async def test_a_trusted_certificate_is_no_hindrance(trusted: Signer) -> None:
    async with tls_server(trusted.server()) as address:
        assert (await found(address)).works


async def test_an_expired_certificate_is_told_from_one_for_another_name(trusted: Signer) -> None:
    async with tls_server(trusted.server(expired=True)) as address:
        assert (await found(address)).code == "tls_expired"
    async with tls_server(trusted.server("speech.example.org")) as address:
        assert (await found(address)).code == "tls_wrong_name"
    async with tls_server(trusted.server("speech.example.org"), host="localhost") as address:
        assert (await found(address)).code == "tls_wrong_name"


async def test_a_certificate_that_nobody_signed_is_told_from_one_of_a_stranger(tmp_path: Path) -> None:
    async with tls_server(self_signed(tmp_path)) as address:
        assert (await found(address)).code == "tls_self_signed"
    async with tls_server(signer(tmp_path).server()) as address:
        assert (await found(address)).code == "tls_unknown_issuer"


async def test_plain_http_where_tls_was_asked_for_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async with vllm_server() as played:
        finding = await found(played.url.replace("ws:", "wss:"))
        assert finding.code == "tls_not_spoken"
    # This one waits for the rest of what it takes for a line.
    monkeypatch.setattr(trial, "_OPEN_S", 0.3)
    async with program(web_page) as address:
        assert (await found(f"https://{address}")).code == "tls_not_spoken"


async def test_tls_where_plain_http_was_asked_for_is_told(tmp_path: Path) -> None:
    async with tls_server(self_signed(tmp_path)) as address:
        assert (await found(address.replace("wss:", "ws:"))).code == "tls_needed"


async def test_a_web_server_is_told_from_a_speech_server() -> None:
    async with program(web_page) as address:
        finding = await found(address)
    assert finding.code == "not_realtime"
    assert "/v1/realtime" in finding.advice


@pytest.mark.parametrize(
    ("status", "models", "key", "code"),
    [
        (HTTPStatus.NOT_FOUND, HTTPStatus.OK, "", "wrong_path"),
        (HTTPStatus.NOT_FOUND, HTTPStatus.NOT_FOUND, "", "wrong_path"),
        (HTTPStatus.FORBIDDEN, HTTPStatus.OK, "key", "wrong_path"),
        (HTTPStatus.FORBIDDEN, HTTPStatus.UNAUTHORIZED, "", "key_missing"),
        (HTTPStatus.FORBIDDEN, HTTPStatus.FORBIDDEN, "key", "key_wrong"),
        (HTTPStatus.UNAUTHORIZED, HTTPStatus.UNAUTHORIZED, "key", "key_wrong"),
        (HTTPStatus.BAD_GATEWAY, HTTPStatus.BAD_GATEWAY, "", "unavailable"),
        (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.OK, "", "too_many"),
        (HTTPStatus.IM_A_TEAPOT, HTTPStatus.OK, "", "rejected"),
    ],
)
async def test_a_refused_upgrade_is_told_by_what_the_server_says_of_its_models(
    status: HTTPStatus, models: HTTPStatus, key: str, code: str
) -> None:
    def admit(connection: ServerConnection, request: Request) -> Response | None:
        return connection.respond(models if request.path == "/v1/models" else status, '{"data": []}')

    async def never(connection: ServerConnection) -> None:
        raise AssertionError("it was let in")

    async with serve(never, "127.0.0.1", 0, process_request=admit) as listening:
        address = f"127.0.0.1:{next(iter(listening.sockets)).getsockname()[1]}"
        assert (await found(address, key)).code == code


async def test_a_websocket_of_another_kind_is_no_speech_server() -> None:
    async def chat(connection: ServerConnection) -> None:
        await connection.send("hello")
        await connection.wait_closed()

    async with serve(chat, "127.0.0.1", 0) as listening:
        address = f"127.0.0.1:{next(iter(listening.sockets)).getsockname()[1]}"
        assert (await found(address)).code == "not_realtime"


async def test_a_server_that_takes_the_connection_and_says_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_OPEN_S", 0.3)
    async with program(silence) as address:
        finding = await found(address)
    assert finding.code == "hung"
    assert address in finding.advice


async def test_a_session_that_never_begins_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_ANSWER_S", 0.3)

    async def mute(connection: ServerConnection) -> None:
        await connection.wait_closed()

    async with serve(mute, "127.0.0.1", 0) as listening:
        address = f"127.0.0.1:{next(iter(listening.sockets)).getsockname()[1]}"
        assert (await found(address)).code == "hung"


async def test_a_port_at_which_nothing_listens_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert (await found(f"127.0.0.1:{port}")).code == "refused"
        assert (await found(f"localhost:{port}")).code == "refused"


async def test_a_name_that_nobody_has_is_told() -> None:
    # Without a network even the question fails, which is told as such.
    assert (await found("nobody.invalid:8000")).code in ("name_not_found", "name_lookup_failed")


async def test_a_trial_can_be_ended() -> None:
    async with program(silence) as address:
        task = asyncio.create_task(try_server(remote(address)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
