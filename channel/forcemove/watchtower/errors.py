"""Why a watchtower refuses an appointment, and why it cannot act for a client."""

from __future__ import annotations

from forcemove.errors import CounterpartyError, LocalError


class NotServed(CounterpartyError):
    """The tower does not serve this address (20 bytes), or the appointment was signed for another tower."""

    client: bytes


class NotAParticipant(CounterpartyError):
    """The signer of the appointment (20 bytes) takes no part in the channel."""

    client: bytes
    channel_id: bytes


class NotWatched(CounterpartyError):
    """The tower does not watch this adjudicator (20 bytes) on this chain, or has not been able to read it yet."""

    chain_id: int
    adjudicator: bytes


class AppNotKnown(CounterpartyError):
    """The proof needs the rules of an app (20 bytes) that the tower does not have. A proof that needs no app's rules is
    accepted: a state that all participants have signed."""

    app: bytes


class NotProved(CounterpartyError):
    """The states do not show that every participant can be held to the last one, which is of turn `turn_num`, or that
    all can be from the first one on, where that is recorded."""

    turn_num: int


class NothingNewer(CounterpartyError):
    """The tower has an appointment that answers up to turn `held`; this one, up to turn `turn_num`, is older, weaker,
    or of the same strength and different. The tower keeps the one that it has."""

    channel_id: bytes
    turn_num: int
    held: int


class ChannelOver(CounterpartyError):
    """The channel is finalized or closed: there is nothing to defend any more."""

    channel_id: bytes


class TooManyChannels(CounterpartyError):
    """The tower watches at most `most` channels for each client, and watches as many for this one (20 bytes)."""

    client: bytes
    most: int


class OtherReceipt(CounterpartyError):
    """The tower's receipt does not fit the appointment that it was given, or is of a later time: `field` names what
    differs."""

    field: str


class BudgetExhausted(LocalError):
    """An answer for `client` (20 bytes) in a channel would cost `needed` or more at the present price, and `left` is
    left of what the tower spends for this client; both in wei. The answer was not sent."""

    client: bytes
    channel_id: bytes
    left: int
    needed: int


class StandingBy(LocalError):
    """Another process drives this tower (its account on the chain): send appointments to that process. This one takes
    over when the lease of the other has ended."""

    chain_id: int
    account: bytes
