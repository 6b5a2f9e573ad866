"""A channel in a few values, for a list of many: who plays what, where it is, what it would pay us. Pure.

A journal has it in two parts, so that a commit writes little: the profile, which never changes, and the rest. Both are
small, and are read without a check of the channel itself.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from forcemove.history.tokens import TokenFacts, Tokens
from forcemove.protocol.machine.channel import OVER, Channel, Phase
from forcemove.protocol.machine.results import ChannelResult, Ending, Share, result_of

_VERSION, _PRESENT_VERSION = 2, 2
# A profile of version 1 has no names; a present of version 1 takes the newest state for what was paid.
Amounts = tuple[tuple[bytes, int], ...]
"""Amounts by asset (20 bytes; zero is ether), in its smallest unit."""


class ChannelSummary(Struct, frozen=True):
    """A channel as it was saved last.

    - `app`: the name of its contract's artifact.
    - `chain_id`, `adjudicator`: where it is; 0 for a friendly game.
    - `index`, `participants`: who we are among which addresses.
    - `deposits`: by asset, what each participant is to pay in.
    - `begun_at`, `changed_at`: Unix seconds of our own clock when it was first saved, 0 where that is not known, and
      when it was saved last.
    - `phase`: at the chain's time then.
    - `turn_num`: of the newest state, None where there is none.
    - `is_our_turn`: whether the next state is ours, and we can sign it.
    - `finalizes_at`: the block time (seconds) at which a challenge is over, 0 for none.
    - `ours`, `held`: what the newest state would pay us, nothing once it is over; and what the channel holds.
    - `result`: how it has ended, None where it is not over.
    - `tokens`: what its tokens say of themselves, as far as that is known.
    - `names`: what its players were called when it began, by seat; none where that is not known.
    """

    app: str
    chain_id: int
    adjudicator: bytes
    index: int
    participants: tuple[bytes, ...]
    deposits: tuple[tuple[bytes, tuple[int, ...]], ...]
    begun_at: int
    changed_at: int
    phase: Phase
    turn_num: int | None
    is_our_turn: bool
    finalizes_at: int
    ours: Amounts
    held: Amounts
    result: ChannelResult | None
    tokens: Tokens = ()
    names: tuple[str, ...] = ()

    @property
    def others(self) -> tuple[tuple[str, bytes], ...]:
        """The counterparties: what each was called, empty where that is not known, and its address, 20 bytes."""
        named = zip(self.names or ("",) * len(self.participants), self.participants, strict=True)
        return tuple(each for index, each in enumerate(named) if index != self.index)

    @property
    def is_friendly(self) -> bool:
        """Whether nothing is at stake: the channel is on no chain."""
        return self.chain_id == 0

    @property
    def is_timed(self) -> bool:
        """Whether the phase and the result change by time alone: then the channel itself is to be asked."""
        return self.finalizes_at != 0 and self.phase is not Phase.CLOSED


def summarise(
    channel: Channel,
    app: str,
    begun_at: int,
    changed_at: int,
    now: int,
    tokens: Tokens = (),
    names: tuple[str, ...] = (),
) -> ChannelSummary:
    """The summary of a channel.

    - `channel`: as it is saved.
    - `app`: see `ChannelSummary`.
    - `begun_at`: see `ChannelSummary`.
    - `changed_at`: see `ChannelSummary`.
    - `now`: the chain's time, seconds.
    - `tokens`: see `ChannelSummary`.
    - `names`: see `ChannelSummary`.
    """
    agreement, phase = channel.agreement, channel.phase(now)
    return ChannelSummary(
        app,
        agreement.domain.chain_id,
        agreement.domain.adjudicator,
        channel.index,
        agreement.fixed_part.participants,
        agreement.deposits,
        begun_at,
        changed_at,
        phase,
        channel.newest.state.turn_num if channel.newest else None,
        channel.may_sign_next,
        channel.status.finalizes_at,
        () if phase in OVER else ours_in(channel),
        left_in(channel),
        result_of(channel, now) if phase in OVER else None,
        tokens,
        names,
    )


def ours_in(channel: Channel) -> Amounts:
    """What the newest state would pay us, by asset; what was agreed at first, before there is one."""
    destination = channel.agreement.destinations[channel.index]
    outcome = channel.newest.state.outcome if channel.newest else channel.agreement.outcome
    amounts: dict[bytes, int] = {}
    for entry in outcome:
        if entry.destination == destination:
            amounts[entry.asset] = amounts.get(entry.asset, 0) + entry.amount
    return tuple(sorted(amounts.items()))


def left_in(channel: Channel) -> Amounts:
    """What a channel is known to hold, by asset: nothing once it is closed."""
    return () if channel.record.closed else tuple([each for each in channel.holdings if each[1]])


# --------------------------------------------------------------------------------------------------------------- bytes


class _Profile(Struct, frozen=True, array_like=True):
    """What never changes. Amounts and the chain's id are decimal text: they may have 256 bits."""

    version: int
    app: str
    chain_id: str
    adjudicator: bytes
    index: int
    participants: tuple[bytes, ...]
    deposits: tuple[tuple[bytes, tuple[str, ...]], ...]
    begun_at: int
    tokens: tuple[TokenFacts, ...] = ()
    names: tuple[str, ...] = ()


