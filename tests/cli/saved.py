"""Signed-state files of a channel in which Alice and Bob play tic-tac-toe, for `forcemove inspect`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from forcemove import Domain, Key, SignedState, VariablePart, channel_id
from forcemove.protocol.codec.wire import SignedStateFile, encode_file
from forcemove.protocol.types import FixedPart, Signature
from forcemove_games.tic_tac_toe import GAME
from tests.protocol.builders import DOMAIN, PLAYERS, fixed_part, outcome, sign, terms

STAKE = 2
OPENING = VariablePart(outcome(10, 10), GAME.initial_app_data(terms(STAKE)), 0)


def state_of(turn_num: int) -> VariablePart:
    """The opening's state of turns 0 to 3; from then on what two players make of it who never lose."""
    if turn_num <= 3:
        return replace(OPENING, turn_num=turn_num)
    before = state_of(turn_num - 1)
    move = GAME.bot(turn_num % 2, bytes).move(before, another_round=True)
    assert move is not None
    return move.after(before)


def final_of(turn_num: int) -> VariablePart:
    """The final state that may follow the state before."""
    return VariablePart(state_of(turn_num - 1).outcome, b"", turn_num, is_final=True)


@dataclass(frozen=True)
class Saved:
    """A channel whose signed states are saved."""

    fixed: FixedPart = field(default_factory=fixed_part)
    domain: Domain = DOMAIN

    @property
    def id(self) -> bytes:
        return channel_id(self.fixed, self.domain)

    def signed(self, state: VariablePart, *signers: Key) -> SignedState:
        """Signed by its mover where nobody is named."""
        signers = signers or (PLAYERS[state.turn_num % 2],)
        return SignedState(state, {PLAYERS.index(key): self.signature(key, state) for key in signers})

    def signature(self, key: Key, state: VariablePart) -> Signature:
        return sign(key, state, self.fixed, self.domain)

    def save(self, signed: SignedState | VariablePart, name: str = "state.json") -> str:
        """Write it to the current directory; the file's name."""
        if isinstance(signed, VariablePart):
            signed = self.signed(signed)
        Path(name).write_text(encode_file(SignedStateFile(self.domain, self.fixed, signed)))
        return name
