"""What it costs to decode a text: in a process of its own, which has nothing yet of what decoding takes.

One process imports the decoders, and forks for each question; the system counts what the child took. That sees all
memory, and costs no time, as tracing each allocation would.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_NOTHING = "nothing"
"""In place of a text's name: no bytes."""
_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes, of the system's unit of memory."""


class Cost(NamedTuple):
    """The processor's `seconds`, and the `memory` at the most, in bytes: more than where there is nothing to decode."""

    seconds: float
    memory: int


class Measurer:
    """Call it with the names of a decoder and a text."""

    def __init__(self, folder: Path) -> None:
        """`folder`: for files that are to be decoded."""
        command = [sys.executable, "-m", "tests.threats.costs", str(folder)]
        self._process = subprocess.Popen(  # noqa: S603  # this module
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdin
        assert self._process.stdout
        self._asks, self._says = self._process.stdin, self._process.stdout
        self._nothing: dict[str, Cost] = {}

    def __call__(self, decoder: str, text: str) -> Cost:
        """The text may be refused; nothing else may happen."""
        if decoder not in self._nothing:
            self._nothing[decoder] = self._ask(decoder, _NOTHING)
        seconds, memory = self._ask(decoder, text)
        return Cost(seconds, memory - self._nothing[decoder].memory)

    def _ask(self, decoder: str, text: str) -> Cost:
        print(json.dumps([decoder, text]), file=self._asks, flush=True)
        code, *cost = json.loads(self._says.readline())
        assert code == 0, f"{decoder}, {text}: exit code {code}"
        return Cost(*cost)

    def close(self) -> None:
        """Let the process end."""
        self._asks.close()
        self._says.close()
        assert self._process.wait(60) == 0


# -------------------------------------------------------------------------------------------- in the process that forks


def _main(folder: Path) -> None:
    from tests.threats.test_decoders import DECODERS, decode_or_refuse

    gc.disable()
    for decode, _ in DECODERS.values():
        decode_or_refuse(decode, b"", folder)  # some import at their first use what they need
    for line in sys.stdin:
        decoder, text = json.loads(line)
        child = os.fork()
        if child == 0:
            _decode(decoder, text, folder)
            os._exit(0)
        _, status, used = os.wait4(child, 0)
        seconds = used.ru_utime + used.ru_stime
        print(json.dumps([os.waitstatus_to_exitcode(status), seconds, used.ru_maxrss * _UNIT]), flush=True)


def _decode(decoder: str, text: str, folder: Path) -> None:
    from tests.threats.test_decoders import DECODERS, TEXTS, decode_or_refuse

    decode, size = DECODERS[decoder]
    decode_or_refuse(decode, b"" if text == _NOTHING else TEXTS[text](size), folder)


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
