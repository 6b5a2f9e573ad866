"""Channels, states and proofs for tests: everything has a default, so that a test names only what it is about.

Alice and Bob play; Mallory is the one that should not get away with it. State t of a running game carries the number t,
as `CountingApp` wants it. Destinations are given as keys, addresses (20 bytes) or ids (32 bytes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from forcemove import Allocation, AppError, Key, Outcome, Terms, address_destination, keccak256
from forcemove.protocol.encoding import Domain, challenge_hash, channel_id, digest, hash_state, word
from forcemove.protocol.types import ETHER, FixedPart, Signature, SignedState, SupportProof, VariablePart

ALICE = Key(keccak256(b"alice"))
BOB = Key(keccak256(b"bob"))
CAROL = Key(keccak256(b"carol"))
MALLORY = Key(keccak256(b"mallory"))
PLAYERS = (ALICE, BOB)

DOMAIN = Domain(31_337, bytes.fromhex("ad" * 20))
APP = bytes.fromhex("a9" * 20)
TOKEN = bytes.fromhex("70" * 20)
DAY = 86_400
NO_SIGNATURE = Signature(bytes(64))


@cache
def players(count: int) -> tuple[Key, ...]:
    """So many different keys, Alice, Bob and Carol first."""
    return (ALICE, BOB, CAROL, *(Key(keccak256(b"player %d" % index)) for index in range(3, count)))[:count]


def fixed_part(
    keys: Sequence[Key] = PLAYERS,
    nonce: int = 0,
    app: bytes = APP,
    duration: int = DAY,
    asset: bytes = ETHER,
    total: int = 0,
) -> FixedPart:
    return FixedPart(tuple(key.address for key in keys), nonce, app, duration, asset, total)


def terms(stake: int, keys: Sequence[Key] = PLAYERS, deposit: int = 10) -> Terms:
    """What is agreed on in a channel in ether."""
    fixed = fixed_part(keys)
    return Terms(channel_id(fixed, DOMAIN), fixed.participants, stake, ((ETHER, (deposit,) * len(keys)),))


def destination(to: Key | bytes) -> bytes:
    if isinstance(to, Key):
        return address_destination(to.address)
    return to if len(to) == 32 else address_destination(to)


def allocation(to: Key | bytes, amount: int, asset: bytes = ETHER) -> Allocation:
    return Allocation(asset, destination(to), amount)


def outcome(*amounts: int, to: Sequence[Key | bytes] | None = None, asset: bytes = ETHER) -> Outcome:
    """These amounts to Alice, Bob, ... or to whom is named; ten each for Alice and Bob where nothing is said."""
    amounts = amounts or (10, 10)
    payees = players(len(amounts)) if to is None else to
    return tuple(allocation(payee, amount, asset) for payee, amount in zip(payees, amounts, strict=True))


def count_data(turn_num: int, num_participants: int = 2) -> bytes:
    """What the counting app's state of this turn carries; all states of the setup carry the same."""
    return word(max(turn_num, 2 * num_participants - 1))


def state(
    turn_num: int = 10,
    outcome_: Outcome | None = None,
    app_data: bytes | None = None,
    is_final: bool = False,
    num_participants: int = 2,
) -> VariablePart:
    if app_data is None:
        app_data = b"" if is_final else count_data(turn_num, num_participants)
    return VariablePart(outcome() if outcome_ is None else outcome_, app_data, turn_num, is_final)


def final(turn_num: int = 14, outcome_: Outcome | None = None) -> VariablePart:
    return state(turn_num, outcome_, is_final=True)


def chain(*turns: int, outcome_: Outcome | None = None, num_participants: int = 2) -> tuple[VariablePart, ...]:
    return tuple(state(turn, outcome_, num_participants=num_participants) for turn in turns)


# --------------------------------------------------------------------------------------------------------- signing


def sign(key: Key, state_: VariablePart, fixed: FixedPart | None = None, domain: Domain = DOMAIN) -> Signature:
    id_ = channel_id(fixed or fixed_part(), domain)
    return key.sign(digest(domain, hash_state(id_, state_).state))


def sign_challenge(
    key: Key, state_: VariablePart, fixed: FixedPart | None = None, domain: Domain = DOMAIN
) -> Signature:
    id_ = channel_id(fixed or fixed_part(), domain)
    return key.sign(digest(domain, challenge_hash(id_, state_.turn_num, hash_state(id_, state_).state)))


def signed(
    state_: VariablePart,
    *signers: Key,
    keys: Sequence[Key] = PLAYERS,
    fixed: FixedPart | None = None,
    domain: Domain = DOMAIN,
) -> SignedState:
    """The state with the signatures of these participants of the channel `keys`."""
    fixed = fixed or fixed_part(keys)
    return SignedState(state_, {keys.index(signer): sign(signer, state_, fixed, domain) for signer in signers})


def usual_pattern(states: Sequence[VariablePart], num_participants: int) -> tuple[int, ...]:
    """Who signs what, as play leaves it: each participant the state of its own turn, else the first of the chain."""
    last = len(states) - 1
    turn = states[-1].turn_num
    return tuple(max(0, last - (turn - index) % num_participants) for index in range(num_participants))


def pack_pattern(pattern: Sequence[int]) -> int:
    """`signedStates`: byte i, from the lowest, is what participant i has signed."""
    return int.from_bytes(bytes(pattern), "little")


def proof(
    *states: VariablePart,
    keys: Sequence[Key] = PLAYERS,
    pattern: Sequence[int] | None = None,
    fixed: FixedPart | None = None,
    domain: Domain = DOMAIN,
) -> SupportProof:
    """A support proof of the last state, signed as `pattern` says."""
    fixed = fixed or fixed_part(keys)
    pattern = usual_pattern(states, len(keys)) if pattern is None else pattern
    signatures = tuple(sign(key, states[index], fixed, domain) for key, index in zip(keys, pattern, strict=True))
    return SupportProof(states, signatures, pack_pattern(pattern))


def sign_all(
    state_: VariablePart,
    keys: Sequence[Key] = PLAYERS,
    fixed: FixedPart | None = None,
    domain: Domain = DOMAIN,
) -> tuple[Signature, ...]:
    """Everybody's signature of one state."""
    return tuple(sign(key, state_, fixed or fixed_part(keys), domain) for key in keys)


# ------------------------------------------------------------------------------------------------ the counting app


@dataclass(eq=False)
class MalformedCount(AppError):
    """appData is not exactly one word."""

    length: int


@dataclass(eq=False)
class WrongCount(AppError):
    """The count does not rise by exactly one."""

    expected: int
    submitted: int


class CountingRules:
    """The twin of `contracts/test/CountingApp.sol`: appData is one word that counts up by one each turn."""

    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        expected, submitted = _count(from_.app_data) + 1, _count(to.app_data)
        if submitted != expected:
            raise WrongCount(expected, submitted)
        return True


def _count(app_data: bytes) -> int:
    if len(app_data) != 32:
        raise MalformedCount(len(app_data))
    return int.from_bytes(app_data, "big")


COUNTING = CountingRules()
