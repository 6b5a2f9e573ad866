"""Meetings that a program with version 2 of offers has stored: they open, with the same hashes and tables, and what has
no new terms is still written so."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove.errors import MalformedBytes, UnknownVersion
from forcemove.sessions.meetings.meeting import MEETINGS, Meeting, PendingOffer
from forcemove.transport.joins import Join
from forcemove.transport.offers import OFFERS, Offer, _ShortCodec
from tests.transport.people import ALICE, BOB

ADJUDICATOR, APP, HOST = b"\xad" * 20, b"\xa9" * 20, ALICE.address
TERMS = 10**18, 5 * 10**18, 3_600, 7
OFFER = Offer("tic-tac-toe", 31_337, ADJUDICATOR, APP, bytes(20), *TERMS, HOST, HOST, 1_800_000_000, 2, "Alice")
MEETING = Meeting(OFFER, (Join(OFFER.hash, BOB.address, BOB.address, "Bob"),), True)
PLAIN: _ShortCodec[Offer] = _ShortCodec("offer", Offer, 2)
HASH = "788597df9ecffa16986fb79aa04f82e677de47a9aab262ea466923fa2f54d80f"
TABLE = "a9c3431c6b54ba0693e49a3339563724d8fa61e1839e5e3107d638dcfc311672"
STORED_MEETING = bytes.fromhex(
    "920284a474797065a74d656574696e67a56f666665728ea467616d65ab7469632d7461632d746f65a8636861696e5f6964cd7a69"
    "ab61646a7564696361746f72c414adadadadadadadadadadadadadadadadadadadada3617070c414a9a9a9a9a9a9a9a9a9a9a9a9"
    "a9a9a9a9a9a9a9a9a56173736574c4140000000000000000000000000000000000000000a57374616b65cf0de0b6b3a7640000a7"
    "6465706f736974cf4563918244f40000a86475726174696f6ecd0e10a56e6f6e636507a4686f7374c4147e5f4552091a69125d5d"
    "fcb7b8c2659029395bdfa67061796f7574c4147e5f4552091a69125d5dfcb7b8c2659029395bdfa765787069726573ce6b49d200"
    "a5736561747302a46e616d65a5416c696365a56a6f696e739184a56f66666572c420788597df9ecffa16986fb79aa04f82e677de"
    "47a9aab262ea466923fa2f54d80fa56775657374c4142b5ad5c4795c026514f8317c7a215e218dccd6cfa67061796f7574c4142b"
    "5ad5c4795c026514f8317c7a215e218dccd6cfa46e616d65a3426f62a76861735f6d6574c3"
)
STORED_OFFER = bytes.fromhex(
    "920282a474797065a757616974696e67a56f666665728ea467616d65ab7469632d7461632d746f65a8636861696e5f6964cd7a69"
    "ab61646a7564696361746f72c414adadadadadadadadadadadadadadadadadadadada3617070c414a9a9a9a9a9a9a9a9a9a9a9a9"
    "a9a9a9a9a9a9a9a9a56173736574c4140000000000000000000000000000000000000000a57374616b65cf0de0b6b3a7640000a7"
    "6465706f736974cf4563918244f40000a86475726174696f6ecd0e10a56e6f6e636507a4686f7374c4147e5f4552091a69125d5d"
    "fcb7b8c2659029395bdfa67061796f7574c4147e5f4552091a69125d5dfcb7b8c2659029395bdfa765787069726573ce6b49d200"
    "a5736561747302a46e616d65a5416c696365"
)
"""As commit 4d509d87 has written them."""


def test_they_open_and_are_written_as_before() -> None:
    assert (OFFER.hash.hex(), MEETING.table.id.hex()) == (HASH, TABLE)
    for stored, value in ((STORED_MEETING, MEETING), (STORED_OFFER, PendingOffer(OFFER))):
        assert MEETINGS.decode(stored) == value
        assert MEETINGS.encode(value) == stored


@pytest.mark.parametrize("terms", [{"move_time": 60}, {"guest": BOB.address}])
def test_new_terms_are_no_part_of_version_2(terms: dict[str, object]) -> None:
    offer = replace(OFFER, **terms)
    encoded = OFFERS.encode(offer)
    assert (encoded[:3].hex(), OFFERS.decode(encoded)) == ("92038f", offer)  # an array of 2, version 3, a map of 15
    for older, error in ((bytes([0x92, 2]), MalformedBytes), (bytes([0x92, 1]), UnknownVersion)):
        with pytest.raises(error):
            OFFERS.decode(older + encoded[2:])
    with pytest.raises(MalformedBytes):  # as a program of version 2 would write them
        OFFERS.decode(PLAIN.encode(offer))
    with pytest.raises(MalformedBytes):
        OFFERS.decode(bytes([0x92, 3]) + OFFERS.encode(OFFER)[2:])


@pytest.mark.parametrize("value", [MEETING, PendingOffer(OFFER)], ids=["a meeting", "an offer"])
def test_a_relay_is_no_part_of_earlier_versions(value: Meeting | PendingOffer) -> None:
    kept = replace(value, relay="wss://relay.example")
    encoded = MEETINGS.encode(kept)
    assert (encoded[:2].hex(), MEETINGS.decode(encoded)) == ("9204", kept)
    for older in (2, 3):
        with pytest.raises(MalformedBytes):
            MEETINGS.decode(bytes([0x92, older]) + encoded[2:])
    with pytest.raises(MalformedBytes):  # one without a relay
        MEETINGS.decode(bytes([0x92, 4]) + MEETINGS.encode(value)[2:])
