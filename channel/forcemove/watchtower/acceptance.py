"""Which appointments a tower accepts: each is decoded here once, and checked, the cheapest check first. Of an
accepted appointment the bytes are kept, which are decoded again when it must answer. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from forcemove.protocol.app import Rules
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.encoding import StateHashes, digest
from forcemove.protocol.rules import build_support_proof, require_valid_state, require_valid_transition
from forcemove.protocol.signing import recover, require_signer
from forcemove.protocol.types import SignedState, require_same_totals
from forcemove.watchtower.appointment import (
    APPOINTMENTS,
    KEPT_APPOINTMENTS,
    Appointment,
    SignedAppointment,
    appointment_digest,
    decode,
)
from forcemove.watchtower.errors import AppNotKnown, NotAParticipant, NothingNewer, NotProved, NotServed

Apps = Mapping[bytes, Rules]
"""The rules of apps, by their addresses (20 bytes each)."""


@dataclass(frozen=True, slots=True)
class ReceivedAppointment:
    """An appointment that was decoded: the client that has signed it (20 bytes), its content, and its bytes with the
    signature."""

    client: bytes
    appointment: Appointment
    signed: SignedAppointment

    @property
    def channel_id(self) -> bytes:
        """The id of the channel that the appointment is for."""
        return self.appointment.agreement.channel_id


class StoredAppointment(Struct, frozen=True, tag="Held"):
    """An accepted appointment as the journal has it. Block times, in seconds: `accepted_at`, as the receipt says;
    `conclude_at`, when the tower concludes a finished channel if nobody has by then, None while that is unknown."""

    signed: SignedAppointment
    accepted_at: int
    conclude_at: int | None = None


STORED_APPOINTMENTS: Codec[StoredAppointment] = Codec("appointment that a tower keeps", StoredAppointment)
"""Encodes and decodes stored appointments, for a journal."""


class Strength(NamedTuple):
    """What an appointment can do: whether it ends the channel, which turn it proves, and up to which turn it can
    answer."""

    is_finished: bool
    supported_turn: int
    turn_num: int


@dataclass(frozen=True, slots=True)
class AcceptedAppointment:
    """A client's (20 bytes) appointment for a channel, as bytes. `accepted_at` and `conclude_at`: as of
    `StoredAppointment`."""

    client: bytes
    channel_id: bytes
    signed: SignedAppointment
    strength: Strength
    accepted_at: int
    conclude_at: int | None

    @staticmethod
    def of(received: ReceivedAppointment, accepted_at: int, conclude_at: int | None = None) -> AcceptedAppointment:
        """An appointment as it is accepted. A finished channel is left to its participants for as long as a challenge
        would last, unless another `conclude_at` was planned."""
        strength, fixed_part = _strength(received.appointment), received.appointment.agreement.fixed_part
        if strength.is_finished and conclude_at is None:
            conclude_at = accepted_at + fixed_part.challenge_duration
        return AcceptedAppointment(
            received.client, received.channel_id, received.signed, strength, accepted_at, conclude_at
        )

    @property
    def appointment(self) -> Appointment:
        """The content, which is decoded now."""
        return APPOINTMENTS.decode(self.signed.content)

    def encode(self) -> bytes:
        """The bytes for a journal."""
        return STORED_APPOINTMENTS.encode(StoredAppointment(self.signed, self.accepted_at, self.conclude_at))

    @staticmethod
    def decode(client: bytes, body: bytes) -> tuple[AcceptedAppointment, Appointment]:
        """The inverse of `encode`, and the content. `client`: whose appointment it is, 20 bytes. Raises
        `MalformedBytes`, `UnknownVersion`, and `ChannelOfOlderContracts` where the contracts are those of version 1."""
        stored = STORED_APPOINTMENTS.decode(body)
        received = ReceivedAppointment(client, KEPT_APPOINTMENTS.decode(stored.signed.content), stored.signed)
        return AcceptedAppointment.of(received, stored.accepted_at, stored.conclude_at), received.appointment


def read(data: bytes, tower: bytes, served: Collection[bytes]) -> ReceivedAppointment:
    """Decode an appointment; its content only where a client that the tower serves has signed it. `tower`: the tower's
    account, 20 bytes; `served`: the clients, 20 bytes each.

    Raises `MalformedBytes`, `UnknownVersion`, `NotServed`, `NotAParticipant`, `NotProved` where there are no states or
    too many, and what `recover` raises.
    """
    signed = decode(data)
    client = recover(appointment_digest(tower, signed.content), signed.signature)
    if client not in served:
        raise NotServed(client)
    appointment = APPOINTMENTS.decode(signed.content)
    if client not in appointment.agreement.fixed_part.participants:
        raise NotAParticipant(client, appointment.agreement.channel_id)
    _require_few_states(appointment)
    return ReceivedAppointment(client, appointment, signed)


def _require_few_states(appointment: Appointment) -> None:
    max_states, supported, replies = appointment.agreement.count, len(appointment.supported), len(appointment.replies)
    if not 1 <= supported <= max_states or replies == 1 or replies > max_states:
        raise NotProved(appointment.turn_num)


def require_proved(appointment: Appointment, apps: Apps) -> None:
    """Refuse an appointment whose states the adjudicator would refuse. With an app that is not in `apps` only states
    that need no app's rules are accepted: those that all have signed, steps of the setup, and the step to a final
    state.

    Raises `NotProved`, `AppNotKnown`, and what the rules raise: of outcomes (assets and totals must be the
    agreement's), of states, of transitions, and of signatures.
    """
    agreement = appointment.agreement
    app = agreement.fixed_part.app_definition
    rules = apps.get(app) or _NoRules(app)
    require_same_totals(agreement.outcome, appointment.supported[0].state.outcome)
    _require_chain(appointment, appointment.supported, rules)
    if build_support_proof(agreement.fixed_part, appointment.supported) is None:
        raise NotProved(appointment.supported_turn)
    if appointment.replies:
        _require_chain(appointment, appointment.replies, rules)
        _require_movers(appointment)


def _require_chain(appointment: Appointment, states: Sequence[SignedState], rules: Rules) -> None:
    """Require valid states, legal transitions from each to the next, and signatures that are their signers'."""
    agreement = appointment.agreement
    for each in states:
        if each.state.evidence_hash:  # the adjudicator would ask for the evidence itself
            raise NotProved(each.state.turn_num)
    id_, adjudicator = agreement.channel_id, agreement.domain.adjudicator
    hashes = [require_valid_state(id_, adjudicator, agreement.fixed_part, each.state) for each in states]
    for (from_, from_hashes), (to, to_hashes) in pairwise(zip(states, hashes, strict=True)):
        require_valid_transition(id_, agreement.fixed_part, from_.state, from_hashes, to.state, to_hashes, rules)
    for each, its_hashes in zip(states, hashes, strict=True):
        _require_signatures(appointment, each, its_hashes)


def _require_signatures(appointment: Appointment, signed: SignedState, hashes: StateHashes) -> None:
    to_sign, participants = (
        digest(appointment.agreement.domain, hashes.state),
        appointment.agreement.fixed_part.participants,
    )
    for index, signature in signed.signatures.items():
        if not 0 <= index < len(participants):
            raise NotProved(signed.state.turn_num)
        require_signer(to_sign, signature, participants[index])


def _require_movers(appointment: Appointment) -> None:
    for each in appointment.replies[1:]:
        if appointment.agreement.fixed_part.mover(each.state.turn_num) not in each.signatures:
            raise NotProved(each.state.turn_num)


def require_newer(appointment: Appointment, held: AcceptedAppointment) -> None:
    """Refuse an appointment that is in any respect weaker than the one that the tower holds, or as strong in all.
    Raises `NothingNewer`."""
    new, old = _strength(appointment), held.strength
    if new == old or any(ours < theirs for ours, theirs in zip(new, old, strict=True)):
        raise NothingNewer(held.channel_id, new.turn_num, old.turn_num)


def _strength(appointment: Appointment) -> Strength:
    return Strength(appointment.is_finished, appointment.supported_turn, appointment.turn_num)


class _NoRules:
    """The rules of an app that the tower does not know."""

    def __init__(self, app: bytes) -> None:
        self._app = app

    def valid_transition(self, *_: object) -> bool:
        """Raises `AppNotKnown`."""
        raise AppNotKnown(self._app)
