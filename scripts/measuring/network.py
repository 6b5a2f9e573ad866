"""The time of a turn between two processes over a relay process, when nothing of it can be lost, compared with three
synced commits and one echo: what it would wait for if all disks were waited for, one after the other.

A turn is: receive the other's state, verify it, choose, sign the answer, save both, post it; the relay passes it on
while it writes it to its own disk, and acknowledges it after that. So one commit is in a turn's way, and the relay's
beside it. Both players are processes with a journal in a file. The channel is one without a chain, so that no
chain's time is in it; a turn on a chain asks nothing of the chain either. The commits are the journal's own, of the
same snapshot; the echo is aiohttp's WebSocket server and client, between two processes, with as many bytes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from itertools import count
from statistics import fmean
from tempfile import TemporaryDirectory

import aiohttp

from forcemove import Channel, ChannelMessenger, FriendlyAssembly, Node, TableKind, TableTerms, connect_relay
from forcemove.flow.channel import moves_of_new
from forcemove.node.events import Event, Sent
from forcemove.node.metadata import METADATA, ChannelMetadata
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.codec.wire import encode_message
from forcemove.protocol.encoding import NO_CHAIN, Domain
from forcemove.protocol.types import ZERO_ADDRESS
from forcemove.store.records import Batch, ChannelUpdate
from forcemove_games.rock_paper_scissors import GAME
from scripts.measuring.cases import ADDRESSES, KEYS, Measured, Row, agreement, case, medians, timed
from scripts.measuring.processes import drive, echo_process, journal_at, process, started_relay

TURNS = 300
"""Turns that are timed in a round."""
_FIRST, _COMMITS = 20, 3
"""The first turn that is timed, Alice's, when both players have started; the commits of a turn."""


@case(Row("network_turn_ratio", "x", "a turn over a relay, all of it on disk / three commits and an echo", 1.5))
def network(rounds: int = 5) -> Measured:
    """A turn between two processes over a relay, over three commits and an echo.

    The latter are measured before and after each round: a shared machine is slower at times.
    """
    numbers = count()
    channel, _ = _turns(next(numbers))
    before = _wait(channel)

    def compared() -> Measured:
        nonlocal before
        _, turn = _turns(next(numbers))
        after = _wait(channel)
        wait, before = (before + after) / 2, after
        return {"network_turn_ms": turn * 1e3, "network_wait_ms": wait * 1e3, "network_turn_ratio": turn / wait}

    return medians(rounds, compared)


# ------------------------------------------------------------------------------------------------------------ the turns


def _turns(number: int) -> tuple[Channel, float]:
    """A channel as it was in the end, and the seconds of a turn."""
    with (
        started_relay() as (url, _),
        TemporaryDirectory() as folder,
        process(_play, url, folder, number, 0) as received,
        process(_play, url, folder, number, 1),
    ):
        snapshot, seconds = received()
    return CHANNELS.decode(snapshot), seconds / TURNS


async def _play(url: str, folder: str, number: int, seat: int, send: Callable[[tuple[bytes, float]], None]) -> None:
    """Play one seat, and send the channel and the time that it has taken; then this process is killed."""
    agreed = agreement(Domain(NO_CHAIN, ZERO_ADDRESS), ZERO_ADDRESS, number, 0, 0)
    async with connect_relay(url) as place:
        table = TableTerms(TableKind.CHANNEL, ADDRESSES, agreed.channel_id)
        messenger = ChannelMessenger(await place.join(table, KEYS[seat]))
        choose = moves_of_new(lambda secrets: GAME.bot(seat, secrets=secrets))
        first, sent, is_over = _FIRST + seat, dict[int, float](), asyncio.Event()

        def on_event(event: Event) -> None:
            if isinstance(event, Sent):
                sent[event.signed.state.turn_num] = time.perf_counter()
                if first + TURNS in sent:
                    is_over.set()

        with journal_at(folder, f"{seat}.journal") as journal:
            node, assembly = Node(journal), FriendlyAssembly(GAME, agreed)
            channel = drive(node, assembly, KEYS[seat], messenger=messenger, choose=choose, on_event=on_event)
            running = [asyncio.create_task(node.run()), asyncio.create_task(messenger.run())]
            await is_over.wait()
            send((CHANNELS.encode(channel.channel), sent[first + TURNS] - sent[first]))
            await asyncio.gather(*running)


# ---------------------------------------------------------------------------------------------- what it has to wait for


def _wait(channel: Channel) -> float:
    """Seconds of three commits of this channel and of an echo."""
    with TemporaryDirectory() as folder, echo_process() as url:
        return _COMMITS * _commit(folder, channel) + asyncio.run(_echo(url, channel))


def _commit(folder: str, channel: Channel) -> float:
    """Seconds of one commit of this channel."""
    id_, metadata = channel.agreement.channel_id, METADATA.encode(ChannelMetadata("RockPaperScissors", 0, bytes(20), 0))
    with journal_at(folder, "journal") as journal:

        def commit(version: int) -> None:
            update = ChannelUpdate(id_, version, CHANNELS.encode(channel), None if version else metadata)
            journal.commit(Batch((update,)))

        return fmean(timed(lambda: commit(version)) for version in range(TURNS))  # noqa: B023  # is called at once


async def _echo(url: str, channel: Channel) -> float:
    """Seconds in which a message of the size of a turn comes back."""
    message = encode_message(channel.agreement.channel_id, channel.accepted[-1].signed)
    async with aiohttp.ClientSession() as session, session.ws_connect(url, compress=0) as socket:
        began = time.perf_counter()
        for _ in range(TURNS):
            await socket.send_bytes(message)
            await socket.receive_bytes()
        return (time.perf_counter() - began) / TURNS
