"""Private keys: encrypted key files (Web3 Secret Storage, version 3, as wallets write them) and the environment.

A secret never comes from a command-line argument, which other users of the machine can read.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from forcemove.errors import ForcemoveError, InvalidValue, LocalError, MalformedBytes
from forcemove.protocol.codec.json_text import MAX_LENGTH, parse_json, require_version
from forcemove.protocol.curve import ORDER
from forcemove.protocol.signing import Key
from forcemove.recursion_limit import keeping_recursion_limit

UNLOCK_VARIABLE = "FORCEMOVE_PASSPHRASE"
"""The environment variable that a key file's passphrase is read from."""
PRIVATE_KEY_VARIABLE = "FORCEMOVE_PRIVATE_KEY"
"""The environment variable that a private key to import is read from."""
KEY_FILE_VERSION = 3
"""The version of Web3 Secret Storage that wallets write, the only one that is read and written here."""
COPIED_CHANNELS = "channels"
"""The member that a key file has beside its own, where a page has saved it with its games."""
SCRYPT_WORK = 2**18
"""scrypt's n as wallets choose it: every guess at a passphrase costs about a second."""
_MAX_SCRYPT_WORK = 2**23  # n * r * p; wallets have 2**21
_MAX_PBKDF2_ROUNDS = 10_000_000


class KeyFileMissing(LocalError):
    """There is no key file at `path`."""

    path: str


class KeyFileExists(LocalError):
    """There is a file at `path` already; keys are never overwritten."""

    path: str


class KeyFileUnusable(LocalError):
    """The file at `path` could not be read or written."""

    path: str
    reason: str


class MalformedKeyFile(LocalError):
    """The file at `path` is not an encrypted key file."""

    path: str
    reason: str


class WrongPassphrase(LocalError):
    """The passphrase does not open the key file at `path`."""

    path: str


class EmptyPassphrase(LocalError):
    """A key file is not written with an empty passphrase."""


class MalformedPrivateKey(LocalError):
    """The given text is not a private key; it is not shown."""


def new_key() -> Key:
    """A fresh key from the system's randomness."""
    while True:
        secret = secrets.token_bytes(32)
        if 0 < int.from_bytes(secret, "big") < ORDER:
            return Key(secret)


def parse_private_key(text: str) -> Key:
    """A key from 64 hex digits, with or without 0x, spaces around them. Raises `MalformedPrivateKey`."""
    digits = text.strip().removeprefix("0x")
    if not re.fullmatch(r"[0-9a-fA-F]{64}", digits):
        raise MalformedPrivateKey()
    try:
        return Key(bytes.fromhex(digits))
    except InvalidValue:
        raise MalformedPrivateKey() from None


def write_key_file(path: Path, key: Key, passphrase: str, *, scrypt_work: int = SCRYPT_WORK) -> None:
    """Write an encrypted key file, readable by its owner alone (mode 0600): whole, or not at all.

    `scrypt_work`: scrypt's n. Raises `EmptyPassphrase`, `KeyFileExists`, `KeyFileUnusable`.
    """
    if not passphrase:
        raise EmptyPassphrase()
    if path.exists():
        raise KeyFileExists(str(path))  # raised before a second is spent on encrypting
    content = _keyfile().create_keyfile_json(key.secret, _encoded(passphrase), kdf="scrypt", iterations=scrypt_work)
    try:
        _write_new(path, json.dumps(content, indent=2) + "\n")
    except FileExistsError:
        raise KeyFileExists(str(path)) from None
    except OSError as error:
        raise KeyFileUnusable(str(path), error.strerror or str(error)) from None


def _keyfile() -> ModuleType:
    """The library that encrypts and decrypts, which takes long to import."""
    with keeping_recursion_limit():
        from eth_keyfile import keyfile
    return keyfile


