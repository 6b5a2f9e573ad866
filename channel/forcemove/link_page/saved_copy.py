"""A copy of what a page has of its open games for a stake: one file, with which a terminal can end them.

It is a key file as wallets write it (Web3 Secret Storage, version 3), with one more member, `channels`: a backup of the
journal, encrypted in the same way with the same password. What is imported from a backup signs nothing.
"""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from forcemove.errors import LocalError
from forcemove.keys.key_files import COPIED_CHANNELS, KEY_FILE_VERSION
from forcemove.protocol.codec.json_text import MAX_LENGTH
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.signing import Key
from forcemove.store.records import ExportKind

if TYPE_CHECKING:
    from forcemove.store.journal import Journal

Encrypt = Callable[[bytes, bytes, int, bytes, bytes], Awaitable[tuple[bytes, bytes]]]
"""Encrypts with a password, a salt and a number of rounds (PBKDF2-HMAC-SHA256 for 32 bytes), a first counter, and the
data (AES-128-CTR under the first half of these bytes). Returns their second half, and what became of the data."""
_ROUNDS = 1_000_000
"""Every guess at the password costs about half a second."""


class CopyTooLong(LocalError):
    """The games together are too long for one file."""


class NothingToCopy(LocalError):
    """No game for a stake is open."""


async def saved_copy(journal: Journal, ids: list[bytes], key: Key, password: str, encrypt: Encrypt) -> str:
    """The text of the file.

    - `journal`: has the games.
    - `ids`: of the channels to copy.
    - `key`: the player's.
    - `password`: opens the file; not empty.
    - `encrypt`: the browser's.

    Raises `NothingToCopy`, `CopyTooLong`, and what `Journal.export` raises.
    """
    if not ids:
        raise NothingToCopy()
    channels = journal.export(ids, ExportKind.BACKUP, has_history=False)
    content = await _encrypted(key.secret, password, encrypt)
    content |= {"address": key.address.hex(), "id": str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))}
    text = json.dumps(content | {COPIED_CHANNELS: await _encrypted(channels, password, encrypt)}, indent=1)
    if len(text) > MAX_LENGTH:
        raise CopyTooLong()
    return text


async def _encrypted(data: bytes, password: str, encrypt: Encrypt) -> dict[str, Any]:
    salt, counter = secrets.token_bytes(32), secrets.token_bytes(16)
    mac_key, hidden = await encrypt(password.encode("utf-8", "surrogatepass"), salt, _ROUNDS, counter, data)
    crypto = {
        "cipher": "aes-128-ctr",
        "cipherparams": {"iv": counter.hex()},
        "ciphertext": hidden.hex(),
        "kdf": "pbkdf2",
        "kdfparams": {"c": _ROUNDS, "dklen": 32, "prf": "hmac-sha256", "salt": salt.hex()},
        "mac": keccak256(mac_key + hidden).hex(),
    }
    return {"version": KEY_FILE_VERSION, "crypto": crypto}
