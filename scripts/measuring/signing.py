"""The cost of a state and of a turn over that of libsecp256k1 and of eth_account.

States have two participants and 288 bytes of appData, positions of rock-paper-scissors; they are those of one long
game, and the bare operations get the same digests and signatures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from coincurve import PrivateKey, PublicKey

from forcemove import SignedState, VariablePart, keccak256
from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.signing import require_signer
from forcemove.protocol.types import Signature
from scripts.measuring.cases import ADDRESSES, KEYS, LongGame, Measured, Row, case, ratios, require

TURNS = 200
"""How many turns of each player a round times: more positions than a game keeps decoded."""
_TYPES = Path(__file__).resolve().parents[2] / "contracts" / "eip712.json"


def bare_sign(key: PrivateKey, ready: bytes) -> bytes:
    """libsecp256k1's own signature of a ready hash (32 bytes), through coincurve."""
    return key.sign_recoverable(ready, hasher=None)


def bare_recover(ready: bytes, signature: bytes) -> bytes:
    """The address whose signature this is, in the form of `recoverable`."""
    public_key = PublicKey.from_signature_and_message(signature, ready, hasher=None)
    return keccak256(public_key.format(compressed=False)[1:])[12:]


def recoverable(signature: Signature) -> bytes:
    """A signature as libsecp256k1 takes it: the parity in a byte of its own."""
    compact = signature.compact
    return compact[:32] + bytes((compact[32] & 0x7F,)) + compact[33:] + bytes((compact[32] >> 7,))


@case(
    Row("state_sign_ratio", "x", "encode, hash and sign a state / one bare signature of a ready hash", 1.6),
    Row("state_verify_ratio", "x", "encode, hash and recover a state / one bare recovery to an address", 1.35),
    Row("turn_ratio", "x", "verify, check every rule, sign the reply / a bare recovery and a bare signature", 1.6),
    Row("eth_account_sign_ratio", "x", "eth_account's typed-data signing / ours", 8, at_least=True),
)
def signing(rounds: int = 60) -> Measured:
    """A state, and a turn, over the bare operations of libsecp256k1."""
    game = LongGame(TURNS)
    domain, id_, key = game.opened.agreement.domain, game.opened.agreement.channel_id, PrivateKey(KEYS[0].secret)
    ours, theirs = game.states, game.received

    def ready(state: VariablePart) -> bytes:
        return digest(domain, hash_state(id_, state).state)

    def verify(signed: SignedState) -> None:
        require_signer(ready(signed.state), signed.signatures[1], ADDRESSES[1])

    to_sign = list(map(ready, ours))
    to_verify = [(ready(each.state), recoverable(each.signatures[1])) for each in theirs]
    both = list(zip(to_verify, to_sign, strict=True))
    actions = {
        "sign": lambda: [KEYS[0].sign(ready(each)) for each in ours],
        "bare sign": lambda: [bare_sign(key, each) for each in to_sign],
        "verify": lambda: list(map(verify, theirs)),
        "bare recover": lambda: [bare_recover(*each) for each in to_verify],
        "turn": game.replay,
        "bare turn": lambda: [(bare_recover(*received), bare_sign(key, each)) for received, each in both],
        "eth_account": _eth_account(game, [bare_sign(key, each) for each in to_sign]),
    }
    compared = {
        "state_sign_ratio": ("sign", "bare sign"),
        "state_verify_ratio": ("verify", "bare recover"),
        "turn_ratio": ("turn", "bare turn"),
        "eth_account_sign_ratio": ("eth_account", "sign"),
    }
    return ratios(rounds, actions, compared)


def _eth_account(game: LongGame, expected: Sequence[bytes]) -> Callable[[], list[bytes]]:
    """The same signatures of the same states, made by eth_account."""
    from eth_account import Account

    agreed, written = game.opened.agreement, json.loads(_TYPES.read_text("utf-8"))
    place = {"chainId": agreed.domain.chain_id, "verifyingContract": "0x" + agreed.domain.adjudicator.hex()}
    types = {name: written["types"][name] for name in ("State", "Allocation")}
    messages = [_typed_message(agreed.channel_id, state) for state in game.states]

    def sign() -> list[bytes]:
        made = (Account.sign_typed_data(KEYS[0].secret, written["domain"] | place, types, each) for each in messages)
        return [bytes(each.signature) for each in made]

    require([each[:64] for each in sign()] == [each[:64] for each in expected], "eth_account signs something else")
    return sign


def _typed_message(id_: bytes, state: VariablePart) -> dict[str, object]:
    return {
        "channelId": id_,
        "outcome": [
            {"asset": "0x" + entry.asset.hex(), "destination": entry.destination, "amount": entry.amount}
            for entry in state.outcome
        ],
        "appData": state.app_data,
        "evidence": state.evidence,
        "turnNum": state.turn_num,
        "isFinal": state.is_final,
    }
