"""What can be wrong with our input or a message of a counterparty. Pure."""

from __future__ import annotations

from forcemove.errors import CounterpartyError, ForcemoveError, LocalError, UnknownVersion


class ChannelOfOlderContracts(UnknownVersion):
    """A channel of the contracts of version 1, whose states are signed and hashed differently. The last release that
    knows them, and brings its money home, is `release`."""

    release: str


class WrongPhase(LocalError):
    """The channel is in a phase in which `action` makes no sense."""

    action: str
    phase: str


class MoneyMissing(LocalError):
    """The channel does not hold all deposits any more: a reorganisation has taken one away. No move is made before the
    deposit is there again."""

    channel_id: bytes


class EndpointsDiffer(LocalError):
    """An endpoint denies something that the others show of the channel, or they were not compared yet since the start,
    or since our own process stood still. No move is made before they agree, unless it answers a challenge; leaving is
    possible once all have answered."""

    channel_id: bytes


class SignsNothing(LocalError):
    """We have no key for this channel, because ours is a copy of it: the states that were signed after the copy was
    made are not known here. The copy answers challenges and collects; the original may go on."""

    channel_id: bytes


class ChannelIdUsed(LocalError):
    """The channel of this id has paid out already, before we have signed any state of it. A new channel needs a nonce
    that no other has had: draw one at random."""

    channel_id: bytes


class OutOfTurn(LocalError):
    """The next state is for `mover`, a participant's index, to sign."""

    turn_num: int
    mover: int


class AlreadySigned(LocalError):
    """We have signed another state of this turn, or a later one. Two signatures for one turn can cost everything."""

    turn_num: int


class FinalStateSigned(LocalError):
    """We have signed a final state: from there on only final states with its outcome are signed."""

    turn_num: int


class NotSupported(LocalError):
    """Not every participant can be held to our newest state, so that nothing can be proved with it yet."""

    turn_num: int


class OpeningMismatch(CounterpartyError):
    """A setup state is not exactly the agreed one."""

    turn_num: int


class StateConflict(CounterpartyError):
    """A second, different state came for a turn. The first one is kept."""

    turn_num: int


class SignatureMissing(CounterpartyError):
    """A state came without the signature of `participant` (an index)."""

    participant: int


class MessageRefused(CounterpartyError):
    """A counterparty has sent a message that breaks a rule, for this `reason`; `evidence` is what it sent."""

    reason: ForcemoveError
    evidence: object
