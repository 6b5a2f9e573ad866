"""Shuffled decks for tests, with randomness that is the same in every run; mallory's keys for those who cheat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from hashlib import shake_256
from itertools import count

from forcemove_games.randomness import Randomness
from forcemove_games.sra import arithmetic, cipher, pile
from forcemove_games.sra.deck import STEPS, Shuffle, audit, begin, receive, send, shuffle_between_two
from forcemove_games.sra.player import Player, sit_down
from forcemove_games.two_player import PLAYERS

ALICE, BOB = 0, 1
MALLORY = 1
"""Where somebody cheats, it is in the second seat: who moves last can do most."""
SIZE = 4

Cheat = Callable[[Shuffle], arithmetic.Numbers]
"""Given mallory's view after an honest step of its own, the deck that it sends instead."""


def stream(seed: str) -> Randomness:
    """Bytes that follow from a seed, and never repeat."""
    calls = count()
    return lambda length: shake_256(f"{seed}/{next(calls)}".encode()).digest(length)


def scripted(*values: int) -> Randomness:
    """These numbers, one a call, as many bytes as are asked for."""
    left = iter(values)
    return lambda length: next(left).to_bytes(length, "big")


@cache
def both(size: int = SIZE) -> tuple[Shuffle, Shuffle]:
    """Alice's and bob's view of a finished shuffle."""
    return shuffle_between_two(size, stream("both"))


def seated(size: int = SIZE) -> tuple[Player, Player]:
    """Alice and bob before a shuffled deck."""
    alice, bob = both(size)
    return sit_down(alice), sit_down(bob)


def keys(shuffle: Shuffle) -> tuple[cipher.DecryptionKey, ...]:
    """All keys of a side, as it gives them away when a hand is over."""
    return tuple(key.disclose() for key in shuffle.secrets.card_keys)


@cache
def order(size: int = SIZE) -> tuple[int, ...]:
    """The cards of `both`, from the top."""
    alice, bob = both(size)
    return audit(alice.latest, keys(alice), keys(bob))


@cache
def sides_before(step: int) -> tuple[Shuffle, Shuffle]:
    """Alice's and bob's view of a shuffle in which `step` is next."""
    randomness = stream("steps")
    sides = [begin(SIZE, ALICE, randomness), begin(SIZE, BOB, randomness)]
    for mover in range(step):
        sides[mover % PLAYERS] = send(sides[mover % PLAYERS], randomness)
        sides[1 - mover % PLAYERS] = receive(sides[1 - mover % PLAYERS], sides[mover % PLAYERS].latest)
    return sides[0], sides[1]


def cheated(cheats: dict[int, Cheat], mallory_keys: tuple[cipher.CipherKey, ...] = ()) -> tuple[Shuffle, Shuffle]:
    """Alice's and mallory's view of a finished shuffle in which mallory sends something else in some of its steps."""
    randomness = stream("cheated")
    alice, mallory = begin(SIZE, ALICE, randomness), begin(SIZE, MALLORY, randomness)
    if mallory_keys:
        mallory = replace(mallory, secrets=replace(mallory.secrets, card_keys=mallory_keys))
    for step in range(STEPS):
        if step % PLAYERS == ALICE:
            alice = send(alice, randomness)
            mallory = receive(mallory, alice.latest)
        else:
            mallory = send(mallory, randomness)
            if step in cheats:
                mallory = replace(mallory, decks=(*mallory.decks[:-1], cheats[step](mallory)))
            alice = receive(alice, mallory.latest)
    return alice, mallory


def spectated(player: Player) -> pile.Pile:
    """The pile that a spectator begins with."""
    return pile.Pile(player.pile.numbers)
