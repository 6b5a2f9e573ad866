"""Channels on a local chain whose operations are measured: of any fork that `@ethereumjs/vm` or py-evm has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forcemove import Allocation, Key, Outcome, address_destination, keccak256, load_artifact, local_keys
from forcemove.chain.adjudicator import Adjudicator, Operation
from forcemove.chain.chain import Call, Chain
from forcemove.chain.local import AnvilChain
from forcemove.chain.token import Token
from forcemove.protocol.encoding import challenge_hash, channel_id, digest, hash_state, word
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import ETHER, FixedPart, Signature, SignedState, SupportProof, VariablePart

ETH = 10**18
DAY = 86_400
_CHAIN_ID = 131_277_322_940_537
"""That of eth-tester: signatures and hashes follow from it, and each zero byte of them counts."""
_NODE = Path(__file__).with_name("forks.mjs")
_ACCOUNTS = 5
_ARTIFACTS = Path(__file__).resolve().parents[2] / "contracts" / "artifacts"


def chain_of_fork(fork: str) -> AnvilChain:
    """A chain under this fork, as `@ethereumjs/vm` names it: "osaka" or "amsterdam". Its process ends with `close`."""
    return AnvilChain("--hardfork", fork, "--chain-id", str(_CHAIN_ID), binary=str(_NODE))


class Bench:
    """An adjudicator, the counting app and Discard on a local chain, and `keys` whose accounts have ether. `push`: how
    much gas a payee may use on this chain."""

    def __init__(self, chain: Chain) -> None:
        """`chain`: a fresh one that funds `local_keys`."""
        self.chain, self.nonce, self.push = chain, 0, chain.ask_prices().push
        self.keys = tuple(Key(number.to_bytes(32)) for number in range(1, 1 + _ACCOUNTS))
        for key in self.keys:
            chain.send(Call(key.address, b"", 1_000 * ETH), local_keys()[0])
        self.adjudicator = Adjudicator(chain, self.deployed("Adjudicator"))
        self.app, self.discard = self.deployed("test/CountingApp"), self.deployed("Discard")

    def deployed(self, name: str) -> bytes:
        """The address of a new contract."""
        call = Call(None, load_artifact(_ARTIFACTS / f"{name}.json").bytecode)
        return self.chain.send(call, self.keys[0]).contract_address or b""

    def channel(self, count: int = 2, app: bytes = b"", asset: bytes = ETHER) -> Channel:
        """A fresh channel whose participants are existing accounts. `app`: the counting app, unless one is given."""
        self.nonce += 1
        return Channel(self, self.keys[1 : 1 + count], self.nonce, app or self.app, asset)

    def funded(self, count: int = 2, app: bytes = b"") -> Channel:
        """A channel into which each participant has paid its ether."""
        channel = self.channel(count, app)
        channel.fund()
        return channel

    def send(self, sender: Key, operation: Operation) -> int:
        """The gas that a transaction used; it must succeed."""
        return self.adjudicator.send(operation, sender).gas_used


class Channel:
    """One channel on a bench, with its calls as measured actions. It pays `payees`, which are its participants until
    others are given, in its home asset."""

    def __init__(self, bench: Bench, keys: Sequence[Key], nonce: int, app: bytes, asset: bytes = ETHER) -> None:
        """Nothing of it is on the chain yet.

        - `bench`: where it is played.
        - `keys`: of its participants, each an account with ether.
        - `nonce`: its channelNonce.
        - `app`: the address of the game.
        - `asset`: its home asset.
        """
        self.bench, self.keys, self.adjudicator = bench, keys, bench.adjudicator
        self.asset, self.payees = asset, tuple(key.address for key in keys)
        self.fixed_part = FixedPart(self.payees, nonce, app, DAY, asset, len(keys) * ETH)
        self.id = channel_id(self.fixed_part, bench.adjudicator.domain)

    @property
    def outcome(self) -> Outcome:
        amounts = {2: (ETH * 5 // 4, ETH * 3 // 4), 3: (ETH * 5 // 4, ETH, ETH * 3 // 4)}[len(self.keys)]
        return tuple(
            Allocation(self.asset, address_destination(payee), amount)
            for payee, amount in zip(self.payees, amounts, strict=True)
        )

    def state(self, turn_num: int) -> VariablePart:
        return VariablePart(self.outcome, word(turn_num), turn_num)

    def sign(self, participant: int, state: VariablePart) -> Signature:
        return self.keys[participant].sign(digest(self.adjudicator.domain, hash_state(self.id, state).state))

    def mover(self, state: VariablePart) -> int:
        return state.turn_num % len(self.keys)

    def proof(self, *states: VariablePart) -> SupportProof:
        """Consecutive states, each signed by its mover; a single one by all."""
        seats = [range(len(self.keys))] if len(states) == 1 else [[self.mover(state)] for state in states]
        signed = [
            SignedState(state, {seat: self.sign(seat, state) for seat in some})
            for state, some in zip(states, seats, strict=True)
        ]
        proof = build_support_proof(self.fixed_part, signed)
        if proof is None:
            raise SystemExit("these states prove nothing")
        return proof

    def deposit(self, participant: int) -> int:
        """Of a token, what was allowed before."""
        operation = self.adjudicator.deposit(self.id, self.asset, participant * ETH, ETH)
        return self.bench.send(self.keys[participant], operation)

    def fund(self) -> list[int]:
        """The gas of each deposit; of a token, without making and allowing it, which is twice as much: nothing is
        refunded."""
        if self.asset == ETHER:
            return list(map(self.deposit, range(len(self.keys))))
        token = Token(self.bench.chain, self.asset)
        for key in self.keys:
            self.bench.chain.send(minted(token, key.address, 2 * ETH), key)
            self.bench.chain.send(token.approve(self.adjudicator.address, 2 * ETH), key)
        return list(map(self.deposit, range(len(self.keys))))

    def challenge(self, *states: VariablePart) -> int:
        return self._challenged(self.proof(*states))

    def challenge_from_recorded(self, turn: int) -> int:
        """The gas of a challenge with the state after the recorded one, which is of `turn - 1`, signed by its mover
        alone."""
        recorded, state = self.state(turn - 1), self.state(turn)
        return self._challenged(SupportProof((recorded, state), (self.sign(self.mover(state), state),), 0))

    def challenging(self, *states: VariablePart) -> Operation:
        """The operation, signed by the last state's mover, to be sent by anybody or in a batch."""
        last, proof = states[-1], self.proof(*states)
        struct = challenge_hash(self.id, last.turn_num, hash_state(self.id, last).state)
        signature = self.keys[self.mover(last)].sign(digest(self.adjudicator.domain, struct))
        return self.adjudicator.challenge(self.fixed_part, proof, signature)

    def _challenged(self, proof: SupportProof) -> int:
        return self.bench.send(self.keys[self.mover(proof.last)], self.adjudicator.challenge(self.fixed_part, proof))

    def respond(self, from_: VariablePart, to: VariablePart) -> int:
        return self.bench.send(self.keys[self.mover(to)], self.responding(from_, to))

    def responding(self, from_: VariablePart, to: VariablePart) -> Operation:
        """The operation, to be sent alone or in a batch."""
        return self.adjudicator.respond(self.fixed_part, from_, to, self.sign(self.mover(to), to))

    def checkpoint(self, *states: VariablePart) -> int:
        return self.bench.send(self.keys[0], self.checkpointing(*states))

    def checkpointing(self, *states: VariablePart) -> Operation:
        """The operation, to be sent alone or in a batch."""
        return self.adjudicator.checkpoint(self.fixed_part, self.proof(*states))

    def conclude(self, turn: int) -> int:
        return self.bench.send(self.keys[0], self.concluding(turn))

    def concluding(self, turn: int) -> Operation:
        """The operation, to be sent alone or in a batch."""
        final = VariablePart(self.outcome, b"", turn, True)
        signatures = [self.sign(seat, final) for seat in range(len(self.keys))]
        values, push = (self.fixed_part, self.outcome, turn, signatures), self.bench.push
        return self.adjudicator.conclude(*values, push=push)

    def transfer(self, state: VariablePart) -> int:
        values = self.id, self.fixed_part.asset, hash_state(self.id, state).state, self.outcome
        return self.bench.send(self.keys[0], self.adjudicator.transfer(*values, push=self.bench.push))


def minted(token: Token, account: bytes, amount: int) -> Call:
    """The call that makes units of a test's token for an account; anybody may."""
    selector = keccak256(b"mint(address,uint256)")[:4]
    return Call(token.address, selector + address_destination(account) + word(amount))
