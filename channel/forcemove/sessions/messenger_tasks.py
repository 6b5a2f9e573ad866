"""Carries a channel's messages for as long as its command runs, and says when that has ended: faults of the relay cost
nothing but time."""

from __future__ import annotations

import time
from collections.abc import Callable

from forcemove.errors import ForcemoveError
from forcemove.node.managed_channel import ManagedChannel
from forcemove.protocol.machine.results import is_over
from forcemove.protocol.signing import Key
from forcemove.sessions.playing.connectivity import reporting_connectivity
from forcemove.text.explanations import headline
from forcemove.transport.connect import messenger_to
from forcemove.transport.messenger import ChannelMessenger
from forcemove.transport.terms import TableTerms

_SENDING_SECONDS = 60.0


def messenger_for(
    url: str, table: TableTerms, key: Key, say: Callable[[str], None], *, is_new: bool
) -> ChannelMessenger:
    """A channel's messenger over a relay, which is not asked before `carry`. Each error of the relay is said once, and
    the messenger tries again.

    - `url`: the relay's address.
    - `table`: the table of the channel.
    - `key`: signs the proof that the relay asks for.
    - `say`: is called with a line of text for each error.
    - `is_new`: whether the table's log is read from its beginning; else only what is posted from now on, and a greeting
      asks the others for what we lack.
    """
    reported: list[str] = []

    def notify(error: ForcemoveError) -> None:
        text = headline(error)
        if text not in reported:
            reported[:] = [text]
            say(f"relay       {text} It is tried again; what is on the chain is defended meanwhile.")

    return messenger_to(url, table, key, 0 if is_new else None, on_error=notify)


async def carry(messenger: ChannelMessenger, say: Callable[[str], None]) -> None:
    """Carry messages until this is cancelled."""
    async with reporting_connectivity(messenger, say):
        await messenger.run()


def until_delivered(
    is_done: Callable[[], bool],
    messenger: ChannelMessenger,
    patience: float,
    say: Callable[[str], None],
    clock: Callable[[], float],
) -> Callable[[], bool]:
    """A function that says whether a game without a chain is over and its end was posted.

    - `is_done`: whether the game is over.
    - `messenger`: posts our messages.
    - `patience`: seconds to wait for the post at most, by `clock`.
    - `say`: is called with a line of text where the wait is given up.
    - `clock`: returns seconds.
    """
    done_at: float | None = None

    def has_ended() -> bool:
        nonlocal done_at
        if not is_done() or messenger.is_idle:
            return is_done()
        done_at = clock() if done_at is None else done_at
        if clock() - done_at < patience:
            return False
        say(
            f"relay       {messenger.url} has not taken the end of the game for {patience:.0f} seconds. "
            "It is signed and kept here; the other player may not have heard of it."
        )
        return True

    return has_ended


def until_sent(driven: ManagedChannel, is_sending_for: Callable[[bytes], bool]) -> Callable[[], bool]:
    """A function that says whether a channel is over. Transactions that are still to be sent then are waited for only
    for a while: a restart sends them. `is_sending_for`: see `Node`."""
    over_at: float | None = None

    def has_ended() -> bool:
        nonlocal over_at
        if not is_over(driven.channel, driven.time()) or driven.client.has_work:
            return False
        over_at = over_at or time.monotonic()
        return not is_sending_for(driven.id) or time.monotonic() - over_at > _SENDING_SECONDS

    return has_ended
