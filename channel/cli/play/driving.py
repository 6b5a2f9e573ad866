"""Drives one channel to its end: for money with a node, or for nothing without a chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forcemove.channel.cli.explanations import headline
from forcemove.channel.cli.match.match import Match, beside
from forcemove.channel.cli.match.seats import Seat
from forcemove.channel.cli.match.voices import Voice
from forcemove.channel.cli.play.standby import when_free
from forcemove.channel.cli.play.wishes import Purse
from forcemove.channel.errors import ChainError, JournalUnavailable, PassingError
from forcemove.channel.follower.errors import AnotherChain
from forcemove.channel.game import Game
from forcemove.channel.line.channel_line import ChannelLine
from forcemove.channel.node.assemble import Assembly
from forcemove.channel.node.driven import Driven
from forcemove.channel.node.errors import AccountInUse
from forcemove.channel.node.friendly import FriendlyChannel
from forcemove.channel.node.node import Node
from forcemove.channel.node.policy import default_look_every
from forcemove.channel.protocol.agreement import Agreement
from forcemove.channel.protocol.channel import Channel
from forcemove.channel.store.journal import Journal
from forcemove.channel.watching.client import TowerClient
from forcemove.channel.watching.courier import Acknowledged, Courier, Failed, Told, Unguarded

__all__ = ["drive_for_money", "drive_friendly"]

_PASSING = (ChainError, PassingError, JournalUnavailable, AccountInUse)
"""What may have passed when it is tried again."""


async def drive_friendly(
    journal: Journal,
    agreement: Agreement,
    purse: Purse,
    game: Game,
    line: ChannelLine,
    seat: Seat,
    match: Match,
    lease: float,
) -> Channel:
    """Until both have signed the end. Raises as `FriendlyChannel`, and `Match.until`."""

    def begin() -> FriendlyChannel:
        return FriendlyChannel(
            journal, agreement, purse.key, game, line, match.answer, report=match.report, lease=lease
        )

    driven = await when_free(begin, seat.voice.say)
    seat.attach(driven)
    try:
        main = match.until(lambda: driven.is_done and line.is_idle, driven)
        await beside(main, driven.run(), line.run(), seat.run())
    finally:
        driven.release()
    return driven.channel


async def drive_for_money(
    journal: Journal,
    assembly: Assembly,
    confirmations: int,
    purse: Purse,
    line: ChannelLine,
    seat: Seat,
    match: Match,
    towers: Sequence[TowerClient],
    lease: float,
) -> Channel:
    """Until everything is paid out. Raises as `Node.add`, and `Match.until`; what passes is tried again."""
    node = Node(journal, lease=lease, trouble=_hear_trouble(match, seat.voice))

    def begin() -> Driven:
        return node.add(
            assembly,
            purse.key,
            line,
            match.answer,
            report=match.report,
            confirmations=confirmations,
            payer=purse.payer,
        )

    driven = await when_free(begin, seat.voice.say)
    seat.attach(driven)
    courier = Courier(towers, tell=_hear_tower(match, seat.voice))
    if towers:
        courier.add(driven, purse.key)

    def is_over() -> bool:
        return driven.channel.is_over_and_paid and not driven.client.has_work and not node.is_sending

    look_every = default_look_every(assembly.agreement.domain.chain_id)
    try:
        await beside(
            match.until(is_over, driven), node.run(look_every=look_every), line.run(), courier.run(), seat.run()
        )
    finally:
        node.release()
    return driven.channel


def _hear_trouble(match: Match, voice: Voice) -> Callable[[Exception], None]:
    """What has failed and will be tried again is told once; what that does not mend ends the match."""
    told = ""

    def hear(error: Exception) -> None:
        nonlocal told
        if isinstance(error, AnotherChain) or not isinstance(error, _PASSING):
            match.lasting = match.lasting or error
            return
        text = f"{headline(error)} Trying again."
        if text != told:
            told = text
            voice.note(text)

    return hear


def _hear_tower(match: Match, voice: Voice) -> Callable[[Told], None]:
    """That nobody watches is shown until somebody does."""
    failed: dict[str, str] = {}

    def hear(told: Told) -> None:
        match told:
            case Acknowledged(url):
                failed.pop(url, None)
                match.warning = ""
            case Failed(url, error=error):
                if failed.get(url) != (text := headline(error)):
                    failed[url] = text
                    voice.note(f"tower       {text}")
            case Unguarded(turn_num=turn_num):
                match.warning = f"No watchtower has acknowledged turn {turn_num}: do not go away."

    return hear
