"""What a failed connection means: asked again only where the fault alone does not say it."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
from certificates import self_signed
from played_vllm import vllm_server
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from sayso.app.realtime.endpoint import Endpoint, remote
from sayso.app.realtime.errors import RealtimeError
from sayso.app.realtime.second_look import explained


async def fault_of(endpoint: Endpoint) -> RealtimeError:
    """What the client would tell of a connection that cannot be made."""
    async with asyncio.timeout(60):
        try:
            async with connect(endpoint.url, additional_headers=endpoint.headers):
                pytest.fail("it was let in")
        except (OSError, EOFError, WebSocketException) as error:
            return await explained(error, endpoint)


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def test_a_wrong_key_and_a_missing_one_are_told_apart() -> None:
    async with vllm_server(key="right") as server:
        wrong, missing = await fault_of(remote(server.url, "guess")), await fault_of(remote(server.url))
    assert (wrong.code, wrong.lasting) == (missing.code, missing.lasting) == ("unauthorised", True)
    assert "does not accept this key" in str(wrong)
    assert "asks for a key" in str(missing)


async def test_a_wrong_path_is_told_with_what_is_in_order() -> None:
    async with vllm_server(key="right") as server:
        fault = await fault_of(remote(server.url.replace("/v1/realtime", "/other/realtime"), "right"))
    assert fault.lasting
    assert "/other/realtime" in str(fault)


async def test_plain_http_where_tls_was_asked_for_and_tls_where_it_was_not_are_mended_by_people(
    tmp_path: Path,
) -> None:
    async with await asyncio.start_server(silent, "127.0.0.1", 0, ssl=self_signed(tmp_path)) as secure:
        needed = await fault_of(remote(f"127.0.0.1:{secure.sockets[0].getsockname()[1]}"))
    assert (needed.code, needed.lasting) == ("tls_needed", True)
    assert "https://" in str(needed)
    async with vllm_server() as server:
        not_spoken = await fault_of(remote(server.url.replace("ws://", "wss://")))
    assert (not_spoken.code, not_spoken.lasting) == ("tls_not_spoken", True)
    assert "http://" in str(not_spoken)


async def test_a_tunnel_whose_server_is_away_passes_by_itself() -> None:
    async with await asyncio.start_server(silent, "127.0.0.1", 0) as tunnel:
        fault = await fault_of(remote(f"127.0.0.1:{tunnel.sockets[0].getsockname()[1]}"))
    assert (fault.code, fault.lasting) == ("closed", False)


async def test_a_certificate_that_is_not_trusted_needs_no_second_look() -> None:
    error = ssl.SSLCertVerificationError(1, "expired")
    error.verify_code, error.verify_message = 10, "certificate has expired"
    fault = await explained(error, remote("https://one:1"))
    assert (fault.code, fault.lasting) == ("tls_expired", True)


async def test_what_failed_before_there_was_an_address_is_told_as_it_is() -> None:
    fault = RealtimeError("server_silent", "It did not start.")
    assert await explained(fault, None) is fault
