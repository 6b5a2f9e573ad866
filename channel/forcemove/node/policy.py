"""Checks before money moves: whether a channel is worth its disputes, and whether its challenges can be answered in
time.

The gas of a deposit and a conclusion is in the table of prices. What a dispute costs, the game says; of an app that is
not a whole game it is the gas of small positions of two participants. No channel is refused that has begun: what is
signed is defended whatever it costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forcemove.chain.asking import Steps
from forcemove.chain.chain import Chain, Fees, poll
from forcemove.chain.errors import Unreachable
from forcemove.chain.prices import OSAKA, Prices
from forcemove.chain.rpc import as_number
from forcemove.errors import LocalError
from forcemove.game import Game
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.machine.automatic_actions import answer_margin
from forcemove.protocol.types import ETHER
from forcemove.workers.chain_defaults import LOCAL_CHAINS

_DISPUTES = 6
_LOCAL_FLOOR, _FLOOR = 60, 900
_SLOWEST_LOCAL = 12.0
"""The most seconds from block to block that a local chain is believed: where its blocks are further apart, somebody has
moved its clock, as one does to see a challenge end."""
_BLOCKS = 50
_FRESH, _NEVER = 10.0, (-math.inf,)
"""Seconds for which conditions are not read again: most chains make a block in that time."""


class NotWorthItsDisputes(LocalError):
    """What we pay in, `deposit` in wei, is less than `multiple` times what gas may cost, `gas` in wei: a counterparty
    with nothing to lose could make the disputes cost us more than the game is worth."""

    deposit: int
    gas: int
    multiple: float


class DurationTooShort(LocalError):
    """A challenge that lasts `duration` seconds could not be answered in time on this chain: `needed` seconds are."""

    duration: int
    needed: int


@dataclass(frozen=True, slots=True)
class Costs:
    """What a channel may cost a participant. `deposits`: by asset, in its smallest unit; a participant who does not
    answer a challenge can lose all of it. `usual`: gas for a deposit and a conclusion, `disputes`: for six disputes;
    both in wei."""

    deposits: tuple[tuple[bytes, int], ...]
    usual: int
    disputes: int

    @property
    def ether(self) -> int:
        """The ether among the deposits, in wei."""
        return sum(amount for asset, amount in self.deposits if asset == ETHER)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a unit of gas costs on a chain now, the seconds from block to block, and the prices in units of gas."""

    fees: Fees
    block_time: float
    prices: Prices = OSAKA


def dispute_gas_of(app: object, prices: Prices) -> int:
    """What the dearest dispute of a game costs, in units of gas."""
    return prices.dispute(app.dispute_gas) if isinstance(app, Game) else prices.usual_dispute


def usual_gas(agreement: Agreement, app: object, prices: Prices) -> Mapping[str, int]:
    """About what an operation of a channel with this game uses, for screens, where it cannot be asked for yet: in units
    of gas, by the operation's name. Of a challenge it is the most. Nothing where the channel is friendly."""
    if agreement.is_friendly:
        return {}
    return {"conclude": prices.usual_conclude, "challenge": dispute_gas_of(app, prices)}


def costs_of(agreement: Agreement, index: int, conditions: Conditions, app: object) -> Costs:
    """The costs for the participant of this index. Pure.

    - `agreement`: of the channel.
    - `index`: the participant.
    - `conditions`: of the chain.
    - `app`: the channel's; a game says what its disputes cost.
    """
    fees, prices = conditions.fees, conditions.prices
    price = fees.max_fee_per_gas
    if not fees.is_legacy:
        price = (fees.max_fee_per_gas + fees.max_priority_fee_per_gas) // 2  # the base fee as it is, and the tip
    deposits = tuple((asset, amounts[index]) for asset, amounts in agreement.deposits)
    usual, disputes = prices.usual_deposit + prices.usual_conclude, _DISPUTES * dispute_gas_of(app, prices)
    return Costs(deposits, usual * price, disputes * price)


