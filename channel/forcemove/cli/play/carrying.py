"""Carries a channel's messages for as long as its command runs: whatever the relay does costs nothing but time."""

from __future__ import annotations

from collections.abc import Callable

from forcemove.cli.explanations import headline
from forcemove.cli.match.reach import telling_of_reach
from forcemove.errors import ForcemoveError
from forcemove.line.channel_line import ChannelLine
from forcemove.line.connect import line_to
from forcemove.line.terms import Table
from forcemove.protocol.signing import Key

__all__ = ["carry", "line_for", "until_told"]


def line_for(url: str, table: Table, key: Key, say: Callable[[str], None], *, is_new: bool) -> ChannelLine:
    """A channel's line over the relay at `url`, which is not asked before `carry`. What fails is told once, and tried
    again. `is_new`: others may have said something that we have not read; else a greeting makes that good."""
    told: list[str] = []

    def tell(error: ForcemoveError) -> None:
        text = headline(error)
        if text not in told:
            told[:] = [text]
            say(f"relay       {text} It is tried again; what is on the chain is defended meanwhile.")

    return line_to(url, table, key, 0 if is_new else None, on_trouble=tell)


async def carry(line: ChannelLine, say: Callable[[str], None]) -> None:
    """Until it is cancelled."""
    async with telling_of_reach(line, say):
        await line.run()


def until_told(
    is_done: Callable[[], bool],
    line: ChannelLine,
    patience: float,
    say: Callable[[str], None],
    clock: Callable[[], float],
) -> Callable[[], bool]:
    """Whether a game without a chain is over and the other one has been told; it is not waited for longer than
    `patience`, in seconds, by the `clock`."""
    done_at: float | None = None

    def has_ended() -> bool:
        nonlocal done_at
        if not is_done() or line.is_idle:
            return is_done()
        done_at = clock() if done_at is None else done_at
        if clock() - done_at < patience:
            return False
        say(
            f"relay       {line.url} has not taken the end of the game for {patience:.0f} seconds. It is signed and "
            "kept here; the other player may not have heard of it."
        )
        return True

    return has_ended