_TextShare = tuple[bytes, int, str, str, str]


class _Present(Struct, frozen=True, array_like=True):
    """What changes. `ending`, `shares`: of the result, empty where there is none."""

    version: int
    changed_at: int
    phase: str
    turn_num: int | None
    is_our_turn: bool
    finalizes_at: int
    ours: tuple[tuple[bytes, str], ...]
    held: tuple[tuple[bytes, str], ...]
    ending: str
    shares: tuple[_TextShare, ...]


_ENCODER = msgspec.msgpack.Encoder()
_PROFILES = msgspec.msgpack.Decoder(_Profile)
_PRESENTS = msgspec.msgpack.Decoder(_Present)


def pack_profile(summary: ChannelSummary) -> bytes:
    """The bytes of what never changes."""
    deposits = tuple((asset, tuple(map(str, amounts))) for asset, amounts in summary.deposits)
    where = (str(summary.chain_id), summary.adjudicator, summary.index, summary.participants)
    rest = (deposits, summary.begun_at, tuple(summary.tokens), summary.names)
    return _ENCODER.encode(_Profile(_VERSION, summary.app, *where, *rest))


def pack_present(summary: ChannelSummary) -> bytes:
    """The bytes of what changes: those of a `_Present`, which a tuple makes faster."""
    result = summary.result
    return _ENCODER.encode(
        (
            _PRESENT_VERSION,
            summary.changed_at,
            summary.phase.name,
            summary.turn_num,
            summary.is_our_turn,
            summary.finalizes_at,
            _texts(summary.ours),
            _texts(summary.held),
            "" if result is None else result.ending.name,
            () if result is None else tuple(map(_text_share, result.shares)),
        )
    )


def _texts(amounts: Amounts) -> tuple[tuple[bytes, str], ...]:
    return tuple([(asset, str(amount)) for asset, amount in amounts])


def _text_share(share: Share) -> _TextShare:
    return share.asset, share.participant, str(share.deposited), str(share.allocated), str(share.payable)


def unpack_summary(profile: bytes, present: bytes) -> ChannelSummary | None:
    """The summary of these bytes; None where another program has written them."""
    try:
        fixed, rest = _PROFILES.decode(profile), _PRESENTS.decode(present)
        if fixed.version not in (1, _VERSION) or rest.version != _PRESENT_VERSION:
            return None
        return _summary_of(fixed, rest)
    except (msgspec.MsgspecError, ValueError, KeyError):
        return None


def _summary_of(fixed: _Profile, rest: _Present) -> ChannelSummary:
    shares = tuple(Share(asset, index, *map(int, amounts)) for asset, index, *amounts in rest.shares)
    return ChannelSummary(
        fixed.app,
        int(fixed.chain_id),
        fixed.adjudicator,
        fixed.index,
        fixed.participants,
        tuple((asset, tuple(map(int, amounts))) for asset, amounts in fixed.deposits),
        fixed.begun_at,
        rest.changed_at,
        Phase[rest.phase],
        rest.turn_num,
        rest.is_our_turn,
        rest.finalizes_at,
        tuple((asset, int(amount)) for asset, amount in rest.ours),
        tuple((asset, int(amount)) for asset, amount in rest.held),
        ChannelResult(Ending[rest.ending], shares) if rest.ending else None,
        fixed.tokens,
        fixed.names,
    )
