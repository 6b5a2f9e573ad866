"""The protocol's values, as in `contracts/types`: addresses, signatures, fixed parts, outcomes and states.

A value that exists is valid. Addresses are 20 bytes, hashes and ids 32 bytes, numbers Python's integers within
Solidity's widths. An outcome is a tuple of allocations, 1 to 32, grouped by asset in rising order, at most 4 assets.
Its shape is checked by `require_valid_outcome`, in the order and with the errors of `Outcomes.sol`, because it depends
on the channel. Knows only errors and the hash.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from forcemove.errors import InvalidValue
from forcemove.protocol import rule_errors
from forcemove.protocol.hashing import keccak256

ZERO_ADDRESS = bytes(20)
ETHER = ZERO_ADDRESS
"""The asset that stands for ether."""
UINT48_MAX = 2**48 - 1
UINT64_MAX = 2**64 - 1
UINT256_MAX = 2**256 - 1
MIN_PARTICIPANTS = 2
MAX_PARTICIPANTS = 8
MIN_CHALLENGE_DURATION = 60
MAX_CHALLENGE_DURATION = 365 * 24 * 60 * 60
MAX_ALLOCATIONS = 32
MAX_ASSETS = 4
MAX_APP_DATA = 8_192
"""The most that appData and evidence have together, in bytes."""
MAX_AMOUNT = 2**253 - 1
"""The most that a channel can hold of an asset, in its smallest unit."""
_ADDRESS_PREFIX = bytes(12)
_NOBODY = bytes(32)


def require_uint(field: str, value: int, maximum: int) -> None:
    """Raise `InvalidValue` unless `value` is an integer from 0 to `maximum` (a bool is refused)."""
    if type(value) is not int or not 0 <= value <= maximum:
        raise InvalidValue(field, value, f"an integer from 0 to {maximum}")


def require_bytes(field: str, value: bytes, length: int) -> None:
    """Raise `InvalidValue` unless `value` is `bytes` of exactly this length."""
    if type(value) is not bytes or len(value) != length:
        raise InvalidValue(field, value, f"exactly {length} bytes")


class Signature(Struct, frozen=True):
    """A compact ECDSA signature (EIP-2098), 64 bytes: `r`, then `s` with the parity of y in its highest bit.

    Only the length is checked here; `signing.recover` finds out whose signature it is, and refuses one that is not
    canonical.
    """

    compact: bytes

    def __post_init__(self) -> None:
        require_bytes("signature", self.compact, 64)

    @property
    def r(self) -> bytes:
        """The 32 bytes of r."""
        return self.compact[:32]

    @property
    def vs(self) -> bytes:
        """The 32 bytes of s, with the parity in the highest bit."""
        return self.compact[32:]


class FixedPart(Struct, frozen=True, gc=False):
    """What never changes in a channel; its id commits to all of it.

    `participants`: 2 to 8 distinct addresses, none zero. `channel_nonce`: uint64. `app_definition`: the address of the
    app. `challenge_duration`: seconds, 60 to 31,536,000. `asset`: the home asset (20 bytes; zero is ether), with which
    the record is stored. `total`: what the channel is funded with in it, to which every outcome adds up; 0: any.
    Raises the adjudicator's errors, in its order.
    """

    participants: tuple[bytes, ...]
    channel_nonce: int
    app_definition: bytes
    challenge_duration: int
    asset: bytes = ETHER
    total: int = 0

    def __post_init__(self) -> None:
        if type(self.participants) is not tuple:
            raise InvalidValue("participants", self.participants, "a tuple of addresses")
        for participant in self.participants:
            require_bytes("participants", participant, 20)
        require_uint("channel_nonce", self.channel_nonce, UINT64_MAX)
        require_bytes("app_definition", self.app_definition, 20)
        require_uint("challenge_duration", self.challenge_duration, UINT48_MAX)
        require_bytes("asset", self.asset, 20)
        require_uint("total", self.total, UINT256_MAX)
        _require_valid_participants(self.participants)
        if not MIN_CHALLENGE_DURATION <= self.challenge_duration <= MAX_CHALLENGE_DURATION:
            raise rule_errors.ChallengeDurationOutOfRange(self.challenge_duration)
        if self.total > MAX_AMOUNT:
            raise rule_errors.TotalTooHigh(self.total)

    def total_of(self, asset: bytes) -> int:
        """What the channel is funded with of an asset (20 bytes), if it is its home asset; else 0."""
        return self.total if asset == self.asset else 0

    def mover(self, turn_num: int) -> int:
        """The index of the participant who signs the state of this turn."""
        return turn_num % len(self.participants)


def _require_valid_participants(participants: tuple[bytes, ...]) -> None:
    if not MIN_PARTICIPANTS <= len(participants) <= MAX_PARTICIPANTS:
        raise rule_errors.ParticipantCountOutOfRange(len(participants))
    seen: dict[bytes, int] = {}
    for index, participant in enumerate(participants):
        if participant == ZERO_ADDRESS:
            raise rule_errors.ZeroParticipant(index)
        if participant in seen:
            raise rule_errors.DuplicateParticipant(seen[participant], index)
        seen[participant] = index


class Allocation(Struct, frozen=True):
    """`amount` (uint256, the smallest unit) of `asset` (20 bytes; zero is ether) to `destination` (32 bytes)."""

    asset: bytes
    destination: bytes
    amount: int

    def __post_init__(self) -> None:
        require_bytes("asset", self.asset, 20)
        require_bytes("destination", self.destination, 32)
        require_uint("amount", self.amount, UINT256_MAX)


Outcome = tuple[Allocation, ...]


def address_destination(address: bytes) -> bytes:
    """The destination that pays an address: 12 zero bytes, then its 20."""
    require_bytes("address", address, 20)
    return _ADDRESS_PREFIX + address


def destination_address(destination: bytes) -> bytes | None:
    """The address that a destination pays, or None where it is a channel's id."""
    return destination[12:] if destination.startswith(_ADDRESS_PREFIX) else None


