"""A JavaScript program at the other end of a line: one JSON object a line, both ways, through stdin and stdout."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

HERE = Path(__file__).parent
_SECONDS = 60.0
"""How long a line is waited for: longer than any test takes that passes."""


class NodeLine:
    """A running program. As a `forcemove.node.ports.Messenger` it carries messages between participants."""

    def __init__(self, program: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # the tests' own programs
            ["node", HERE / program],  # noqa: S607  # the node that set-up has found
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._messages: deque[bytes] = deque()
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    def _read(self, pipe: IO[str]) -> None:
        for line in pipe:
            self._lines.put(line)
        self._lines.put("")

    def __enter__(self) -> NodeLine:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def tell(self, **said: Any) -> None:
        """Send an object."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(said) + "\n")
        self._process.stdin.flush()

    def wait(self) -> dict[str, Any]:
        """The next object; a message between participants is also there for `receive`. Fails where none comes."""
        line = self._lines.get(timeout=_SECONDS)
        if not line:
            _, errors = self._process.communicate(timeout=_SECONDS)
            raise AssertionError(f"the program has ended: {errors}")
        said: dict[str, Any] = json.loads(line)
        if "message" in said and "refused" not in said:
            self._messages.append(said["message"].encode())
        return said

    def send(self, message: bytes) -> None:
        """To the participant at the other end."""
        self.tell(message=message.decode())

    def receive(self) -> Sequence[bytes]:
        """The messages of what was waited for."""
        messages = tuple(self._messages)
        self._messages.clear()
        return messages
