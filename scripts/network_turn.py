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
import secrets
import statistics
import sys
import time
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forcemove.flow.channel import moves_of_new  # noqa: E402
from forcemove.node.events import Event, Sent  # noqa: E402
from forcemove.node.friendly import FriendlyAssembly  # noqa: E402
from forcemove.node.metadata import METADATA, ChannelMetadata  # noqa: E402
from forcemove.node.node import Node  # noqa: E402
from forcemove.node.setup import ChannelSetup  # noqa: E402
from forcemove.protocol.agreement import Agreement, agree  # noqa: E402
from forcemove.protocol.codec.msgpack_codec import CHANNELS  # noqa: E402
from forcemove.protocol.codec.wire import encode_message  # noqa: E402
from forcemove.protocol.encoding import NO_CHAIN, Domain  # noqa: E402
from forcemove.protocol.hashing import keccak256  # noqa: E402
from forcemove.protocol.machine.channel import Channel  # noqa: E402
from forcemove.protocol.outcome import address_destination  # noqa: E402
from forcemove.protocol.signing import Key  # noqa: E402
from forcemove.protocol.types import ETHER, ZERO_ADDRESS, FixedPart  # noqa: E402
from forcemove.registry import find_game  # noqa: E402
from forcemove.store.opening import open_journal  # noqa: E402
from forcemove.store.records import OWNER_LENGTH, Batch, ChannelUpdate  # noqa: E402
from forcemove.transport.connect import connect_relay  # noqa: E402
from forcemove.transport.messenger import ChannelMessenger  # noqa: E402
from forcemove.transport.terms import TableKind, TableTerms  # noqa: E402
from scripts.relay_speed import echo_process, relay_process  # noqa: E402

__all__ = ["network_turn_ratio", "network_turns"]

TURNS = 300
"""Turns that are timed in a round."""
ROUNDS = 5
_FIRST, _COMMITS = 20, 3
"""The first turn that is timed, when both players have started; the commits of a turn."""
_CONTEXT = get_context("spawn")
_KEYS = (Key(keccak256(b"alice")), Key(keccak256(b"bob")))
_ADDRESSES = tuple(key.address for key in _KEYS)
_PATIENCE = 120.0


def network_turn_ratio() -> float:
    """The median of the rounds."""
    return statistics.median(turn / least for turn, least in network_turns())


def network_turns(rounds: int = ROUNDS) -> Iterator[tuple[float, float]]:
    """Seconds of a turn, and of three commits and an echo, round after round. The latter are measured before and after
    each round: a shared machine is slower at times."""
    channel, _ = _turns(0)
    before = _least(channel)
    for number in range(1, rounds + 1):
        _, turn = _turns(number)
        after = _least(channel)
        yield turn, (before + after) / 2
        before = after


def _turns(number: int) -> tuple[Channel, float]:
    with TemporaryDirectory() as folder, relay_process(Path(folder)) as url:
        return _played(url, Path(folder), number)


def _least(channel: Channel) -> float:
    with TemporaryDirectory() as folder, echo_process() as url:
        return _COMMITS * _commit(Path(folder), channel) + asyncio.run(_echo(url, channel))


# ------------------------------------------------------------------------------------------------------------ the turns


def _agreement(number: int) -> Agreement:
    game = find_game("rock-paper-scissors").game
    fixed_part = FixedPart(_ADDRESSES, number, ZERO_ADDRESS, 3600)
    destinations = tuple(map(address_destination, _ADDRESSES))
    return agree(Domain(NO_CHAIN, ZERO_ADDRESS), fixed_part, game, 0, ((ETHER, (0, 0)),), destinations)


def _played(url: str, folder: Path, number: int) -> tuple[Channel, float]:
    """A channel as it was in the end, and the seconds of a turn."""
    reading, writing = _CONTEXT.Pipe(duplex=False)
    processes = [_CONTEXT.Process(target=_run, args=(url, folder, number, seat, writing)) for seat in (0, 1)]
    for process in processes:
        process.start()
    try:
        if not reading.poll(_PATIENCE):
            raise TimeoutError(f"the players have not finished within {_PATIENCE:.0f} seconds")
        snapshot, seconds = reading.recv()
    finally:
        for process in processes:
            process.kill()
            process.join()
    return CHANNELS.decode(snapshot), seconds / TURNS


def _run(url: str, folder: Path, number: int, seat: int, writing: Connection) -> None:
    asyncio.run(_play(url, folder, number, seat, writing))


async def _play(url: str, folder: Path, number: int, seat: int, writing: Connection) -> None:
    """Play one seat. Seat 0 sends the time that it has taken; then both processes are killed."""
    agreement, game = _agreement(number), find_game("rock-paper-scissors").game
    async with connect_relay(url) as place:
        table = TableTerms(TableKind.CHANNEL, _ADDRESSES, agreement.channel_id)
        line = ChannelMessenger(await place.join(table, _KEYS[seat]))
        choose = moves_of_new(lambda secrets: game.bot(seat, secrets=secrets))
        with open_journal(str(folder / f"{seat}.journal"), owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
            timer = _Timer()
            node, assembly = Node(journal), FriendlyAssembly(game, agreement)
            channel = node.add(ChannelSetup(assembly, _KEYS[seat], line, choose, on_event=timer.on_event))
            running = [asyncio.create_task(node.run()), asyncio.create_task(line.run())]
            await timer.is_over.wait()
            if seat == 0:
                writing.send((CHANNELS.encode(channel.channel), timer.seconds))
            await asyncio.gather(*running)


class _Timer:
    """Measures `seconds`: from the first of our turns that counts to the last."""

    def __init__(self) -> None:
        self.is_over, self.seconds, self._began = asyncio.Event(), 0.0, 0.0

    def on_event(self, event: Event) -> None:
        """Note that our turn was sent."""
        if not isinstance(event, Sent):
            return
        turn = event.signed.state.turn_num - _FIRST
        if turn in (0, 1):
            self._began = time.perf_counter()
        elif turn in (TURNS, TURNS + 1):
            self.seconds = time.perf_counter() - self._began
            self.is_over.set()


# ---------------------------------------------------------------------------------------------- what it has to wait for


def _commit(folder: Path, channel: Channel) -> float:
    """Seconds of one commit of this channel."""
    about = METADATA.encode(ChannelMetadata("RockPaperScissors", 0, bytes(20), 0))
    times = []
    with open_journal(str(folder / "journal"), owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
        for version in range(TURNS):
            began = time.perf_counter()
            id_, first = channel.agreement.channel_id, None if version else about
            journal.commit(Batch((ChannelUpdate(id_, version, CHANNELS.encode(channel), first),)))
            times.append(time.perf_counter() - began)
    return statistics.fmean(times)


async def _echo(url: str, channel: Channel) -> float:
    """Seconds in which a message of the size of a turn comes back."""
    message = encode_message(channel.agreement.channel_id, channel.accepted[-1].signed)
    async with aiohttp.ClientSession() as session, session.ws_connect(url, compress=0) as socket:
        began = time.perf_counter()
        for _ in range(TURNS):
            await socket.send_bytes(message)
            await socket.receive_bytes()
        return (time.perf_counter() - began) / TURNS


if __name__ == "__main__":
    for turn, least in network_turns():
        print(f"a turn {turn * 1000:.2f} ms, three commits and an echo {least * 1000:.2f} ms: {turn / least:.2f}")
