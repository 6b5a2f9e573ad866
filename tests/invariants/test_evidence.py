"""Evidence is signed, logged, and shown to the app once: with the move that it is of."""

from __future__ import annotations

from msgspec.structs import replace

from forcemove.protocol.logs import Checkpointed
from tests.parity.core_verdict import ALLOWED
from tests.parity.core_world import World
from tests.protocol.builders import ALICE, chain, fixed_part, proof

EVIDENCE = b"why this was right"


def test_evidence_is_signed_and_logged() -> None:
    world = World()
    fixed = fixed_part(app=world.app)
    first, last = chain(10, 11)
    shown = replace(last, evidence=EVIDENCE)
    good = proof(first, shown, fixed=fixed, domain=world.domain)
    other = replace(good, states=(first, replace(last, evidence=b"something else")))
    assert world.checkpoint(ALICE.address, fixed, other).error == "WrongSigner"
    assert world.checkpoint(ALICE.address, fixed, good) == ALLOWED
    (log,) = world.take_logs()
    assert isinstance(log, Checkpointed)
    assert log.state == shown
