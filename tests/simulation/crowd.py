"""Many channels of Alice's and Bob's, opened at once: paid in for together, played without a chain, and written into
Alice's journal as her node would have left them. For what is measured, or shown, with thousands of them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from forcemove import ETHER, Adjudicator, Agreement, Channel, FixedPart, address_destination, agree
from forcemove.chain.local import AnvilChain
from forcemove.node.metadata import METADATA, ChannelMetadata
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.effects import ChooseMove, SendState
from forcemove.protocol.machine.inputs import ContractsGenuine, HoldingsSeen, Input, MoveChosen, StateReceived
from forcemove.protocol.machine.machine import step
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import SignedState, SupportProof
from forcemove.store.journal import Journal
from forcemove.store.records import Batch, ChannelUpdate
from forcemove_games.tic_tac_toe import GAME
from tests.expected import known
from tests.scenarios.story import KEYS, MINER, Playground

__all__ = ["DEPOSIT", "STAKE", "Match", "agreements", "fund", "played", "write"]

STAKE = 10**15
DEPOSIT = 10**17
_GAS = 100_000
_MINED_TOGETHER = 250
"""Deposits of a block: anvil's takes 30 million gas."""
_WRITTEN_TOGETHER = 1_000


@dataclass(frozen=True)
class Match:
    """A channel as Alice has it, after all these states."""

    agreement: Agreement
    alice: Channel
    states: tuple[SignedState, ...]

    def proof_of(self, turn: int) -> SupportProof:
        """Of the state of this turn."""
        return known(build_support_proof(self.agreement.fixed_part, self.states[: turn + 1]))


def agreements(playground: Playground, count: int, duration: int) -> list[Agreement]:
    """So many channels on one adjudicator. `duration`: of a challenge, seconds."""
    adjudicator = Adjudicator(playground.chain, playground.book.adjudicator)
    addresses = tuple(key.address for key in KEYS)
    app = playground.book.find(GAME.artifact.name).address
    deposits = ((ETHER, (DEPOSIT, DEPOSIT)),)
    first = secrets.randbits(64)
    return [
        agree(
            adjudicator.domain,
            FixedPart(addresses, first + number, app, duration),
            GAME,
            STAKE,
            deposits,
            tuple(map(address_destination, addresses)),
        )
        for number in range(count)
    ]


def fund(chain: AnvilChain, all_: Sequence[Agreement]) -> None:
    """Pay in for everybody, many deposits a block; a third party may."""
    adjudicator = Adjudicator(chain, all_[0].domain.adjudicator)
    nonce, fees = chain.nonce_of(MINER.address), chain.fees()
    chain.rpc.ask("evm_setAutomine", False)
    for number, each in enumerate(all_):
        call = adjudicator.call_of(adjudicator.deposit(each.channel_id, ETHER, 0, 2 * DEPOSIT))
        chain.broadcast(chain.sign_as(call, MINER, nonce + number, _GAS, fees))
        if number % _MINED_TOGETHER == _MINED_TOGETHER - 1:
            chain.rpc.ask("evm_mine")
    chain.rpc.ask("evm_mine")
    chain.rpc.ask("evm_setAutomine", True)
    assert chain.nonce_of(MINER.address) == nonce + len(all_)


def played(agreement: Agreement, last_turn: int) -> Match:
    """Played by two bots until this turn."""
    channels = [Channel(agreement, seat) for seat in (0, 1)]
    bots = [GAME.bot(seat) for seat in (0, 1)]
    states: dict[int, SignedState] = {}
    begin: list[tuple[int, Input]] = [
        (seat, happens) for happens in (HoldingsSeen(ETHER, 2 * DEPOSIT), ContractsGenuine()) for seat in (0, 1)
    ]
    todo = begin
    while todo:
        seat, happens = todo.pop(0)
        channels[seat], effects = step(channels[seat], happens, 1, KEYS[seat], GAME)
        for effect in effects:
            match effect:
                case SendState(signed):
                    states[signed.state.turn_num] = signed
                    todo.append((1 - seat, StateReceived(signed)))
                case ChooseMove(state) if state.turn_num < last_turn:
                    move = known(bots[seat].move(state, another_round=True))
                    todo.append((seat, MoveChosen(*move)))
                case _:
                    pass
    assert sorted(states) == list(range(last_turn + 1))
    return Match(agreement, channels[0], tuple(states[turn] for turn in sorted(states)))


def write(
    journal: Journal, matches: Sequence[Match], playground: Playground, from_block: int, confirmations: int = 1
) -> None:
    """Into Alice's journal. `confirmations`: as of `ChannelSetup`."""
    about = METADATA.encode(ChannelMetadata(GAME.artifact.name, from_block, playground.book.factory, confirmations))
    for start in range(0, len(matches), _WRITTEN_TOGETHER):
        part = matches[start : start + _WRITTEN_TOGETHER]
        journal.commit(
            Batch(
                tuple(
                    ChannelUpdate(
                        each.agreement.channel_id,
                        0,
                        CHANNELS.encode(each.alice),
                        about,
                    )
                    for each in part
                )
            )
        )
