"""Computes with curve, hash and transactions as much as `COUNT` says: run by the machine's Python, and in Pyodide.
`found`: a hash over each kind of result."""

from __future__ import annotations

import json
from hashlib import sha256
from random import Random

from forcemove.chain.transactions import Call, Fees, sign_transaction
from forcemove.protocol import curve
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.signing import Key, recover

COUNT = 10


def refused(function: object, *values: object) -> bytes:
    """The result, or that there is none."""
    try:
        found = function(*values)  # type: ignore[operator]
    except ValueError:
        return b"refused"
    return found if isinstance(found, bytes) else curve.uncompressed(found)


def results(seed: int) -> dict[str, bytes]:
    """One of each kind."""
    random = Random(seed)
    secret = random.randrange(1, curve.ORDER).to_bytes(32)
    key, digest = Key(secret), random.randbytes(32)
    signature = key.sign(digest)
    point, scalar = curve.public_key(secret), random.randrange(1, curve.ORDER).to_bytes(32)
    multiple = curve.multiply(point, scalar)
    negative = bytes((curve.compressed(point)[0] ^ 1,)) + curve.compressed(point)[1:]
    odd = random.randbytes(65)
    signed = sign_transaction(1, Call(random.randbytes(20), random.randbytes(seed % 70)), key, seed, 21_000, Fees(9, 2))
    return {
        "address": key.address,
        "key": key.public_key,
        "signature": signature.compact,
        "recovered": recover(digest, signature),
        "hash": keccak256(random.randbytes(seed % 300)),
        "multiple": curve.compressed(multiple),
        "sum": curve.uncompressed(curve.add([point, multiple, curve.parse(curve.compressed(point))])),
        "infinity": refused(curve.add, [point, curve.parse(negative)]),
        "parsed": refused(curve.parse, bytes((2 + seed % 2,)) + random.randbytes(32)),
        "stranger": refused(curve.recover, bytes(32) + signature.compact[:32] + b"\0", digest),
        "odd": refused(curve.parse, odd[: random.choice((0, 32, 33, 64, 65))]),
        "transaction": signed.raw,
    }


def compute(count: int) -> str:
    """A hash over all results of each kind."""
    hashes: dict[str, str] = {}
    for seed in range(count):
        for name, data in results(seed).items():
            hashes[name] = sha256(hashes.get(name, "").encode() + data).hexdigest()
    return json.dumps(hashes)


found = compute(COUNT)
