"""The errors of inspection: the question makes no sense, or a wrong node, book or adjudicator was named."""

from __future__ import annotations

from forcemove.errors import ForcemoveError, LocalError


class InspectionError(LocalError):
    """The question has no answer. Nothing has changed, since inspection changes nothing."""


class BookOfAnotherChain(InspectionError):
    """The address book at `path` is of chain `found`; what is inspected is of chain `expected`."""

    path: str
    expected: int
    found: int


class NodeOfAnotherChain(InspectionError):
    """The state is of chain `expected`; the node at `endpoint` is of chain `found`."""

    endpoint: str
    expected: int
    found: int


class NotThisAdjudicator(InspectionError):
    """The state names the adjudicator `named` (20 bytes), and another was given."""

    named: bytes
    given: bytes


class AdjudicatorNotNamed(InspectionError):
    """A channel's adjudicator on chain `chain_id` was named neither by a book nor by its address."""

    chain_id: int


class NotThisKindOfId(InspectionError):
    """These 32 bytes are an address with zeros before it: no channel's id."""

    data: bytes


class ChannelUnknown(InspectionError):
    """No deposit was ever made into the channel (32 bytes) at `adjudicator` (20 bytes), and nothing is recorded of
    it."""

    adjudicator: bytes
    channel_id: bytes


class RecordIncomplete(InspectionError):
    """A game's record, or the journal that it is made from, lacks the state of this turn."""

    turn_num: int


class RecordRefused(InspectionError):
    """The state of a turn in a game's record cannot be believed. `reason`: the rule that it breaks."""

    turn_num: int
    reason: ForcemoveError


class RecordChanged(InspectionError):
    """A member of a game's record does not follow from the rest of it: something was changed after it was written."""

    member: str


class GameMissing(InspectionError):
    """The channel plays the contract `contract`, and no game that is installed has it."""

    contract: str
