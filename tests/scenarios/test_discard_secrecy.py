"""What a player of Discard can know: from all that its machine has sent, received and stored in a whole hand it names
the cards that it should know, and no other. And no secret is in what is shown, logged, or kept for others to read."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise

import pytest

from forcemove.game import Level
from forcemove.inspect.apps import KnownApp, KnownBy
from forcemove.inspect.documents import document_json
from forcemove.inspect.report_json import report_document
from forcemove.inspect.signed_state import report_signed_state
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.codec.wire import SignedStateFile, encode_file
from forcemove.store.records import Batch
from forcemove_games.cards import curve, key_proof, share_proof
from forcemove_games.cards.deck import Deck, decode_deck, open_card
from forcemove_games.discard.evidence import DealtShares, MoveShares, ShownCards, evidence_of
from forcemove_games.discard.game import Discard
from forcemove_games.discard.position import PositionType, decode
from forcemove_games.discard.secrets import HandSecrets
from forcemove_games.discard.steps import indices
from forcemove_games.discard_sra.cards import SIZE
from tests.games.cards.dealt import stream
from tests.games.discard.observer import SHUFFLED, Named, Observer, states_in
from tests.scenarios.story import Player, Playground, Story
from tests.secret_forms import is_in

GAME = Discard()
LEAVE_AFTER = 10
"""No second hand is begun."""
FEWEST_SECRETS = 4
"""Of a hand: its seed, the key, and the nonces of the proofs of the key and of the first shares."""
SHOWN = (PositionType.SHOWING, PositionType.TIED)


@dataclass
class Machine:
    """All that one player's machine has: what it has sent and received, and the secrets that it has stored. `shown`:
    what a log would have, were it to print what it can."""

    messages: list[bytes] = field(default_factory=list)
    secrets: list[bytes] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


class Hand:
    """One hand between two clients, and the truth about its cards."""

    def __init__(self, playground: Playground, label: str, *, careless: bool) -> None:
        self.story = playground.story(GAME)
        self.machines = (Machine(), Machine())
        for player, machine in zip(self.story.players, self.machines, strict=True):
            random = stream(f"{label} {player.seat}")
            player.bot = GAME.bot(player.seat, random, level=Level.EASY) if careless else GAME.bot(player.seat, random)
            player.leave_after = LEAVE_AFTER
            self._watch(player, machine)
        self.story.play()
        self.states = states_in(self.machines[0].messages)
        self.positions = [decode(state.app_data) for state in self.states]
        self.end = self.positions[-1].position_type
        self.keys = [HandSecrets.decode(machine.secrets[-1]).seeds[-1].key for machine in self.machines]
        shuffled = dict.fromkeys(each.deck for each in self.positions if each.position_type in SHUFFLED)
        first, second = (self._read(decode_deck(deck, SIZE)) for deck in shuffled)
        self.masked, self.cards = decode_deck(list(shuffled)[1], SIZE), second
        places = {card: index for index, card in first.items()}
        self.orders = (first, {index: places[card] for index, card in second.items()})

    def _watch(self, player: Player, machine: Machine) -> None:
        line, journal = self.story.lines[player.seat], player.journal
        send, receive, commit = line.send, line.receive, journal.commit

        def sent(message: bytes) -> None:
            machine.messages.append(message)
            send(message)

        def received() -> Sequence[bytes]:
            messages = receive()
            machine.messages += messages
            return messages

        def committed(batch: Batch) -> frozenset[bytes]:
            channels = [CHANNELS.decode(update.snapshot) for update in batch.channels]
            machine.secrets += [channel.secrets for channel in channels]
            secrets = HandSecrets.decode(machine.secrets[-1])
            machine.shown += map(repr, (channels, player.question, player.bot, secrets, secrets.seeds))
            return commit(batch)

        line.send, line.receive = sent, received  # type: ignore[method-assign]
        journal.commit = committed  # type: ignore[method-assign]

    def _read(self, deck: Deck) -> Named:
        """All cards, by who has both keys."""
        first, second = self.keys
        return {index: open_card(card.c2 - card.c1 * first - card.c1 * second, SIZE) for index, card in enumerate(deck)}

    def observer(self, seat: int, *more: bytes) -> Observer:
        """The player of this seat, who has these messages, too."""
        machine = self.machines[seat]
        return Observer([*machine.messages, *more], machine.secrets, self.orders[seat], is_first=seat == 0)

    def known_to(self, seat: int) -> dict[int, int]:
        """The cards that this player should know: its own whose shares it was given, and what all have seen. Five are
        dealt to each, and the next one is turned up."""
        places = {10, *range(5 * seat, 5 * seat + 5)}
        for before, after in pairwise(each.core for each in self.positions):
            if after.position_type in SHOWN:
                places |= {
                    place for old, new in zip(before.held, after.held, strict=True) for place in indices(old & ~new)
                }
            elif after.laid:
                places.add(after.laid - 1)
            if after.shared and after.held[seat] >> after.shared - 1 & 1:
                places.add(after.shared - 1)
        return {place: self.cards[place] for place in places}


def hand_of(playground: Playground, end: PositionType) -> Hand:
    """A hand that ends in this way; where it is won, with a pile and with cards in the loser's hand."""
    numbers, careless = count(), end is PositionType.TIED
    while True:
        hand = Hand(playground, f"{end.label} {next(numbers)}", careless=careless)
        if hand.end is end and (careless or hand.positions[-1].core.pile):
            return hand


