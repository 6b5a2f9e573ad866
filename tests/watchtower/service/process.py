"""A real watchtower in a process of its own, as its command starts it; it can be stopped, killed and started again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

from forcemove import TowerClient, save_book
from forcemove.chain.addresses import show_address
from forcemove.keys.key_files import UNLOCK_VARIABLE, write_key_file
from tests.cli import warm
from tests.scenarios.story import ALICE, Playground
from tests.watchtower.keeper import TOWER

__all__ = ["TowerProcess", "running_tower"]

_PATIENCE = 90.0


class TowerProcess:
    """Started in a folder, where its journal, key and address book are. `url` stays the same over restarts.
    `passphrase`: of its key, which everybody knows."""

    passphrase = "of no secret"  # noqa: S105  # of a key that everybody knows

    def __init__(self, folder: Path, playground: Playground, *options: str) -> None:
        self.folder, self._chain = folder, playground.chain
        save_book(playground.book, folder / "book.json")
        if not (folder / "key.json").exists():
            write_key_file(folder / "key.json", TOWER, self.passphrase, scrypt_work=2**4)
        self._options = options
        self._listen = "127.0.0.1:0"
        self.start()

    @property
    def command(self) -> list[str]:
        """What is written behind `forcemove`."""
        command = ["watch", "--json", *self._options, "--listen", self._listen, "--lease", "1"]
        command += ["--chain", self._chain.endpoint, "--key", str(self.folder / "key.json")]
        command += ["--store", str(self.folder / "tower.journal"), "--book", str(self.folder / "book.json")]
        return [*command, "--for", f"{show_address(ALICE.address)}=1 ether"]

    def start(self) -> None:
        """Raises `AssertionError` with what it has said where it does not come up."""
        environment = os.environ | {UNLOCK_VARIABLE: self.passphrase}
        self.process, line = warm.start_service(
            self.command, log=self.folder / "tower.log", folder=self.folder, environment=environment
        )
        assert line, self.log()
        self.ready = json.loads(line)
        self.url: str = self.ready["ready"]
        self._listen = self.url.partition("://")[2]

    @property
    def port(self) -> int:
        return int(self._listen.rpartition(":")[2])

    def client(self) -> TowerClient:
        return TowerClient(self.url, TOWER.address)

    def log(self) -> str:
        return (self.folder / "tower.log").read_text()

    def metrics(self) -> dict[str, float]:
        with urlopen(f"{self.url}/metrics", timeout=_PATIENCE) as answer:  # noqa: S310  # our own process
            lines = answer.read().decode().splitlines()
        shown = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in shown}

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait(_PATIENCE)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """As an operator would; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(_PATIENCE)


@contextlib.contextmanager
def running_tower(folder: Path, playground: Playground, *options: str) -> Iterator[TowerProcess]:
    """Killed at the end, if it still runs."""
    tower = TowerProcess(folder, playground, *options)
    try:
        yield tower
    finally:
        tower.kill()
