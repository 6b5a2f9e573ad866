"""What the players share: a chain, the contracts on it, and a relay in a process of its own."""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from forcemove.chain.book import AddressBook
from forcemove.chain.deployment import deploy
from forcemove.chain.local import AnvilChain, local_keys
from forcemove.demo.network.players import PlayerFailed, PlayerProcess
from forcemove.game import Game
from forcemove.keys.key_files import write_key_file
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.signing import Key
from forcemove.store.opening import open_journal
from forcemove.store.records import OWNER_LENGTH

_SCRYPT_WORK = 2**12
"""The work factor of keys that are deleted with the folder."""


@dataclass(frozen=True)
class DemoNetwork:
    """`keys`: of the players, by seat. `program`: what runs `forcemove`."""

    folder: Path
    chain: AnvilChain
    book: AddressBook
    relay: str
    keys: tuple[Key, ...]
    program: Sequence[str]

    @property
    def book_file(self) -> Path:
        """The path of the address book."""
        return self.folder / "book.json"

    def player(self, name: str, seat: int, on_line: Callable[[str], None]) -> PlayerProcess:
        """A player with a new folder and a key file in it."""
        home, passphrase = self.folder / secrets.token_hex(8), secrets.token_hex(16)
        home.mkdir()
        write_key_file(home / "key.json", self.keys[seat], passphrase, scrypt_work=_SCRYPT_WORK)
        return PlayerProcess(name, home, passphrase, self.program, on_line)

    def travel(self, seconds: int) -> None:
        """Move the chain's clock forward."""
        self.chain.travel_to(self.chain.now() + seconds + 1)


def channel_of(player: PlayerProcess) -> Channel:
    """The one channel of a player's journal, as it was saved last."""
    where = str(player.home / "key.journal")
    with open_journal(where, owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
        (kept,) = journal.channels()
    return CHANNELS.decode(kept.snapshot)


@asynccontextmanager
async def opened_network(folder: Path, games: tuple[Game, ...], program: Sequence[str]) -> AsyncIterator[DemoNetwork]:
    """The network, in a new folder. `program`: what runs `forcemove`. Raises `AnvilMissing`, `AnvilFailed`,
    `PlayerFailed`."""
    deployer, *keys = local_keys()[:3]
    chain = AnvilChain()
    try:
        book = await asyncio.to_thread(deploy, chain, deployer, folder / "book.json", games)
        async with _relay(folder, program) as relay:
            yield DemoNetwork(folder, chain, book, relay, tuple(keys), program)
    finally:
        chain.close()


@asynccontextmanager
async def _relay(folder: Path, program: Sequence[str]) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        *(*program, "relay", "--json", "--listen", "127.0.0.1:0"),
        *("--store", str(folder / "relay.sqlite")),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        line = await process.stdout.readline() if process.stdout else b""
        if not line:
            raise PlayerFailed("The relay does not come up")
        yield json.loads(line)["ready"]
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()
