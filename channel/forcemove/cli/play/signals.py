"""A request to terminate ends a run as an interrupt does: in the main task, so that the run can end in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

from forcemove.cli.errors import Explained


class Terminated(Explained):
    """The program was asked to end. `next_step`: what the user can do then."""

    exit_code = 128 + signal.SIGTERM

    def __init__(self, next_step: str = "Run the same command to go on.") -> None:
        super().__init__("The game was cut off: this program was asked to end.", next_step)


def run_until_terminated(main: Coroutine[Any, Any, None]) -> None:
    """Run `main` to its end. Raises what `main` raises, `Terminated` on SIGTERM, and `KeyboardInterrupt` on SIGINT."""
    asyncio.run(_run(main))


async def _run(main: Coroutine[Any, Any, None]) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(main)
    was_asked: list[bool] = []

    def end() -> None:
        was_asked.append(True)
        task.cancel()

    loop.add_signal_handler(signal.SIGTERM, end)
    try:
        await task
    except asyncio.CancelledError:
        if was_asked:
            raise Terminated() from None
        raise
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
