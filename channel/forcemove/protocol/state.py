"""States: what changes with each turn, joined to what never changes, and signed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from forcemove.errors import InvalidValue
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.outcome import Allocation, Outcome
from forcemove.protocol.rule_errors import StateCountOutOfRange
from forcemove.protocol.types import UINT48_MAX, Signature, require_bytes, require_uint

__all__ = ["SignedState", "SupportProof", "VariablePart"]


class VariablePart(Struct, frozen=True, gc=False):
    """What changes with each turn.

    `outcome`: a tuple of allocations. `app_data`: the position, which is what the next move needs. `turn_num`: uint48.
    `is_final`: only concluding may follow. `evidence`: what shows that the move was right, and nobody needs after it;
    with `app_data` at most 8,192 bytes. `evidence_hash`: in place of it its hash (32 bytes), where no more is known:
    nobody asks for the evidence of a state that others follow. `rules.require_valid_state` checks whether the state is
    well formed in its channel.
    """

    outcome: Outcome
    app_data: bytes
    turn_num: int
    is_final: bool = False
    evidence: bytes = b""
    evidence_hash: bytes = b""

    def __post_init__(self) -> None:
        if type(self.outcome) is not tuple:
            raise InvalidValue("outcome", self.outcome, "a tuple of allocations")
        for each in self.outcome:
            if type(each) is not Allocation:
                raise InvalidValue("outcome", self.outcome, "a tuple of allocations")
        if type(self.app_data) is not bytes:
            raise InvalidValue("app_data", self.app_data, "bytes")
        if type(self.evidence) is not bytes:
            raise InvalidValue("evidence", self.evidence, "bytes")
        if type(self.is_final) is not bool:
            raise InvalidValue("is_final", self.is_final, "True or False")
        require_uint("turn_num", self.turn_num, UINT48_MAX)
        if self.evidence_hash != b"":
            require_bytes("evidence_hash", self.evidence_hash, 32)
            if self.evidence or self.is_final:
                raise InvalidValue("evidence_hash", self.evidence_hash, "in place of evidence, of a state not final")

    def full_evidence(self) -> bytes:
        """The evidence itself. Raises `InvalidValue` where only its hash is known."""
        if self.evidence_hash:
            raise InvalidValue("evidence", self.evidence_hash, "the evidence, not its hash alone")
        return self.evidence

    def with_hashed_evidence(self) -> VariablePart:
        """The same state, with the hash of its evidence in the place of it, if it has any."""
        return replace(self, evidence=b"", evidence_hash=keccak256(self.evidence)) if self.evidence else self


class SignedState(Struct, frozen=True, gc=False):
    """A state and its signatures, by participant index."""

    state: VariablePart
    signatures: Mapping[int, Signature] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for index, signature in self.signatures.items():
            if type(index) is not int or type(signature) is not Signature:
                raise InvalidValue("signatures", self.signatures, "signatures by participant index")
        force_setattr(self, "signatures", MappingProxyType(dict(self.signatures)))

    def with_signature(self, participant: int, signature: Signature) -> SignedState:
        """The same state with one more signature."""
        return SignedState(self.state, {**self.signatures, participant: signature})

    def __hash__(self) -> int:
        return hash((self.state, tuple(sorted((i, s.compact) for i, s in self.signatures.items()))))


class SupportProof(Struct, frozen=True, gc=False):
    """Shows that every participant can be held to the last of `states`: arguments of `challenge` and `checkpoint`.

    `states`: 1 to n consecutive states. `signatures`: the i-th is participant i's. `signed_states`: byte i, from the
    lowest, is the index in `states` of what participant i has signed.

    From the record: the first state is the recorded one, and `signatures` has one for each later state, its mover's;
    `signed_states` is 0. The recorded state by itself, for a challenge in mode Open, has none. Of the first of several
    states the hash of its evidence is enough.
    """

    states: tuple[VariablePart, ...]
    signatures: tuple[Signature, ...]
    signed_states: int

    @property
    def is_from_record(self) -> bool:
        """Whether it begins with the recorded state."""
        return self.signed_states == 0 and len(self.signatures) + 1 == len(self.states)

    @property
    def last(self) -> VariablePart:
        """The state that the proof supports."""
        return self.states[-1]

    def require_complete(self, count: int) -> None:
        """Refuse a proof that no calldata has in a channel of `count` participants. Raises `StateCountOutOfRange`, and
        `InvalidValue`: where turns are not consecutive, there are too many or too few signatures, `signed_states` has
        more than the participants', or evidence is missing and its hash is not enough."""
        states, turns = self.states, [state.turn_num for state in self.states]
        if not 1 <= len(states) <= count:
            raise StateCountOutOfRange(len(states))
        if turns != [*range(turns[0], turns[0] + len(turns))]:
            raise InvalidValue("turn_num", turns, "consecutive turns")
        if not self.is_from_record:
            if len(self.signatures) != count:
                raise InvalidValue("signatures", len(self.signatures), f"{count}, or one less than states")
            require_uint("signed_states", self.signed_states, 256**count - 1 if len(states) > 1 else 0)
        for state in states[1:] or states:
            state.full_evidence()
