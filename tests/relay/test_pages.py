"""A relay that serves a page: its files from memory, packed, checked, and only those that its list names."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from forcemove import Key, connect_relay
from forcemove.relay import page_files
from forcemove.relay.errors import PagesUnusable
from forcemove.relay.page_files import PageFile, PageFiles, read_pages
from forcemove.sessions.meetings.venues import FriendlyGame, new_offer
from forcemove.transport.links import Link, link_text, parse_link
from forcemove.transport.relay_page import find_page
from tests.cli import warm
from tests.relay.process import RelayProcess, running_relay

KEY = Key(b"\x11" * 32)
FILES = {"index.html": b"<!doctype html>", "worker.js": b"let a = 1;" * 10_000, "app.wasm": b"\0asm"}


def write(folder: Path, files: dict[str, bytes] = FILES) -> Path:
    """A build of these files."""
    folder.mkdir(exist_ok=True)
    listed = {name: {"bytes": len(data), "sha256": sha256(data).hexdigest()} for name, data in files.items()}
    for name, data in {**files, "files.json": json.dumps({"files": listed}).encode()}.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    folder = tmp_path_factory.mktemp("relay")
    pages = write(folder / "pages")
    (pages / "worker.js.gz").write_bytes(gzip.compress(FILES["worker.js"]))
    (pages / "secret.txt").write_bytes(b"is not of the build")
    with running_relay(folder, "--pages", str(pages)) as found:
        yield found


async def get(relay: RelayProcess, path: str, **headers: str) -> tuple[int, bytes, Mapping[str, str]]:
    async with (
        aiohttp.ClientSession(auto_decompress=False) as session,
        session.get(f"http{relay.url.removeprefix('ws')}{path}", headers=headers) as answer,
    ):
        return answer.status, await answer.read(), answer.headers


@pytest.mark.parametrize(
    ("path", "name", "kind"),
    [
        ("/", "index.html", "text/html"),
        ("/worker.js", "worker.js", "text/javascript"),
        ("/app.wasm", "app.wasm", "application/wasm"),
    ],
)
async def test_a_file_is_served_as_it_was_built(relay: RelayProcess, path: str, name: str, kind: str) -> None:
    status, body, headers = await get(relay, path, **{"Accept-Encoding": "identity"})
    assert (status, body, headers["Content-Type"]) == (200, FILES[name], kind)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Content-Encoding" not in headers


@pytest.mark.parametrize("url", ["", "wss://relay.example"])
def test_who_starts_it_is_told_where_the_page_is(tmp_path: Path, url: str) -> None:
    options = ("--listen", "127.0.0.1:0", "--store", ":memory:", "--pages", str(write(tmp_path / "pages")))
    arguments = ("relay", *options, *(("--url", url) if url else ()))
    process, said = warm.start_service(arguments, log=tmp_path / "log", folder=tmp_path, environment=os.environ)
    process.kill()
    listens = said.partition(" listens at ws")[2].partition(",")[0]
    assert said.endswith(f" Its page is {f'http{listens}' if not url else 'https://relay.example'}/\n")


async def test_a_file_that_was_packed_is_sent_packed_to_those_who_take_it(relay: RelayProcess) -> None:
    status, body, headers = await get(relay, "/worker.js", **{"Accept-Encoding": "gzip, deflate, br"})
    assert (status, headers["Content-Encoding"], gzip.decompress(body)) == (200, "gzip", FILES["worker.js"])
    assert len(body) < 1_000


async def test_a_browser_that_has_a_file_gets_nothing_again(relay: RelayProcess) -> None:
    _, _, headers = await get(relay, "/worker.js")
    status, body, _ = await get(relay, "/worker.js", **{"If-None-Match": headers["ETag"]})
    assert (status, body) == (304, b"")


@pytest.mark.parametrize(
    "path", ["/secret.txt", "/../relay.sqlite", "/%2e%2e/relay.sqlite", "/files", "/invitations/x"]
)
async def test_nothing_else_is_served(relay: RelayProcess, path: str) -> None:
    status, _, _ = await get(relay, path)
    assert status == 404


async def test_players_are_served_at_the_same_address(relay: RelayProcess) -> None:
    async with connect_relay(relay.url) as connection:
        assert await connection.lobby.list() == ()


async def test_who_is_invited_is_told_the_game_and_the_host(relay: RelayProcess) -> None:
    venue = FriendlyGame("tic-tac-toe", "Tic-tac-toe")
    offer = new_offer(venue, KEY.address, KEY.address, 0, 3600, name="Alice")
    async with connect_relay(relay.url) as connection:
        await connection.lobby.make(offer, KEY)
        status, body, _ = await get(relay, f"/invitations/{Link(relay.url, offer.hash)}")
    assert (status, json.loads(body)) == (200, {"game": "tic-tac-toe", "host": "Alice", "stake": False})


async def test_a_relay_says_whether_it_has_a_page(relay: RelayProcess, tmp_path: Path) -> None:
    page = await find_page(relay.url)
    link = Link(relay.url, b"\x11" * 32)
    assert page == f"http://127.0.0.1:{relay.port}/"
    assert parse_link(link_text(link, page)) == link
    with running_relay(tmp_path) as other:
        assert await find_page(other.url) == ""
        assert (await get(other, "/"))[0] == 426
    assert await find_page(other.url) == ""
    assert await find_page("nats://127.0.0.1:4222") == ""


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda folder: (folder / "worker.js").write_bytes(b"other"), "worker.js was changed after it was built"),
        (lambda folder: (folder / "worker.js").unlink(), "worker.js: No such file"),
        (lambda folder: (folder / "files.json").unlink(), "files.json: No such file"),
        (lambda folder: (folder / "files.json").write_text("[]"), "files.json is not a list of files"),
        (lambda folder: write(folder, {"a.js": b""}), "index.html is not in the list of files"),
    ],
)
def test_a_page_that_is_not_as_it_was_built_is_not_served(
    tmp_path: Path, spoil: Callable[[Path], object], reason: str
) -> None:
    folder = write(tmp_path / "pages")
    spoil(folder)
    with pytest.raises(PagesUnusable) as raised:
        read_pages(folder)
    assert raised.value.reason.startswith(reason)


async def test_a_client_that_reads_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    large = bytes(64 * 2**20)  # more than the system takes in between
    monkeypatch.setattr(page_files, "_LEAST_SECONDS", 0.2)
    monkeypatch.setattr(page_files, "_LEAST_RATE", 2**30)
    files = PageFiles({"index.html": PageFile("text/html", "tag", {"": large})})
    ended = asyncio.get_running_loop().create_future()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await files.send("index.html", request)
        finally:
            ended.set_result(None)

    server = web.Server(answer)
    listening = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname(), limit=1)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    received = 0
    async with asyncio.timeout(30):
        await ended
        while data := await reader.read(2**20):
            received += len(data)
    assert received < len(large) / 2
    writer.close()
    listening.close()
