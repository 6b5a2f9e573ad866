"""A real NATS server with JetStream, in a process of its own; it can be stopped, killed and started again."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["NatsServer", "publish_raw", "running_server"]

_PATIENCE = 60.0


class NatsServer:
    """Started in a folder, where its store is. `url` stays the same over restarts."""

    def __init__(
        self, folder: Path, config: str = "", *, has_jetstream: bool = True, sync_interval: str = "2m"
    ) -> None:
        """`config`: more of the server's configuration file, such as its users. `sync_interval`: how often it sees to
        it that what it has written is on the disk; 2m is its default, `always` is for every message."""
        self.folder, self.store = folder, folder / "store"
        self._config, self._port = config, -1
        if has_jetstream:
            self._config = f'jetstream {{ store_dir: "{self.store}", sync_interval: {sync_interval} }}\n{config}'
        self._starts = 0
        self.start()

    def start(self) -> None:
        """Raises `AssertionError` with what it has said where it does not come up."""
        self._starts += 1
        ports = self.folder / f"ports{self._starts}"
        ports.mkdir()
        config = self.folder / "nats.conf"
        config.write_text(f'listen: "127.0.0.1:{self._port}"\nports_file_dir: "{ports}"\n{self._config}\n')
        self.process = subprocess.Popen(  # noqa: S603  # the server of our own environment
            [str(Path(sys.executable).with_name("nats-server")), "-c", str(config)],
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "nats.log").open("ab"),
        )
        self._port = self._found_port(ports)

    def _found_port(self, ports: Path) -> int:
        """It writes the file when it listens."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            for path in ports.glob("*.ports"):
                with contextlib.suppress(json.JSONDecodeError):
                    return int(json.loads(path.read_text())["nats"][0].rpartition(":")[2])
            time.sleep(0.01)
        raise AssertionError((self.folder / "nats.log").read_text())

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self._port}"

    def kill(self) -> None:
        """What it has written stays."""
        self.process.kill()
        self.process.wait(_PATIENCE)

    def stop(self) -> None:
        """As an operator would."""
        self.process.terminate()
        self.process.wait(_PATIENCE)


@contextlib.contextmanager
def running_server(
    folder: Path, config: str = "", *, has_jetstream: bool = True, sync_interval: str = "2m"
) -> Iterator[NatsServer]:
    """Killed at the end, if it still runs."""
    server = NatsServer(folder, config, has_jetstream=has_jetstream, sync_interval=sync_interval)
    try:
        yield server
    finally:
        server.kill()


def publish_raw(server: NatsServer, subject: str, headers: bytes, message: bytes) -> None:
    """Publish with headers as no client would write them; done when the server has read it."""
    sizes = f"{len(headers)} {len(headers) + len(message)}"
    with socket.create_connection(("127.0.0.1", server.port), _PATIENCE) as connection:
        connection.sendall(b'CONNECT {"headers":true,"no_responders":true,"verbose":false,"protocol":1}\r\n')
        connection.sendall(f"HPUB {subject} {sizes}\r\n".encode() + headers + message + b"\r\nPING\r\n")
        heard = b""
        while b"PONG" not in heard:
            heard += connection.recv(4_096)