def _write_new(path: Path, text: str) -> None:
    """Write a new file. A link, unlike a rename, does not replace a file that was put there meanwhile."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def read_key_file(path: Path, passphrase: str) -> Key:
    """Open a key file. Raises `KeyFileMissing`, `KeyFileUnusable`, `MalformedKeyFile`, `UnknownVersion`,
    `WrongPassphrase`."""
    content = _load(path)
    return _checked(path, content, _opened(path, content, passphrase))


def read_copied_channels(path: Path, passphrase: str) -> bytes:
    """The backup of channels that a page has saved in its key file, as bytes of an export of a journal. Raises as
    `read_key_file`."""
    content = _load(path).get(COPIED_CHANNELS)
    if not isinstance(content, dict) or not isinstance(content.get("crypto"), dict):
        raise MalformedKeyFile(str(path), "it has a key, and no channels")
    _require_version(path, content.get("version"))
    return _opened(path, content, passphrase)


def _opened(path: Path, content: Mapping[str, Any], passphrase: str) -> bytes:
    """What is encrypted in an object of a key file."""
    _require_usual(path, content)
    try:
        return bytes(_keyfile().decode_keyfile_json(dict(content), _encoded(passphrase)))
    except ValueError as error:
        if "MAC mismatch" in str(error):
            raise WrongPassphrase(str(path)) from None
        raise MalformedKeyFile(str(path), str(error)) from None
    except (KeyError, TypeError, AttributeError, NotImplementedError) as error:
        raise MalformedKeyFile(str(path), f"{type(error).__name__}: {error}") from None


def _encoded(passphrase: str) -> bytes:
    """The passphrase in UTF-8. One from the environment may not be valid Unicode, and is a passphrase all the same."""
    return passphrase.encode("utf-8", "surrogatepass")


def _checked(path: Path, content: Mapping[str, Any], secret: bytes) -> Key:
    try:
        key = Key(secret)
    except ForcemoveError:
        raise MalformedKeyFile(str(path), "what it holds is not a private key") from None
    if _address(path, content) not in (None, key.address):
        raise MalformedKeyFile(str(path), "the address written in it is not that of its key")
    return key


def address_in_key_file(path: Path) -> bytes | None:
    """The address (20 bytes) that is written in a key file; only opening the file shows whether it is its key's. None
    where none is written: a wallet may leave it out.

    Raises `KeyFileMissing`, `KeyFileUnusable`, `MalformedKeyFile`, `UnknownVersion`.
    """
    return _address(path, _load(path))


def _address(path: Path, content: Mapping[str, Any]) -> bytes | None:
    text = content.get("address")
    if text is None:
        return None
    if not isinstance(text, str) or not re.fullmatch(r"(0x)?[0-9a-fA-F]{40}", text):
        raise MalformedKeyFile(str(path), "what it names is not an address")
    return bytes.fromhex(text.removeprefix("0x"))


def _load(path: Path) -> Mapping[str, Any]:
    try:
        with path.open(encoding="utf-8") as file:
            content = parse_json(file.read(MAX_LENGTH + 1), "key file")
    except FileNotFoundError:
        raise KeyFileMissing(str(path)) from None
    except OSError as error:
        raise KeyFileUnusable(str(path), error.strerror or str(error)) from None
    except (UnicodeDecodeError, MalformedBytes):
        raise MalformedKeyFile(str(path), "it is not JSON") from None
    if not isinstance(content, dict):
        raise MalformedKeyFile(str(path), "it is not a JSON object")
    lowered = {str(name).lower(): value for name, value in content.items()}
    if not isinstance(lowered.get("crypto"), dict):
        raise MalformedKeyFile(str(path), "it is not an encrypted key file")
    _require_version(path, lowered.get("version"))
    return lowered


def _require_version(path: Path, version: object) -> None:
    try:
        require_version(version, f"key file {path}", KEY_FILE_VERSION)
    except MalformedBytes as error:
        raise MalformedKeyFile(str(path), error.reason) from None


def _require_usual(path: Path, content: Mapping[str, Any]) -> None:
    """Raise `MalformedKeyFile` unless a wallet may have written the file: opening another one could take all memory, or
    an hour."""
    crypto = content["crypto"]
    if crypto.get("cipher") != "aes-128-ctr":
        raise MalformedKeyFile(str(path), "its cipher is not aes-128-ctr")
    parameters = crypto.get("kdfparams")
    if not isinstance(parameters, dict):
        raise MalformedKeyFile(str(path), "it lacks kdfparams")
    numbers = [parameters.get(name, 1) for name in ("n", "r", "p", "c")]
    if not all(type(number) is int and number > 0 for number in numbers):
        raise MalformedKeyFile(str(path), "its kdfparams are not a positive numbers")
    if parameters.get("dklen") != 32:
        raise MalformedKeyFile(str(path), "its derived key has not 32 bytes")
    n, r, p, c = numbers
    if n * r * p > _MAX_SCRYPT_WORK or c > _MAX_PBKDF2_ROUNDS:
        raise MalformedKeyFile(str(path), "it asks for more work than any wallet's file")
