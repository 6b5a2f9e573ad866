"""Reads a whole log afterwards, with all keys open, and shares no code with the game: was every key due to its reader,
was every turn legal, and who has won?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import gmpy2

from forcemove.flow.actions import Action
from forcemove_games.discard_sra.table import CannotMove
from forcemove_games.sra.arithmetic import MODULUS
from forcemove_games.sra.cipher import card_numbers
from forcemove_games.sra.table import AllKeys, Deal, Deck, DiscardCard, Draw, Serve, TurnUp

CLIENTS = ("alice", "bob")
CARDS = {number: card for card, number in enumerate(card_numbers(24))}


@dataclass
class Referee:
    """What has happened so far. `keys`: of both, by seat and index, as the audit has shown them."""

    keys: tuple[tuple[str, ...], ...]
    order: list[int]
    given: set[tuple[int, int]] = field(default_factory=set)
    hands: tuple[set[int], set[int]] = (set(), set())
    top: int = 0
    laid: list[int] = field(default_factory=list)
    to_move: int = 0
    stuck: int = 0
    turns: int = 0
    served: bool = True

    def give(self, seat: int, index: int, key: str) -> None:
        """A key is the true one, and is given once."""
        assert key == self.keys[seat][index]
        assert (seat, index) not in self.given
        self.given.add((seat, index))

    def deal(self, seat: int, action: Deal) -> None:
        assert self.top in (0, 10)
        other = 1 - seat
        indices = range(5 * other, 5 * other + 5)
        assert len(action.keys) == len(indices)
        for index, key in zip(indices, action.keys, strict=True):
            self.give(seat, index, key)
        self.hands[other].update(indices)
        self.top = 10

    def turn_up(self, seat: int, action: TurnUp) -> None:
        assert action.index == 10
        assert all(len(hand) == 5 for hand in self.hands)
        self.give(seat, 10, action.key)
        self.top, self.laid = 11, [10]

    def draw(self, seat: int, action: Draw) -> None:
        self.begin_turn(seat)
        assert action.index == self.top < 24
        self.hands[seat].add(self.top)
        self.top, self.stuck, self.served = self.top + 1, 0, False

    def serve(self, seat: int, action: Serve) -> None:
        """Only the other one's key, only of the card that was asked for, and only once."""
        assert not self.served
        assert seat == self.to_move
        assert action.index == self.top - 1
        self.give(seat, action.index, action.key)
        self.served = True

    def discard(self, seat: int, action: DiscardCard) -> None:
        self.begin_turn(seat)
        assert action.index in self.hands[seat]
        assert fits(self.order[action.index], self.order[self.laid[-1]])
        self.give(seat, action.index, action.key)
        self.hands[seat].remove(action.index)
        self.laid.append(action.index)
        self.stuck = 0

    def cannot_move(self, seat: int) -> None:
        self.begin_turn(seat)
        assert self.top == 24
        assert not any(fits(self.order[index], self.order[self.laid[-1]]) for index in self.hands[seat])
        self.stuck += 1

    def begin_turn(self, seat: int) -> None:
        assert self.served
        assert len(self.laid) >= 1
        assert not self.is_over
        assert seat == self.to_move
        self.to_move, self.turns = 1 - seat, self.turns + 1

    @property
    def is_over(self) -> bool:
        return self.stuck == 2 or any(len(hand) == 0 for hand in self.hands)

    def receive(self, action: Action) -> None:
        seat = CLIENTS.index(action.client_id)
        match action:
            case Deal():
                self.deal(seat, action)
            case TurnUp():
                self.turn_up(seat, action)
            case Draw():
                self.draw(seat, action)
            case Serve():
                self.serve(seat, action)
            case DiscardCard():
                self.discard(seat, action)
            case CannotMove():
                self.cannot_move(seat)
            case _:
                raise AssertionError(action)


def fits(card: int, top: int) -> bool:
    return card // 6 == top // 6 or card % 6 == top % 6


def judged(said: Sequence[Action]) -> Referee:
    """What the log says has happened. Raises `AssertionError` where anything was not due or not legal."""
    decks, middle, shown = said[:4], said[4:-2], said[-2:]
    assert [deck.client_id for deck in decks if isinstance(deck, Deck)] == ["alice", "bob", "alice", "bob"]
    keys = {each.client_id: each.keys for each in shown if isinstance(each, AllKeys)}
    last = decks[-1]
    assert isinstance(last, Deck)
    opened = [
        CARDS[int(gmpy2.powmod(int(number, 16), int(first, 16) * int(second, 16) % (MODULUS - 1), MODULUS))]
        for number, first, second in zip(last.numbers, keys["alice"], keys["bob"], strict=True)
    ]
    assert sorted(opened) == list(range(24))
    referee = Referee((keys["alice"], keys["bob"]), opened, hands=(set(), set()))
    for action in middle:
        referee.receive(action)
    assert referee.is_over
    assert referee.served
    return referee
