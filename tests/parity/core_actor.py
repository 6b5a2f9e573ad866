"""Random operations on a `World`, legal about every other time: wherever there is something to get wrong, it is now and
then got wrong. All randomness comes from one `random.Random`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from msgspec.structs import replace

from forcemove import Allocation, Key, Outcome, keccak256
from forcemove.chain.prices import OSAKA
from forcemove.protocol.codec import packed_writer
from forcemove.protocol.encoding import challenge_hash, channel_id, digest, hash_state
from forcemove.protocol.logs import ChallengeRegistered, Checkpointed, PartlyPaid, Responded
from forcemove.protocol.types import ETHER, Signature, SupportProof, VariablePart
from forcemove.protocol.words import Mode
from tests.parity.core_verdict import Verdict
from tests.parity.core_world import PEOPLE, World, cached_signature
from tests.protocol.builders import count_data, destination, fixed_part, pack_pattern, players, usual_pattern

STRANGE_IDS = (keccak256(b"a channel that nobody plays"), bytes(12) + b"\x01" * 20)

PACKED = ("challenge", "respond", "checkpoint", "conclude", "transfer")
OPERATIONS = ("deposit", "challenge", "respond") * 2 + (*PACKED[2:], "claim", "pay_credit", "batch")
ITEM_GAS = 3_000_000


class Actor:
    """Does anything to the channels of one world."""

    def __init__(self, rng: Random, world: World) -> None:
        self.rng = rng
        self.world = world
        tokens = rng.sample(sorted(world.tokens.values()), 2)
        self.assets = sorted([ETHER, *tokens][: rng.choice((1, 1, 2, 3))])
        self.channels = [
            fixed_part(players(count), nonce, world.app, asset=rng.choice(self.assets), total=rng.choice((0, 20)))
            for nonce, count in enumerate((2, 3, 2, 2, 3))
        ]
        self.ids = [channel_id(channel, world.domain) for channel in self.channels]
        world.totals.update(zip(self.ids, (channel.total for channel in self.channels), strict=True))
        self.menus = [self._menu(index) for index in range(len(self.channels))]
        self.recorded: dict[bytes, VariablePart] = {}
        self.owed: dict[bytes, tuple[bytes, Outcome]] = {}

    def step(self) -> Verdict:
        """Let some time pass, perhaps, and do one thing."""
        if self.rng.random() < 0.1:
            self.wait()
        return self.do(self.rng.choice(OPERATIONS))

    def do(self, operation: str) -> Verdict:
        """One operation of the adjudicator, by its name."""
        perform: Callable[[], Verdict] = getattr(self, operation)
        verdict = perform()
        self._remember()
        return verdict

    def wait(self) -> None:
        """Until just before, at or after a deadline; or a second, or not at all."""
        world = self.world
        deadlines = [s.finalizes_at for s in world.model.statuses.values() if s.finalizes_at > world.now]
        deadline = self.rng.choice(deadlines) if deadlines else world.now
        later = world.now + self.rng.randrange(2)
        world.chain.travel_to(max(world.now, deadline + self.rng.choice((-1, -1, 0, 1)), later))

    # ---------------------------------------------------------------------------------------------------- choices

    def _likely(self, chance: float = 0.85) -> bool:
        return self.rng.random() < chance

    def _menu(self, index: int) -> list[Outcome]:
        """Some outcomes of one channel with the same totals, to anybody that might be paid."""
        payees: list[bytes] = [person.address for person in PEOPLE] + list(self.world.recipients.values())
        payees += [id_ for id_ in (*self.ids, STRANGE_IDS[0]) if id_ != self.ids[index]]
        return [tuple(entry for asset in self.assets for entry in self._split(asset, payees)) for _ in range(4)]

    def _split(self, asset: bytes, payees: Sequence[bytes]) -> list[Allocation]:
        """Twenty of an asset, in up to four parts."""
        cuts = sorted(self.rng.randint(0, 20) for _ in range(self.rng.randrange(4)))
        amounts = [high - low for low, high in zip([0, *cuts], [*cuts, 20], strict=True)]
        return [Allocation(asset, destination(self.rng.choice(payees)), amount) for amount in amounts]

    def _channel_in(self, *modes: Mode) -> int:
        """One that is in such a mode, if there is one, mostly."""
        model, now = self.world.model, self.world.now
        statuses = [model.status_of(id_, channel.asset) for id_, channel in zip(self.ids, self.channels, strict=True)]
        fitting = [index for index, status in enumerate(statuses) if status.mode(now) in modes]
        return self.rng.choice(fitting) if fitting and self._likely() else self.rng.randrange(len(self.ids))

    def _sender(self) -> bytes:
        return self.rng.choice(PEOPLE).address

    def _remember(self) -> None:
        """What clients would learn from the logs."""
        for log in self.world.take_logs():
            match log:
                case ChallengeRegistered(id_, _, state) | Responded(id_, state) | Checkpointed(id_, state):
                    self.recorded[id_] = state
                    self.owed[id_] = hash_state(id_, state).state, state.outcome
                case PartlyPaid(id_, state_hash, remaining):
                    self.owed[id_] = state_hash, remaining

    # --------------------------------------------------------------------------------------------- states, proofs

    def _state(self, index: int, turn: int, is_final: bool = False) -> VariablePart:
        count = len(self.channels[index].participants)
        outcome = self.rng.choice(self.menus[index]) if turn >= 2 * count else self.menus[index][0]
        is_shown = not is_final and turn >= 2 * count and not self._likely(0.8)
        evidence = b"why this was right" * self.rng.randint(1, 2) if is_shown else b""
        return VariablePart(outcome, b"" if is_final else count_data(turn, count), turn, is_final, evidence)

    def _sign(self, index: int, participant: int, state: VariablePart) -> Signature:
        key: Key = players(3)[participant] if self._likely(0.98) else self.rng.choice(PEOPLE)
        hashed = hash_state(self.ids[index], state).state
        return cached_signature(key, digest(self.world.domain, hashed))

    def _chain(self, index: int) -> tuple[VariablePart, ...]:
        """Consecutive states that end near the recorded one."""
        channel, id_ = self.channels[index], self.ids[index]
        record = self.world.model.status_of(id_, channel.asset).turn_num_record
        last = max(0, record + self.rng.choice((-1, 0, 1, 1, 2, 3)))
        length = min(self.rng.randint(1, len(channel.participants)), last + 1)
        states = [self._state(index, turn) for turn in range(last - length + 1, last + 1)]
        if not self._likely(0.9):
            outcome = states[-2 if length > 1 else -1].outcome if self._likely() else self.rng.choice(self.menus[index])
            states[-1] = VariablePart(outcome, b"", last, True)
        if not self._likely(0.95):
            place = self.rng.randrange(length)
            states[place] = replace(states[place], app_data=b"?")
        return tuple(states)

    def _proof(self, index: int) -> SupportProof:
        states = self._chain(index)
        count = len(self.channels[index].participants)
        pattern = [self.rng.randint(low, len(states) - 1) for low in usual_pattern(states, count)]
        if not self._likely(0.95):
            pattern[0] = self.rng.randrange(len(states))
        signatures = tuple(self._sign(index, i, states[signed]) for i, signed in enumerate(pattern))
        return SupportProof(states, signatures, pack_pattern(pattern))

    def _proof_from_record(self, index: int) -> SupportProof:
        """Of states that go on from the recorded one, each signed by its mover."""
        channel, id_ = self.channels[index], self.ids[index]
        recorded = self.recorded.get(id_) or self._state(index, 0)
        if not self._likely(0.9):
            recorded = self._state(index, recorded.turn_num)
        states = [recorded]
        for _ in range(self.rng.randint(1, len(channel.participants) - 1)):
            states.append(self._successor(index, states[-1]))
        signatures = [self._sign(index, channel.mover(state.turn_num), state) for state in states[1:]]
        return SupportProof(tuple(states), tuple(signatures), 0)

    def _successor(self, index: int, state: VariablePart) -> VariablePart:
        """Mostly a legal one."""
        turn = state.turn_num + 1
        if self._likely(0.9 if state.is_final else 0.1):
            return VariablePart(state.outcome, b"", turn, True)
        successor = self._state(index, turn)
        return successor if self._likely(0.5) else replace(successor, outcome=state.outcome)

    def _any_proof(self, index: int) -> SupportProof:
        return self._proof(index) if self._likely(0.6) else self._proof_from_record(index)

    def _restated(self, index: int) -> SupportProof:
        """The recorded state by itself, which needs no signatures; some come with it all the same."""
        state = self.recorded.get(self.ids[index]) or self._state(index, 0)
        if not self._likely(0.9):
            state = self._state(index, state.turn_num)
        count = 0 if self._likely(0.9) else len(self.channels[index].participants)
        return SupportProof((state,), tuple(self._sign(index, seat, state) for seat in range(count)), 0)

    # ---------------------------------------------------------------------------------------------------- calldata

    def _send(self, data: bytes) -> Verdict:
        return self.world.packed(self._sender(), data if self._likely(0.95) else self._tampered(data))

    def _tampered(self, data: bytes) -> bytes:
        """With a byte changed, added or taken out, or cut off. The last byte stays what it is: it may be the gas of a
        payment, of which the model knows nothing."""
        place, byte = (
            self.rng.randrange(4, max(5, len(data))),
            self.rng.choice((0, 1, 0x3E, 0x3F, self.rng.randrange(256))),
        )
        start, rest = data[:place], data[place:]
        return self.rng.choice(
            (start, start + rest[1:], start + bytes((byte,)) + rest, start + bytes((byte,)) + rest[1:-1] + data[-1:])
        )

    # ------------------------------------------------------------------------------------------------- operations

    def deposit(self) -> Verdict:
        id_ = self.rng.choice(self.ids) if self._likely() else self.rng.choice(STRANGE_IDS)
        asset = self.rng.choice(self.assets)
        held = self.world.model.holdings_of(id_, asset).amount
        expected = held if self._likely(0.7) else max(0, held + self.rng.choice((-3, -1, 1)))
        amount = self.rng.choice((0, 1, 5, 10, 10, 20)) if self._likely(0.98) else 2**253 - expected
        value = None if self._likely(0.95) else 1
        if amount > 2**200:
            return self.world.deposit(self._sender(), id_, self.world.tokens["EndlessToken"], expected, amount)
        return self.world.deposit(self._sender(), id_, asset, expected, amount, value)

    def challenge(self) -> Verdict:
        return self._send(self._challenge())

    def respond(self) -> Verdict:
        return self._send(self._respond())

    def checkpoint(self) -> Verdict:
        return self._send(self._checkpoint())

    def conclude(self) -> Verdict:
        return self._send(self._conclude())

    def transfer(self) -> Verdict:
        return self._send(self._transfer())

    def batch(self) -> Verdict:
        items = []
        for _ in range(self.rng.randrange(5)):
            write: Callable[[], bytes] = getattr(self, f"_{self.rng.choice(PACKED)}")
            data = write() if self._likely(0.97) else packed_writer.batch_call([])
            items.append((ITEM_GAS, data if self._likely(0.95) else self._tampered(data)))
        data = packed_writer.batch_call(items)
        return self.world.packed(
            self._sender(), data if self._likely(0.95) else data[: self.rng.randrange(4, len(data) + 1)]
        )

    def _challenge(self) -> bytes:
        index = self._channel_in(Mode.OPEN, Mode.CHALLENGE)
        proof = self._any_proof(index) if self._likely(0.7) else self._restated(index)
        signature = self._challenger(index, proof) if self.rng.random() < 0.5 else None
        return packed_writer.challenge_call(self.channels[index], proof, signature)

    def _challenger(self, index: int, proof: SupportProof) -> Signature:
        state, id_ = proof.last, self.ids[index]
        hashed = challenge_hash(id_, state.turn_num, hash_state(id_, state).state)
        return cached_signature(self.rng.choice(PEOPLE), digest(self.world.domain, hashed))

    def _respond(self) -> bytes:
        index = self._channel_in(Mode.CHALLENGE)
        challenged = self.recorded.get(self.ids[index]) or self._state(index, 3)
        if not self._likely(0.9):
            challenged = self._state(index, challenged.turn_num)
        turn = challenged.turn_num + 1
        response = self._state(index, turn)
        if not self._likely(0.95 if challenged.is_final else 0.2):
            response = replace(response, outcome=challenged.outcome)
        if self._likely(0.8 if challenged.is_final else 0.2):
            outcome = challenged.outcome if self._likely() else response.outcome
            response = VariablePart(outcome, b"", turn, True)
        channel = self.channels[index]
        signature = self._sign(index, channel.mover(turn), response)
        return packed_writer.respond_call(channel, challenged, response, signature)

    def _checkpoint(self) -> bytes:
        index = self._channel_in(Mode.OPEN, Mode.CHALLENGE)
        return packed_writer.checkpoint_call(self.channels[index], self._any_proof(index))

    def _conclude(self) -> bytes:
        index = self._channel_in(Mode.OPEN, Mode.CHALLENGE)
        channel = self.channels[index]
        state = self._state(index, self.rng.choice((0, 5, 9)), is_final=True)
        outcome = state.outcome if self._likely(0.95) else ()
        signatures = [self._sign(index, i, state) for i in range(len(channel.participants))]
        return packed_writer.conclude_call(channel, outcome, state.turn_num, signatures, OSAKA.push)

    def _transfer(self) -> bytes:
        index = self._channel_in(Mode.FINALIZED)
        id_ = self.ids[index]
        state_hash, outcome = self.owed.get(id_, (bytes(32), self.menus[index][0]))
        if not self._likely(0.9):
            outcome = self.rng.choice(self.menus[index])
        asset = self.channels[index].asset if self._likely(0.95) else self.rng.choice(self.assets)
        return packed_writer.transfer_call(id_, asset, state_hash, outcome, self._indices(outcome), OSAKA.push)

    def _indices(self, outcome: Outcome) -> list[int]:
        if self.rng.random() < 0.4:
            return []
        asset = self.rng.choice(outcome).asset
        places = [place for place, entry in enumerate(outcome) if entry.asset == asset]
        chosen = sorted(self.rng.sample(places, self.rng.randint(1, len(places))))
        if not self._likely(0.9):
            chosen.append(self.rng.randrange(len(outcome) + 1))
        return chosen

    def _credit(self) -> tuple[bytes, bytes]:
        """An account and an asset in which it has a credit, if there is one, mostly."""
        creditors = list(self.world.model.credits)
        nobody = self._sender(), self.rng.choice(self.assets)
        return self.rng.choice(creditors) if creditors and self._likely() else nobody

    def claim(self) -> Verdict:
        account, asset = self._credit()
        to = self._sender() if self._likely(0.8) else self.rng.choice((bytes(20), self.world.adjudicator, account))
        return self.world.claim(account, asset, to)

    def pay_credit(self) -> Verdict:
        return self.world.pay_credit(self._sender(), *self._credit())
