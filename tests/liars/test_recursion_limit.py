"""Python's recursion limit stays what Python has set, whatever we import and use."""

from __future__ import annotations

import subprocess
import sys

import pytest

EVERYTHING = """
import importlib, pkgutil, sys
before = sys.getrecursionlimit()
import forcemove, forcemove_games
for package in (forcemove, forcemove_games):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
"""
EMBEDDED = """
import sys
before = sys.getrecursionlimit()
from forcemove.chain.chain import Call
from forcemove.chain.local import EmbeddedChain, local_keys
chain = EmbeddedChain()
chain.send(Call(bytes(20), b"", 1), local_keys()[0])
assert "py_ecc" in sys.modules  # which raises it
"""
CONNECTED = """
import sys
before = sys.getrecursionlimit()
from forcemove.chain.errors import Unreachable
from forcemove.chain.local import connect
for endpoint in ("http://127.0.0.1:1", "ws://127.0.0.1:1", "/nowhere.ipc"):
    try:
        connect(endpoint)
    except Unreachable:
        pass
"""
UNLOCKED = """
import sys
before = sys.getrecursionlimit()
from pathlib import Path
from tempfile import TemporaryDirectory
from forcemove import new_key, read_key_file, write_key_file
with TemporaryDirectory() as folder:
    write_key_file(Path(folder) / "key.json", new_key(), "words", scrypt_work=2)
    read_key_file(Path(folder) / "key.json", "words")
assert "py_ecc" in sys.modules
"""


@pytest.mark.parametrize("program", [EVERYTHING, EMBEDDED, CONNECTED, UNLOCKED])
def test_the_recursion_limit_stays(program: str) -> None:
    """Hole 26: with a limit of 100,000 some kilobytes of brackets overflow the stack and end the process."""
    program += "\nassert sys.getrecursionlimit() == before, sys.getrecursionlimit()\n"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603  # our own
    assert done.stderr == ""
    assert done.returncode == 0