@pytest.fixture(scope="module")
def won(playground: Playground) -> Hand:
    return hand_of(playground, PositionType.OVER)


@pytest.fixture(scope="module")
def tied(playground: Playground) -> Hand:
    return hand_of(playground, PositionType.TIED)


# ----------------------------------------------------------------------------------------------- what can be worked out


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("end", ["won", "tied"])
def test_from_all_that_a_machine_has_follow_the_cards_that_it_should_know_and_no_other(
    end: str, seat: int, request: pytest.FixtureRequest
) -> None:
    hand: Hand = request.getfixturevalue(end)
    assert sorted(hand.cards.values()) == list(range(SIZE))
    named, core = hand.observer(seat).named, hand.positions[-1].core
    assert named == hand.known_to(seat)
    hidden = {*range(core.drawn, SIZE), *indices(core.held[1 - seat])}
    assert bool(hidden) == (end == "won")
    assert not hidden & named.keys()


@pytest.mark.parametrize("what", ["a card of the pile", "a card of the other's hand"])
def test_one_share_too_many_is_one_card_too_many(won: Hand, what: str) -> None:
    """A share that stands anywhere in any message: the observer would see it."""
    core, loser = won.positions[-1].core, next(seat for seat in (0, 1) if won.positions[-1].core.held[seat])
    place = SIZE - 1 if what == "a card of the pile" else indices(core.held[loser])[0]
    share = share_proof.share_of(won.keys[loser], won.masked[place])
    extra = b'{"kind":"other","x":"0xabcd' + share.words.hex().encode() + b'"}'
    named = won.observer(1 - loser, extra).named
    assert named == {**won.known_to(1 - loser), place: won.cards[place]}


# -------------------------------------------------------------------------------------------------------- what is shown


def secrets_of(hand: Hand, seat: int) -> Iterator[bytes]:
    """Seeds and the key, the nonces of all proofs, as bytes, and the order of the shuffle."""
    secrets = HandSecrets.decode(hand.machines[seat].secrets[-1])
    key = hand.keys[seat]
    yield from (seed.secret for seed in secrets.seeds)
    yield key.to_bytes(32, "big")
    for state in hand.states:
        shown = evidence_of(state)
        if state.turn_num % 2 == seat and isinstance(shown, key_proof.KeyProof | DealtShares | MoveShares | ShownCards):
            c, s = shown if isinstance(shown, key_proof.KeyProof) else shown.proof
            yield ((s - c * key) % curve.ORDER).to_bytes(32, "big")


def reports(story: Story, player: Player) -> Iterator[str]:
    """What inspection says of each state, and the file of it."""
    agreement = story.agreement
    for signed in player.states:
        file = SignedStateFile(agreement.domain, agreement.fixed_part, signed)
        yield document_json(report_document(report_signed_state(file, KnownApp(GAME, KnownBy.BOOK))))
        yield encode_file(file)


def test_no_secret_is_in_a_repr_a_log_a_report_a_history_or_a_message(
    playground: Playground, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    hand = Hand(playground, "shown", careless=True)
    players, machines = hand.story.players, hand.machines
    shown = [text for machine in machines for text in machine.shown]
    shown += [repr(each) for player in players for each in (player.client.managed, player.client.node)]
    events = [repr(player.events) for player in players]
    inspected = [text for player in players for text in reports(hand.story, player)]
    histories = [b"".join(player.journal.history(hand.story.agreement.channel_id).bodies) for player in players]
    places = [
        *("".join(each).encode() for each in (shown, events, inspected)),
        *histories,
        *(b"".join(machine.messages) for machine in machines),
    ]
    newest = next(state.evidence for state in reversed(hand.states) if state.evidence)[-32:]
    assert all(is_in(place, newest) for place in places), "each place has what is not a secret"
    text = b"".join((*places, *map(str.encode, caplog.messages)))
    for seat in range(2):
        secrets = list(secrets_of(hand, seat))
        assert len(secrets) >= FEWEST_SECRETS
        assert not [secret for secret in secrets if is_in(text, secret)]
        assert ", ".join(map(str, hand.orders[seat].values())).encode() not in text
