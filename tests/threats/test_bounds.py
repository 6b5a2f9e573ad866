"""How many, how large, how long: rows 10, 24 and 36 of the list of attacks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forcemove import ETHER, Agreement, Key, RuleError, keccak256
from forcemove.protocol import rule_errors, rules, types
from forcemove.protocol.codec.packed import ETHER_BIT, FINAL, IN_WORDS, SELECTORS
from forcemove.protocol.codec.packed_writer import checkpoint_call
from forcemove.protocol.encoding import Domain, channel_id, digest, hash_state, word
from forcemove.protocol.types import VariablePart
from tests.parity import core_abi as abi
from tests.parity.core_verdict import Verdict, of_error
from tests.protocol.builders import (
    ALICE,
    APP,
    BOB,
    DAY,
    DOMAIN,
    NO_SIGNATURE,
    allocation,
    chain,
    destination,
    final,
    fixed_part,
    players,
    state,
)
from tests.threats.court import ALLOWED, Court

A, B = ALICE.address, BOB.address


# --------------------------------------------------------------------------------------------------------------- 10


class Unchecked:
    """A fixed part as nobody's types would let it pass."""

    def __init__(self, participants: tuple[bytes, ...], duration: int) -> None:
        self.participants, self.duration = participants, duration

    def call(self, name: str, app: bytes, *parts: bytes) -> bytes:
        """Packed calldata: of a channel in ether, with any total, and what follows."""
        head = bytes((ETHER_BIT | len(self.participants),))
        fixed = head, bytes(8), app, self.duration.to_bytes(4), bytes(1), *self.participants
        return SELECTORS[name] + b"".join((*fixed, *parts))

    def id(self, app: bytes, domain: Domain) -> bytes:
        """As the contract would name it."""
        words = (word(domain.chain_id), abi.address(domain.adjudicator), word(0), abi.address(app))
        unfunded = abi.address(ETHER), word(0)
        return keccak256(b"".join((*words, word(self.duration), *unfunded, *map(abi.address, self.participants))))


MANY = tuple(key.address for key in players(9))
BAD_CHANNELS = {
    "nobody": (Unchecked((), DAY), "ParticipantCountOutOfRange", (0,)),
    "one": (Unchecked((A,), DAY), "ParticipantCountOutOfRange", (1,)),
    "nine": (Unchecked(MANY, DAY), "ParticipantCountOutOfRange", (9,)),
    "zero first": (Unchecked((bytes(20), B), DAY), "ZeroParticipant", (0,)),
    "zero last": (Unchecked((A, bytes(20)), DAY), "ZeroParticipant", (1,)),
    "twice": (Unchecked((A, A), DAY), "DuplicateParticipant", (0, 1)),
    "twice apart": (Unchecked((A, B, A), DAY), "DuplicateParticipant", (0, 2)),
    "no time": (Unchecked((A, B), 0), "ChallengeDurationOutOfRange", (0,)),
    "59 seconds": (Unchecked((A, B), 59), "ChallengeDurationOutOfRange", (59,)),
    "over a year": (Unchecked((A, B), 365 * DAY + 1), "ChallengeDurationOutOfRange", (365 * DAY + 1,)),
    "forever": (Unchecked((A, B), 2**32 - 1), "ChallengeDurationOutOfRange", (2**32 - 1,)),
}
bad_channels = pytest.mark.parametrize(("bad", "error", "values"), BAD_CHANNELS.values(), ids=BAD_CHANNELS)


@bad_channels
def test_threat_10_the_contract_refuses_a_bad_channel(
    court: Court, bad: Unchecked, error: str, values: tuple[int, ...]
) -> None:
    """Everybody that it names has signed, as far as anybody can. A proof for nobody would have no states."""
    keys = {key.address: key for key in players(9)}
    last = final(14, (allocation(A, 1),))
    signatures = tuple(
        sign_raw(keys[each], last, bad.id(court.app, court.domain), court.domain) if each in keys else NO_SIGNATURE
        for each in bad.participants
    )
    paid = b"\x01\x41" + A + b"\x01"
    signed = b"".join(each.compact for each in signatures)
    proved = (14).to_bytes(6), b"\x01", bytes((FINAL | IN_WORDS,)), paid, bytes(1), signed
    operations: dict[str, tuple[bytes, ...]] = {"conclude": ((14).to_bytes(6), paid, signed, b"\x07")}
    if bad.participants:
        operations |= {"challenge": (*proved, NO_SIGNATURE.compact), "checkpoint": proved}
    for name, parts in operations.items():
        assert court.packed(A, bad.call(name, court.app, *parts)) == (error, values)