def totals(outcome: Outcome) -> dict[bytes, int]:
    """What an outcome allocates of each asset, in its order."""
    return {
        asset: sum(allocation.amount for allocation in group)
        for asset, group in groupby(outcome, key=attrgetter("asset"))
    }


def require_valid_outcome(
    outcome: Outcome, channel_id: bytes, adjudicator: bytes, home: bytes, home_total: int
) -> None:
    """Refuse an outcome of the channel that is not well formed, or adds up to another total. The twin of
    `Outcomes.requireValid`.

    - `outcome`: what a state would pay.
    - `channel_id`: 32 bytes.
    - `adjudicator`: its address, 20 bytes, which nothing may go to.
    - `home`: the channel's home asset, 20 bytes.
    - `home_total`: what the channel is funded with in it; 0: anything.
    """
    if type(outcome) is not tuple:
        raise InvalidValue("outcome", outcome, "a tuple of allocations")
    if not 1 <= len(outcome) <= MAX_ALLOCATIONS:
        raise rule_errors.AllocationCountOutOfRange(len(outcome))
    forbidden = (_NOBODY, channel_id, _ADDRESS_PREFIX + adjudicator)
    asset, assets, total = outcome[0].asset, 1, 0
    for index, allocation in enumerate(outcome):
        if allocation.asset != asset:
            if allocation.asset < asset:
                raise rule_errors.AssetsNotSorted(index)
            asset, assets, total = allocation.asset, assets + 1, 0
            if assets > MAX_ASSETS:
                raise rule_errors.TooManyAssets(assets)
        if allocation.destination in forbidden:
            raise rule_errors.ForbiddenDestination(index, allocation.destination)
        total += allocation.amount
        if total > UINT256_MAX:
            raise rule_errors.OutcomeTotalOverflow(asset)
    funded = totals(outcome).get(home, 0) if home_total else 0
    if funded != home_total:
        raise rule_errors.WrongTotal(home_total, funded)


def require_same_totals(from_: Outcome, to: Outcome) -> None:
    """Refuse two well-formed outcomes that name other assets or, of one asset, another total."""
    asset = from_[0].asset
    if from_[-1].asset == asset == to[0].asset == to[-1].asset:
        total_from, total_to = sum([each.amount for each in from_]), sum([each.amount for each in to])
        if total_from != total_to:
            raise rule_errors.TotalChanged(asset, total_from, total_to)
        return
    totals_from, totals_to = list(totals(from_).items()), list(totals(to).items())
    for (asset, total_from), (asset_to, total_to) in zip(totals_from, totals_to, strict=False):
        if asset != asset_to:
            raise rule_errors.AssetsChanged()
        if total_from != total_to:
            raise rule_errors.TotalChanged(asset, total_from, total_to)
    if len(totals_from) != len(totals_to):
        raise rule_errors.AssetsChanged()


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
            raise rule_errors.StateCountOutOfRange(len(states))
        if turns != [*range(turns[0], turns[0] + len(turns))]:
            raise InvalidValue("turn_num", turns, "consecutive turns")
        if not self.is_from_record:
            if len(self.signatures) != count:
                raise InvalidValue("signatures", len(self.signatures), f"{count}, or one less than states")
            require_uint("signed_states", self.signed_states, 256**count - 1 if len(states) > 1 else 0)
        for state in states[1:] or states:
            state.full_evidence()
