"""An engine that dies, hangs or is ended in mid-turn costs no client a word, plain ones included. Real processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from running_server import Client, ask, client, eventually, scripted, server
from supervised_engine import alive, engine_pid


def said(first: int, last: int) -> str:
    return " ".join(f"w{number}" for number in range(first, last + 1))


async def kill_engine(url: str) -> None:
    pid = await engine_pid(url)
    os.kill(pid, signal.SIGKILL)
    await eventually(lambda: not alive(pid))


async def done(c: Client) -> tuple[str, list[str]]:
    """The turn's text, which is what its deltas joined to, and the codes of errors on the way."""
    events = await c.until("transcription.done")
    return events[-1]["text"], [event["code"] for event in events if event["type"] == "error"]


async def heard(c: Client, number: int) -> str:
    """All deltas up to this word."""
    text = ""
    while not text.endswith(f"w{number}"):
        event = await c.next()
        text += event.get("delta", "")
    return text


async def test_killed_again_and_again_in_mid_turn_with_a_plain_client() -> None:
    async with server(scripted("--hears")) as url, client(url) as c:
        await c.expect("session.created")
        await c.send("session.update", model="auto")
        await c.start()
        text = ""
        for first in (1, 21, 41):
            await c.words(*range(first, first + 20))
            text += await heard(c, first + 18)
            await kill_engine(url)
        await c.end()
        events = await c.until("transcription.done")
        text += "".join(event.get("delta", "") for event in events)
        assert text == events[-1]["text"] == said(1, 60)
        assert not [event for event in events if event["type"] == "error"]
        assert "sayso_replays_total 3.0\n" in (await ask(url, "GET", "/metrics")).text


async def test_times_and_words_go_on_counting_from_the_turns_first_sample() -> None:
    async with server(scripted("--hears")) as url, client(url) as c:
        await c.choose("words", "marker")
        await c.start()
        await c.words(*range(1, 21))
        events = [await c.next()]
        while events[-1].get("audio_ms") != 18 * 500 + 400:
            events.append(await c.next())
        await kill_engine(url)
        await c.words(*range(21, 31))
        await c.end()
        events += await c.until("transcription.done")
        words = [word for event in events if event["type"] == "sayso.words" for word in event["words"]]
        assert [word["start_ms"] for word in words] == [500 * number for number in range(30)]
        assert "".join(word["text"] for word in words) == events[-1]["text"] == said(1, 30)
        markers = [event["audio_ms"] for event in events if event["type"] == "sayso.marker"]
        assert markers == sorted(set(markers))


async def test_killed_while_the_last_text_is_awaited_and_another_turn_waits(tmp_path: Path) -> None:
    gate = tmp_path / "flush"
    async with server(scripted("--hears", "--flush-file", gate)) as url, client(url) as c:
        await c.choose()
        await c.start()
        await c.words(1, 2, 3)
        await c.end()
        await c.start()
        await c.words(4, 5)
        await c.end()
        assert await heard(c, 3) == said(1, 3)
        await kill_engine(url)
        gate.touch()
        assert await done(c) == (said(1, 3), [])
        assert await done(c) == (said(4, 5), [])


async def test_two_clients_lose_nothing_with_one_engine() -> None:
    async with server(scripted("--hears")) as url, client(url) as c, client(url) as other:
        for each in (c, other):
            await each.expect("session.created")
            await each.send("session.update", model="auto")
            await each.start()
        await c.words(*range(1, 9))
        await other.words(*range(101, 105))
        before = await heard(c, 7), await heard(other, 103)
        await kill_engine(url)
        await c.words(9)
        for each in (c, other):
            await each.end()
        assert (await done(c), await done(other)) == ((said(1, 9), []), (said(101, 104), []))
        assert before == (said(1, 7), said(101, 103))
