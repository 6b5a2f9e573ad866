"""A relay on a disk that is full: a small one of its own, which is in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forcemove.transport import errors, terms, wire
from tests.relay.raw import Raw, post, raw
from tests.transport.people import ALICE, new_table, run

MiB = 2**20
DISK = 80
LARGE = bytes(60_000)
_MOUNT = 'mount -t tmpfs -o size=$0m relay-disk "$1" && shift && exec "$@"'
_ROOM_FOR_ALL = ("--messages-per-second", "100000", "--bytes-per-second", str(2**30))


@contextmanager
def _relay_on_a_small_disk(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str, Path]]:
    """The process, its address, and its disk as we see it."""
    disk = folder / "disk"
    disk.mkdir()
    relay = [sys.executable, "-m", "forcemove", "relay", "--json", "--listen", "127.0.0.1:0"]
    relay += ["--store", str(disk / "relay.sqlite"), *_ROOM_FOR_ALL]
    command = ["unshare", "-rm", "sh", "-c", _MOUNT, str(DISK), str(disk), *relay]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    log = (folder / "relay.log").open("w")
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)  # noqa: S603
    with log, started as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            assert line, (folder / "relay.log").read_text()
            yield process, json.loads(line)["ready"], Path(f"/proc/{process.pid}/root{disk}")
        finally:
            process.kill()


def _may_mount() -> bool:
    return subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode == 0  # noqa: S607


@pytest.mark.skipif(not _may_mount(), reason="this system lets us mount no disk of our own")
def test_threat_60_a_relay_outlives_a_full_disk(tmp_path: Path) -> None:
    """What was acknowledged is there, what was not is refused, and when there is room again posts are taken."""

    async def story(process: subprocess.Popen[str], url: str, disk: Path) -> None:
        tables = [new_table() for _ in range(2)]
        async with raw(url) as alice:
            for table in tables:
                await alice.say(alice.proof(table, ALICE))
                await alice.hear(wire.Proved)
            assert await _is_taken(alice, tables[0], 0)
            filler = disk / "filler"
            filler.write_bytes(bytes(_free(disk)))
            taken = 1
            while await _is_taken(alice, tables[0], taken):
                taken += 1
            number, refused = 0, 0
            while refused < 50:
                number, refused = number + 1, refused + (not await _is_taken(alice, tables[1], number))
            filler.unlink()
            number += 1
            while not await _is_taken(alice, tables[1], number):
                number += 1
            assert (await alice.opened(tables[0].id)).length == taken
            assert process.poll() is None

    with _relay_on_a_small_disk(tmp_path) as (process, url, disk):
        run(story(process, url, disk))


def _free(disk: Path) -> int:
    found = os.statvfs(disk)
    return found.f_bavail * found.f_frsize


async def _is_taken(alice: Raw, table: terms.TableTerms, number: int) -> bool:
    await alice.say(post(table, number, LARGE))
    answer = await alice.next()
    if isinstance(answer, wire.RequestRefused):
        assert answer.reason == errors.Reason.BUSY.value
        return False
    assert isinstance(answer, wire.Posted), answer
    return True
