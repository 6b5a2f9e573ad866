"""What the participants of a channel agree on before anybody signs: the opening, with every value.

An agreement is made from our own decisions, never from what a counterparty sent: its states are compared with ours.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import force_setattr

from forcemove.errors import InvalidValue
from forcemove.protocol.app import App, Deposits, Terms
from forcemove.protocol.encoding import NO_CHAIN, Domain, channel_id
from forcemove.protocol.types import Allocation, FixedPart, Outcome, VariablePart, require_bytes, require_valid_outcome

DEPOSIT_IN_STAKES = 5
"""What each participant pays in unless something else is agreed on."""


class Agreement(Struct, frozen=True, gc=False):
    """The opening of a channel among `count` (n) participants.

    `destinations`: where each participant is paid (32 bytes each). `deposits`: what each participant pays in.
    `app_data`: the app's initial position. Of each asset, allocation i of `outcome` is participant i's deposit to its
    destination. The fields after `app_data` are derived, whatever values were given.
    """

    domain: Domain
    fixed_part: FixedPart
    destinations: tuple[bytes, ...]
    deposits: Deposits
    app_data: bytes
    count: int = 0
    channel_id: bytes = b""
    outcome: Outcome = ()

    def __post_init__(self) -> None:
        count = len(self.fixed_part.participants)
        if len(self.destinations) != count or any(len(amounts) != count for _, amounts in self.deposits):
            raise InvalidValue("deposits", self.deposits, f"one destination and one amount for each of {count}")
        for destination in self.destinations:
            require_bytes("destinations", destination, 32)
        outcome = tuple(
            Allocation(asset, destination, amount)
            for asset, amounts in self.deposits
            for destination, amount in zip(self.destinations, amounts, strict=True)
        )
        id_ = channel_id(self.fixed_part, self.domain)
        require_valid_outcome(outcome, id_, self.domain.adjudicator, self.fixed_part.asset, self.fixed_part.total)
        force_setattr(self, "count", count)
        force_setattr(self, "channel_id", id_)
        force_setattr(self, "outcome", outcome)

    @property
    def is_friendly(self) -> bool:
        """Whether the channel is played for nothing and without a chain: the id 0 is not a chain's, so no signature for
        this channel is good anywhere else."""
        return self.domain.chain_id == NO_CHAIN

    def setup_state(self, turn_num: int) -> VariablePart:
        """The prefund (turns 0 to n - 1) or postfund (n to 2n - 1) state of this turn."""
        return VariablePart(self.outcome, self.app_data, turn_num)


def agree(
    domain: Domain,
    fixed_part: FixedPart,
    app: App,
    stake: int,
    deposits: Deposits,
    destinations: tuple[bytes, ...],
) -> Agreement:
    """An agreement to play a game. Raises `InvalidValue` where a deposit is below the stake.

    - `domain`: the chain id and the adjudicator.
    - `fixed_part`: of the channel.
    - `app`: the game.
    - `stake`: of a round, in the smallest unit of each asset.
    - `deposits`: what each participant pays in, by asset.
    - `destinations`: 32 bytes each, where each participant is paid, in their order.
    """
    for _, amounts in deposits:
        if min(amounts, default=0) < stake:
            raise InvalidValue("stake", stake, f"at most the smallest deposit, {min(amounts, default=0)}")
    terms = Terms(channel_id(fixed_part, domain), fixed_part.participants, stake, deposits)
    return Agreement(domain, fixed_part, destinations, deposits, app.initial_app_data(terms))
