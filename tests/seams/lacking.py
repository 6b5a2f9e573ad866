"""Takes away from a process what is missing in a browser's tab. Programs import it before anything else."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Collection, Sequence
from typing import Any

__all__ = ["CHAINS", "SERVERS", "SYSTEM", "TERMINALS", "forbid_threads", "take_away"]

SERVERS = frozenset({"aiohttp", "nats", "requests", "uvloop", "websockets"})
CHAINS = frozenset({"eth_abi", "eth_account", "eth_keyfile", "eth_tester", "web3"})
TERMINALS = frozenset({"click", "prompt_toolkit", "rich"})
THREADS = frozenset({"concurrent", "multiprocessing", "queue", "subprocess", "threading"})
SYSTEM = THREADS | {"fcntl", "selectors", "signal", "socket", "ssl"}
"""Some of it asyncio imports by itself."""


def take_away(lacking: Collection[str], system: Collection[str] = ()) -> Sequence[str]:
    """Refuse from now on each import of what is `lacking`, and by our modules each of what is of `system`. Returns the
    imports that were refused, which grow."""
    real, refused = builtins.__import__, list[str]()

    def importing(name: str, *others: Any, **named: Any) -> Any:
        around = others[0] if others else named.get("globals")
        first, importer = name.partition(".")[0], (around or {}).get("__name__", "")
        if first in lacking or (first in system and importer.startswith("forcemove")):
            refused.append(f"{importer} imports {first}")
            raise ImportError(refused[-1])
        return real(name, *others, **named)

    builtins.__import__ = importing
    return refused


def forbid_threads() -> None:
    """Let no thread begin from now on."""

    def refuse(thread: threading.Thread) -> None:
        raise AssertionError(f"the thread {thread.name} was to begin")

    threading.Thread.start = refuse  # type: ignore[method-assign, assignment]