def sign_raw(key: Key, signed: VariablePart, id_: bytes, domain: Domain) -> types.Signature:
    """Of a state in a channel that has an id, but nothing else that is right."""
    return key.sign(digest(domain, hash_state(id_, signed).state))


@bad_channels
def test_threat_10_a_client_refuses_the_same_channel(bad: Unchecked, error: str, values: tuple[int, ...]) -> None:
    with pytest.raises(RuleError) as caught:
        types.FixedPart(bad.participants, 0, APP, bad.duration)
    assert of_error(caught.value) == (error, values)


@pytest.mark.parametrize("duration", [60, 365 * DAY])
def test_threat_10_the_bounds_themselves_are_good(court: Court, duration: int) -> None:
    assert court.challenge_with(court.channel(duration=duration), *chain(10, 11)) == ALLOWED


# --------------------------------------------------------------------------------------------------------------- 24

ASSETS = tuple(bytes((index,)) * 20 for index in range(5))
TOO_LARGE = {
    "appData": (lambda: state(11, app_data=bytes(8_193)), Verdict("AppDataTooLong", (8_193,))),
    "allocations": (lambda: state(11, (allocation(A, 1),) * 33), Verdict("AllocationCountOutOfRange", (33,))),
    "no allocation": (lambda: state(11, ()), Verdict("AllocationCountOutOfRange", (0,))),
    "assets": (lambda: state(11, tuple(allocation(A, 1, each) for each in ASSETS)), Verdict("TooManyAssets", (5,))),
}
too_large = pytest.mark.parametrize(("make", "refusal"), TOO_LARGE.values(), ids=TOO_LARGE)


@too_large
def test_threat_24_the_contract_refuses_a_state_that_is_too_large(
    court: Court, channel: types.FixedPart, make: Callable[[], VariablePart], refusal: Verdict
) -> None:
    large = make()
    assert court.challenge_with(channel, large) == refusal
    assert court.checkpoint_with(channel, state(10), large) == refusal
    assert court.status(channel).is_empty


@too_large
def test_threat_24_a_client_refuses_the_same_state(make: Callable[[], VariablePart], refusal: Verdict) -> None:
    with pytest.raises(RuleError) as caught:
        rules.require_valid_state(channel_id(fixed_part(), DOMAIN), DOMAIN.adjudicator, fixed_part(), make())
    assert of_error(caught.value) == refusal


def test_threat_24_a_conclusion_is_no_larger(court: Court, channel: types.FixedPart) -> None:
    assert court.conclude_with(channel, *(allocation(A, 1),) * 33) == ("AllocationCountOutOfRange", (33,))


# --------------------------------------------------------------------------------------------------------------- 36

ENTRIES = (allocation(A, 1),) * 33
"""One more than there may be. (That what is allowed fits: test_largest.py.)"""


def test_threat_36_the_contract_takes_no_more_than_fits_a_transaction(court: Court) -> None:
    """Eight participants and 32 allocations it takes; of either, not one more, with any signatures."""
    nine, eight = Unchecked(MANY, DAY), court.channel(keys=players(8))
    last = state(11, ENTRIES[:32])
    proved = checkpoint_call(eight, court.proof(eight, last, keys=players(8)))[court.proof_at(eight) :]
    data = nine.call("checkpoint", court.app, proved, NO_SIGNATURE.compact)
    assert court.packed(A, data) == ("ParticipantCountOutOfRange", (9,))
    refused = court.checkpoint(A, eight, court.proof(eight, state(11, ENTRIES), keys=players(8)))
    assert refused == ("AllocationCountOutOfRange", (33,))
    assert court.checkpoint(A, eight, court.proof(eight, last, keys=players(8))) == ALLOWED


def test_threat_36_a_client_refuses_what_fits_no_transaction_before_it_pays() -> None:
    """An agreement with more is never made: each participant has one allocation of each asset, and these are four."""
    assets = [bytes((index,)) * 20 for index in range(5)]

    def agreed(participants: int, assets_: int) -> Agreement:
        keys = players(participants)
        deposits = tuple((asset, (10,) * participants) for asset in assets[:assets_])
        return Agreement(DOMAIN, fixed_part(keys), tuple(destination(key) for key in keys), deposits, word(0))

    assert len(agreed(8, 4).outcome) == 32
    with pytest.raises(rule_errors.ParticipantCountOutOfRange):
        agreed(9, 1)
    with pytest.raises(RuleError):
        agreed(8, 5)
    id_ = channel_id(fixed_part(), DOMAIN)
    with pytest.raises(rule_errors.AllocationCountOutOfRange):
        rules.require_valid_state(id_, DOMAIN.adjudicator, fixed_part(), state(11, ENTRIES))
