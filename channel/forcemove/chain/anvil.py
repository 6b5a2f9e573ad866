"""The process of an anvil: found, started, and ended with all that it has started."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import IO

from forcemove.chain.errors import AnvilFailed, AnvilMissing
from forcemove.contracts.place import CONTRACTS

_ANVIL_START_SECONDS = 30.0


def find_anvil() -> str:
    """The program anvil: on the PATH, else in the project's node modules (the binary itself, not npm's script around
    it). Raises `AnvilMissing`."""
    modules = CONTRACTS / "node_modules"
    found = shutil.which("anvil") or next(map(str, modules.glob("@foundry-rs/anvil-*/bin/anvil*")), None)
    if found is None:
        raise AnvilMissing(("PATH", str(modules)))
    return found


def start_anvil(binary: str, options: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start it on a free port of this machine. `options`: more of anvil's own. Raises `AnvilFailed`."""
    command = [binary, "--host", "127.0.0.1", "--port", "0", "--accounts", "1", *options]
    try:
        # Its own session: an interrupt at the terminal reaches us alone, and we end it in order.
        return subprocess.Popen(  # noqa: S603  # the program is the user's own anvil, the arguments are ours
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | {"NO_COLOR": "1"},
        )
    except OSError as error:
        raise AnvilFailed(f"{binary}: {error.strerror}") from None


def listening_port(process: subprocess.Popen[bytes]) -> int:
    """Read what anvil prints until it names its port, and keep its pipe empty from then on. Raises `AnvilFailed`."""
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_drain, args=(process.stdout, lines), daemon=True).start()
    deadline, said = time.monotonic() + _ANVIL_START_SECONDS, b""
    while (left := deadline - time.monotonic()) > 0:
        try:
            line = lines.get(timeout=left)
        except queue.Empty:
            break
        if line.startswith(b"Listening on "):
            return int(line.rpartition(b":")[2])
        if not line:
            raise AnvilFailed(said.decode(errors="replace").strip()[-300:] or "it ended at once")
        said += line
    raise AnvilFailed(f"it did not begin to listen within {_ANVIL_START_SECONDS:.0f} seconds")


def _drain(pipe: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    listening = False
    with pipe:
        for line in pipe:
            if not listening:
                lines.put(line)
            listening = listening or line.startswith(b"Listening on ")
    lines.put(b"")


def end_anvil(process: subprocess.Popen[bytes]) -> None:
    """End the whole session: an anvil on the PATH may be a script that starts the real one."""
    for signal_ in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, signal_)
            process.wait(timeout=5)
        except ProcessLookupError:
            process.wait()
            return
        except subprocess.TimeoutExpired:
            continue
