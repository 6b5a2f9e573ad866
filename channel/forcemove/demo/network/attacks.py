"""Attacks of a player whose program is another one: the demonstration makes them with that player's key."""

from __future__ import annotations

import asyncio

from forcemove.arena.tricks import illegal_move
from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.chain import Chain
from forcemove.demo.network.players import PlayerFailed
from forcemove.game import Game
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.signing import Key
from forcemove.transport.connect import connect_relay
from forcemove.transport.terms import TableKind, TableTerms

__all__ = ["challenge_with", "say_something_illegal"]


def challenge_with(chain: Chain, key: Key, old: Channel) -> int:
    """Challenge with the newest state that `old` can prove; its turn number. `key`: of the account that pays the
    gas."""
    agreement = old.agreement
    proof = build_support_proof(agreement.fixed_part, old.signed_states)
    if proof is None:
        raise PlayerFailed("There is no old state to challenge with")
    adjudicator = Adjudicator(chain, agreement.domain.adjudicator)
    adjudicator.send(adjudicator.challenge(agreement.fixed_part, proof), key)
    return proof.states[-1].turn_num


async def say_something_illegal(relay: str, key: Key, game: Game, other: Channel) -> str:
    """Sign a move that the rules forbid, after the newest state that the other player has, and send it to that player;
    what is wrong with it. `relay`: the relay's URL; `key`: the mover's."""
    agreement, newest = other.agreement, other.newest
    if newest is None:
        raise PlayerFailed("Play has not begun")
    found = illegal_move(game, agreement, key, newest.state)
    if found is None:
        raise PlayerFailed("The game has no move that is forbidden now")
    label, message = found
    async with connect_relay(relay) as connection:
        table = TableTerms(TableKind.CHANNEL, agreement.fixed_part.participants, agreement.channel_id)
        log = await connection.join(table, key)
        await asyncio.wait_for(log.post(message), 30)
    return label