@dataclass(frozen=True, slots=True)
class Policy:
    """What a new channel must fulfil. `multiple`: how many times the gas of its disputes a channel in ether must be
    worth to us; 0 refuses none. `bump_after`: seconds after which more is offered for a transaction that waits."""

    multiple: float = 1.0
    bump_after: float = 60.0

    def require_worth(self, costs: Costs) -> None:
        """Raise `NotWorthItsDisputes` where too little ether is paid in. Channels in tokens pass: what a token is worth
        in ether is not known here."""
        gas = costs.usual + costs.disputes
        if costs.ether and costs.ether < self.multiple * gas:
            raise NotWorthItsDisputes(costs.ether, gas, self.multiple)

    def least_deposit(self, costs: Costs) -> int:
        """The least that a participant may pay in, in wei, for a channel in ether to be worth its disputes; 0 where no
        ether is paid in."""
        return math.ceil(self.multiple * (costs.usual + costs.disputes)) if costs.ether else 0

    def require_answerable(self, duration: int, chain_id: int, confirmations: int, block_time: float) -> None:
        """Raise `DurationTooShort` where a challenge would be over before it could be seen, answered, and its answer
        replaced twice. `block_time`: seconds."""
        least = self.least_duration(chain_id, confirmations, block_time)
        if duration < least:
            raise DurationTooShort(duration, least)

    def least_duration(self, chain_id: int, confirmations: int, block_time: float) -> int:
        """The shortest challenge, in seconds, that can be seen, answered, and its answer replaced twice, before the
        margin at its end begins. `block_time`: seconds."""
        before_margin = confirmations * block_time + 2 * min(self.bump_after, 2 * block_time)
        least = _LOCAL_FLOOR if chain_id in LOCAL_CHAINS else _FLOOR
        while least - answer_margin(least) < before_margin:
            least += max(math.ceil(before_margin) - (least - answer_margin(least)), 1)
        return least

    def least_move_time(self, chain_id: int, confirmations: int, block_time: float) -> int:
        """The shortest time for a move, in seconds, in which the mover learns from the chain what another has done
        there, such as an answer to a challenge: with less, it can be out before it has begun for the mover.
        `block_time`: seconds. A chain that people run for themselves makes a block for each transaction."""
        return 1 if chain_id in LOCAL_CHAINS else math.ceil((confirmations + 1) * block_time)

    def require(
        self, agreement: Agreement, index: int, confirmations: int, conditions: Conditions, app: object
    ) -> None:
        """Raise as `require_worth` and `require_answerable`.

        - `agreement`: of the channel.
        - `index`: of the participant that asks.
        - `confirmations`: how many blocks deep a log must be to be believed.
        - `conditions`: of the chain.
        - `app`: the channel's.
        """
        self.require_worth(costs_of(agreement, index, conditions, app))
        duration, chain_id = agreement.fixed_part.challenge_duration, agreement.domain.chain_id
        self.require_answerable(duration, chain_id, confirmations, conditions.block_time)


class ConditionsCache:
    """The conditions on chains, read once for all channels that are begun within ten seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds."""
        self._clock = clock
        self._read: dict[tuple[int, str], tuple[float, Conditions | BaseException]] = {}

    def conditions(self, chains: Sequence[Chain]) -> list[Conditions]:
        """The conditions by the word of each endpoint that answers, since one may lie: as they were read less than ten
        seconds ago, else read now. An endpoint's error is kept as long: many channels that are begun at once wait only
        once for it. Raises the first endpoint's `ChainError` where none answers."""
        now = self._clock()
        due = [each for each in chains if not 0 <= now - self._read.get(_name(each), _NEVER)[0] < _FRESH]
        found, errors = poll(due, ask_conditions)
        for each in due:
            late = Unreachable(each.endpoint, "it did not answer in time")
            self._read[_name(each)] = now, found.get(each) or errors.get(each) or late
        said = [self._read[_name(each)][1] for each in chains]
        known = [each for each in said if isinstance(each, Conditions)]
        if not known:
            raise next(each for each in said if isinstance(each, BaseException))
        return known


def _name(chain: Chain) -> tuple[int, str]:
    return chain.chain_id, chain.endpoint


def ask_conditions(chain: Chain) -> Steps[Conditions]:
    """The conditions now, as this endpoint tells them."""
    pace = yield from ask_block_time(chain)
    if chain.chain_id in LOCAL_CHAINS:
        pace = min(pace, _SLOWEST_LOCAL)
    return Conditions((yield from chain.fees.steps()), pace, (yield from chain.ask_prices.steps()))


def ask_block_time(chain: Chain) -> Steps[float]:
    """Seconds from block to block, over the last fifty; 0 on a chain with one block."""
    newest = yield from chain.block.steps("latest")
    number = as_number(newest["number"])
    if number == 0:
        return 0.0
    earlier = yield from chain.block.steps(max(number - _BLOCKS, 0))
    between = number - as_number(earlier["number"])
    if between <= 0:
        raise ValueError("an earlier block that is not earlier")
    return (as_number(newest["timestamp"]) - as_number(earlier["timestamp"])) / between
