"""Signing and recovery are dear, and give the same each time: in a search they are done once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from unittest.mock import patch

from forcemove.protocol import adjudication, signing
from forcemove.protocol.machine import record
from forcemove.protocol.signing import Key, recover
from forcemove.protocol.types import Signature

__all__ = ["RememberingKey", "remembering"]


class RememberingKey(Key):
    """Signs each digest once."""

    __slots__ = ("_made",)

    def __init__(self, secret: bytes) -> None:
        super().__init__(secret)
        self._made: dict[bytes, Signature] = {}

    def sign(self, digest: bytes) -> Signature:
        found = self._made.get(digest)
        if found is None:
            found = self._made[digest] = super().sign(digest)
        return found


@contextmanager
def remembering() -> Iterator[None]:
    """Anyone who recovers a signer within this is told what was found before."""
    remembered = cache(recover)
    with ExitStack() as stack:
        for module in (signing, adjudication, record):
            stack.enter_context(patch.object(module, "recover", remembered))
        yield
