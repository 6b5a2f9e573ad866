"""Runs flows in virtual time: a deadline of an hour is over at once, and a test never sleeps."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from channel.node.virtual_time import VirtualTimeLoop

T = TypeVar("T")


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` in virtual time; no task may be left running when it ends."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(_alone(main))


async def _alone(main: Coroutine[Any, Any, T]) -> T:
    result = await main
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"tasks outlive what has started them: {left}"
    return result
