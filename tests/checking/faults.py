"""Faults that a client, or the contract, could have: each is put in by name, and the checker must find it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from forcemove import Key, SignedState
from forcemove.follower import cross_check
from forcemove.follower.cross_check import Combined, EndpointView
from forcemove.node import client
from forcemove.protocol import adjudication, rules
from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.errors import OutOfTurn
from forcemove.protocol.machine import automatic_actions, chain_updates, machine, peer_messages, results
from forcemove.protocol.machine.automatic_actions import AUTOMATIC_ACTIONS
from forcemove.protocol.machine.channel import Accepted, Channel, Phase, Step
from forcemove.protocol.machine.effects import SubmitCheckpoint, SubmitDeposit, SubmitRespond
from forcemove.protocol.machine.inputs import SubmissionFailed
from tests.checking.ladder import Ladder
from tests.checking.world import Bounds

__all__ = ["FAULTS", "Fault"]

Patches = Callable[[ExitStack], None]


@dataclass(frozen=True)
class Fault:
    """`finds`: the property that does not hold. `steps`: the length of the shortest run in which it does not. `bounds`,
    `game`: with which it is found. `saves_first`: else she is killed between doing and saving."""

    finds: str
    steps: int
    bounds: Bounds
    put_in: Patches = lambda _: None
    game: Ladder = field(default_factory=lambda: Ladder(1, 2))
    saves_first: bool = True

    @contextmanager
    def present(self) -> Iterator[None]:
        """Within this the program has it."""
        with ExitStack() as stack:
            self.put_in(stack)
            yield


def _in(where: Any, name: str, instead: Any) -> Patches:
    return lambda stack: stack.enter_context(patch.object(where, name, instead))


def _duty(phase: Phase, *duties_: Any) -> Patches:
    return lambda stack: stack.enter_context(patch.dict(AUTOMATIC_ACTIONS, {phase: duties_}))


_real_answer = automatic_actions._answer_record


def _answer_at_the_end(channel: Channel, now: int, key: Key | None) -> Step | None:
    return None if now < channel.status.finalizes_at else _real_answer(channel, now, key)


def _answer_only_the_newest(channel: Channel, now: int, key: Key | None) -> Step | None:
    recorded, newest = channel.record.recorded, channel.newest
    if recorded is not None and newest is not None and recorded.state.turn_num + 1 < newest.state.turn_num:
        return None
    return _real_answer(channel, now, key)


def _deposit_at_once(channel: Channel, _now: int, _key: Key | None) -> Step | None:
    ((asset, amounts),) = channel.agreement.deposits
    held = channel.held(asset)
    if held != sum(amounts[: channel.index]):
        return None
    return automatic_actions.request_once(channel, SubmitDeposit(asset, held, amounts[channel.index]))


def _any_end(*arguments: Any) -> None:
    """As the rules, but for what a final state pays."""
    to = arguments[4]
    if not to.is_final:
        _real_transition(*arguments)


_real_transition = rules.require_valid_transition
_real_again = peer_messages._receive_again


def _last_word(channel: Channel, signed: SignedState) -> Channel:
    newest, state = channel.newest, signed.state
    if newest is not None and newest.state.turn_num == state.turn_num and newest.state != state:
        last = Accepted(signed, hash_state(channel.agreement.channel_id, state))
        return replace(channel, accepted=(*channel.accepted[:-1], last))
    return _real_again(channel, signed)


def _older_as_newest(channel: Channel, signed: SignedState) -> Channel:
    """A state that we have takes the place of the newest, with what signatures it brings."""
    for known in channel.accepted[:-1]:
        if known.state == signed.state:
            more = SignedState(signed.state, {**known.signed.signatures, **signed.signatures})
            return replace(channel, accepted=(*channel.accepted[:-1], Accepted(more, known.hashes)))
    return _real_again(channel, signed)


def _conclude_if_ours(channel: Channel, now: int, key: Key | None) -> Step | None:
    is_ours = channel.agreement.fixed_part.mover(channel.next_turn - 1) == channel.index
    return _real_conclude(channel, now, key) if is_ours else None


_real_conclude = automatic_actions._conclude
_real_on_chain_change = chain_updates.on_chain_change


def _forget_failures(channel: Channel, seen: Any, now: int, app: Any) -> Channel:
    return channel if isinstance(seen, SubmissionFailed) else _real_on_chain_change(channel, seen, now, app)


_real_take_over = chain_updates._take_over


def _keep_requests(channel: Channel, recorded: Any, app: Any) -> Channel:
    return replace(_real_take_over(channel, recorded, app), requested=channel.requested)


def _one_answer_is_enough(stack: ExitStack) -> None:
    _in(chain_updates, "_take_over", _keep_requests)(stack)
    _in(
        automatic_actions,
        "is_answered",
        lambda channel, _: any(isinstance(each, _ANSWERS) for each in channel.requested),
    )(stack)


_ANSWERS = (SubmitCheckpoint, SubmitRespond)


def _no_way_out(channel: Channel, now: int, key: Key | None) -> Step:
    """Hole 33: whose turn it is cannot challenge."""
    if channel.phase(now) is Phase.PLAYING and channel.is_our_turn:
        raise OutOfTurn(channel.next_turn, channel.index)
    return _real_challenge(channel, now, key)


_real_challenge = machine._challenge


def _sign_final_when_funded(channel: Channel, _now: int, key: Key | None) -> Step | None:
    if not channel.leaving or not channel.is_our_turn or channel.lacks_money:
        return None
    return automatic_actions.finish(channel, key)


def _hole_33(stack: ExitStack) -> None:
    _in(machine, "_challenge", _no_way_out)(stack)
    _duty(Phase.PLAYING, automatic_actions._deposit, _sign_final_when_funded, automatic_actions._ask_for_move)(stack)


def _turn_is_enough(channel: Channel) -> bool:
    return channel.is_our_turn and not channel.is_unproved


def _finish_our_end(channel: Channel, key: Key | None) -> Step | None:
    return None if channel.breaks_our_end else _real_finish(channel, key)


_real_finish = automatic_actions.finish


def _hole_53(stack: ExitStack) -> None:
    _in(Channel, "may_sign_next", property(_turn_is_enough))(stack)
    _in(automatic_actions, "finish", _finish_our_end)(stack)


def _finish_once(channel: Channel, key: Key | None) -> Step | None:
    is_ended = channel.newest is not None and channel.newest.state.is_final
    return None if is_ended else _real_finish(channel, key)


def _any_turn(draft: Any, id_: bytes, status: Any, fixed_part: Any, proof: Any, app: Any) -> Any:
    return rules.require_supported(draft.domain, fixed_part, proof, app, status)


def _anybodys(_digest: bytes, _signature: Any, _expected: bytes) -> None:
    """Anyone who has signed it."""


def _two_ends(stack: ExitStack) -> None:
    _in(peer_messages, "require_valid_transition", _any_end)(stack)
    _in(Channel, "breaks_our_end", property(lambda _: False))(stack)
    _in(Channel, "_sign", lambda self, _, hashes, key: key.sign(digest(self.agreement.domain, hashes.state)))(stack)


def _the_record_was_paid(channel: Channel) -> Any:
    """Also where all have signed an end after it."""
    recorded = channel.record.recorded
    return recorded and (results.Ending.UNANSWERED, results.shares_of(channel, recorded.state.outcome))


def _who_answers_first(views: Sequence[EndpointView], now: int, **_: bool) -> Combined:
    return _real_combine([each for each in views if each.has_answered], now)


_real_combine = cross_check.combine


def _time_of_the_first(times: Sequence[int | None], own_time: int | None = None) -> int:
    return min((each for each in times if each), default=0)


_SMALL = Ladder(1, 1)
_THREE = Bounds(players=3, seat=2, transactions=1)

FAULTS: dict[str, Fault] = {
    "answer margin ignored": Fault(
        "settled as due", 3, Bounds(transactions=1), _in(automatic_actions, "_answer_record", _answer_at_the_end)
    ),
    "deposit before the prefund": Fault(
        "no early deposit",
        2,
        Bounds(opening=True),
        _duty(Phase.PREFUND, automatic_actions._sign_setup, _deposit_at_once),
    ),
    "another outcome taken in a final state": Fault(
        "settled as due", 3, Bounds(), _in(peer_messages, "require_valid_transition", _any_end)
    ),
    "a second end is signed": Fault("nothing after the end", 2, Bounds(), _two_ends),
    "sent before saved": Fault("one signature a turn", 2, Bounds(crashes=1), saves_first=False),
    "postfund before the money": Fault(
        "no postfund before the money", 2, Bounds(opening=True), _in(Channel, "is_funded", property(lambda _: True))
    ),
    "the last word wins": Fault(
        "settled as due", 4, Bounds(), _in(peer_messages, "_receive_again", _last_word), Ladder(2, 2)
    ),
    "an old challenge not answered": Fault(
        "settled as due", 3, Bounds(transactions=1), _in(automatic_actions, "_answer_record", _answer_only_the_newest)
    ),
    "only the maker concludes": Fault(
        "out in time", 3, Bounds(), _duty(Phase.CONCLUDING, automatic_actions._countersign, _conclude_if_ours)
    ),
    "a failed transaction forgotten": Fault(
        "out in time", 4, Bounds(drops=1), _in(chain_updates, "on_chain_change", _forget_failures)
    ),
    "answers not asked anew after a new record": Fault(
        "settled as due", 6, Bounds(transactions=2), _one_answer_is_enough, _SMALL
    ),
    "what was seen before a reorganisation still counts": Fault(
        "out in time",
        4,
        Bounds(reorganisations=1, transactions=1),
        _in(Channel, "forget_chain", lambda self: self),
        _SMALL,
    ),
    "the record may fall": Fault(
        "the record never falls", 4, Bounds(transactions=2), _in(adjudication, "_require_newer", _any_turn), _SMALL
    ),
    "respond without the mover's signature": Fault(
        "nothing recorded without her",
        2,
        Bounds(transactions=2),
        _in(adjudication, "require_signer", _anybodys),
        _SMALL,
    ),
    "a payment is lost": Fault("paid her share", 1, Bounds(), _in(adjudication, "_push", lambda *_: None), _SMALL),
    "the recorded state is told as paid": Fault(
        "told as paid", 5, Bounds(transactions=2), _in(results, "_decided", _the_record_was_paid), _SMALL
    ),
    "an older state takes the place of the newest": Fault(
        "settled as due", 3, Bounds(), _in(peer_messages, "_receive_again", _older_as_newest), _SMALL
    ),
    "who answers first decides alone": Fault(
        "nothing before the comparison",
        1,
        Bounds(liar=True, opening=True),
        _in(cross_check, "combine", _who_answers_first),
        _SMALL,
    ),
    "the time of who answers first": Fault(
        "nothing before the comparison",
        2,
        Bounds(liar=True, stops=1),
        _in(cross_check, "combined_time", _time_of_the_first),
        _SMALL,
    ),
    "a start denies nothing": Fault(
        "nothing before the comparison",
        1,
        Bounds(seat=1, liar=True, opening=True),
        _in(client, "_as_started", lambda channel: channel),
        _SMALL,
    ),
    "no way out on her turn": Fault("out in time", 8, Bounds(opening=True, reorganisations=1), _hole_33, _SMALL),
    "no way out after an end": Fault("out in time", 3, _THREE, _hole_53, Ladder(2, 1)),
    "no end on top of an end": Fault(
        "settled as due", 4, _THREE, _in(automatic_actions, "finish", _finish_once), _SMALL
    ),
}
"""By name. The last three are real: a search like this has found the first, hole 33, and the last. A person has found
the other, hole 53."""
