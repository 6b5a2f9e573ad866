"""The harness contract, deployed: the libraries' functions with the twin's values in and out."""

from __future__ import annotations

from forcemove import Domain, Outcome, word
from forcemove.protocol.codec.packed_writer import checkpoint_call
from forcemove.protocol.types import FixedPart, Signature, SupportProof, VariablePart
from forcemove.protocol.words import EMPTY_STATUS, Status
from tests.evm import Evm, function_selector
from tests.parity import core_abi as abi
from tests.parity.core_verdict import Verdict, of_bytecode

CHAIN_ID = 1
"""Of the EVM in process."""


class Harness:
    """One EVM with the harness and the apps on it."""

    def __init__(self, contract: str = "Harness") -> None:
        """`contract`: `Harness`, or `ProofHarness` for `supported`."""
        self._evm, self._contract = Evm(), contract
        self._address = self._evm.deploy(contract)
        self.domain = Domain(CHAIN_ID, bytes.fromhex(self._address[2:]))
        self._apps: dict[str, bytes] = {}

    def app(self, name: str) -> bytes:
        """The address of an app of `contracts/test`."""
        if name not in self._apps:
            self._apps[name] = bytes.fromhex(self._evm.deploy(name)[2:])
        return self._apps[name]

    def call(self, function: str, *parts: bytes | abi.Tail) -> tuple[bool, bytes]:
        return self._evm.call(self._address, function_selector(self._contract, function) + abi.arguments(*parts))

    def hashes(self, function: str, *parts: bytes | abi.Tail) -> list[bytes]:
        """The 32-byte words that a function returns."""
        success, output = self.call(function, *parts)
        assert success, output.hex()
        return [output[start : start + 32] for start in range(0, len(output), 32)]

    def verdict(self, function: str, *parts: bytes | abi.Tail) -> Verdict:
        return of_bytecode(*self.call(function, *parts))

    def recover(self, digest: bytes, signature: Signature) -> tuple[bool, bytes]:
        return self.call("recover", digest, abi.text(signature.compact))

    def valid_outcome(self, id_: bytes, fixed_part: FixedPart, outcome: Outcome) -> Verdict:
        funded = abi.address(fixed_part.asset), word(fixed_part.total)
        return self.verdict("requireValidOutcome", id_, abi.outcome(outcome), *funded)

    def valid_state(self, id_: bytes, fixed_part: FixedPart, state: VariablePart) -> Verdict:
        return self.verdict("requireValidState", id_, abi.fixed_part(fixed_part), abi.state(state))

    def valid_transition(self, fixed_part: FixedPart, from_: VariablePart, to: VariablePart) -> Verdict:
        return self.verdict("requireValidTransition", abi.fixed_part(fixed_part), abi.state(from_), abi.state(to))

    def read(self, fixed_part: FixedPart, proof: SupportProof) -> tuple[bool, bytes]:
        """What the reader makes of a proof that is written."""
        data = function_selector(self._contract, "read") + checkpoint_call(fixed_part, proof)[4:]
        return self._evm.call(self._address, data)

    def supported(self, fixed_part: FixedPart, proof: SupportProof, status: Status = EMPTY_STATUS) -> Verdict:
        arguments = word(status.pack()) + checkpoint_call(fixed_part, proof)[4:]
        data = function_selector(self._contract, "requireSupported") + arguments
        return of_bytecode(*self._evm.call(self._address, data))
