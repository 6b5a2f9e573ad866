"""A real relay in a process of its own, as its command starts it; it can be stopped, killed and started again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from tests.cli import warm

__all__ = ["RelayProcess", "running_relay"]

_PATIENCE = 60.0


class RelayProcess:
    """Started in a folder, where its store is. `url` stays the same over restarts."""

    def __init__(self, folder: Path, *options: str, listen: str = "127.0.0.1:0") -> None:
        self.store = folder / "relay.sqlite"
        self._options, self._listen = options, listen
        self.url = ""
        self.start()

    def start(self) -> None:
        """Raises `AssertionError` with what it has said where it does not come up."""
        command = ["relay", "--json", "--listen", self._listen, "--store", str(self.store), *self._options]
        folder = self.store.parent
        self.process, line = warm.start_service(
            command, log=folder / "relay.log", folder=folder, environment=os.environ
        )
        assert line, self.log()
        self.url = json.loads(line)["ready"]
        self._listen = self.url.partition("://")[2]

    @property
    def port(self) -> int:
        return int(self._listen.rpartition(":")[2])

    def log(self) -> str:
        return (self.store.parent / "relay.log").read_text()

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait(_PATIENCE)

    def stop(self) -> int:
        """As an operator would; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(_PATIENCE)

    def memory(self) -> int:
        """Bytes that it has in memory now."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def running_relay(folder: Path, *options: str) -> Iterator[RelayProcess]:
    """Killed at the end, if it still runs."""
    relay = RelayProcess(folder, *options)
    try:
        yield relay
    finally:
        relay.kill()
