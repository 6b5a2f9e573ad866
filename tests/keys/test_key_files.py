"""Key files: encrypted, readable by their owner alone, never overwritten, refused in words when they are bad."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forcemove.errors import UnknownVersion
from forcemove.keys import key_files
from forcemove.protocol.curve import ORDER
from tests.expected import raising
from tests.protocol.builders import ALICE, BOB

FAST = 2**4
OPEN = "open sesame"
# The scrypt example of the Web3 Secret Storage definition, written by another program.
VECTOR = {
    "crypto": {
        "cipher": "aes-128-ctr",
        "cipherparams": {"iv": "83dbcc02d8ccb40e466191a123791e0e"},
        "ciphertext": "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
        "kdf": "scrypt",
        "kdfparams": {
            "dklen": 32,
            "n": 262144,
            "p": 8,
            "r": 1,
            "salt": "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
        },
        "mac": "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
    },
    "id": "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    "version": 3,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "alice.key"
    key_files.write_key_file(path, ALICE, OPEN, scrypt_work=FAST)
    return path


def test_a_key_is_read_as_it_was_written(path: Path) -> None:
    assert key_files.read_key_file(path, OPEN).secret == ALICE.secret
    assert key_files.address_in_key_file(path) == ALICE.address


@pytest.mark.parametrize("change", [lambda file: file.pop("address"), lambda file: file.update(address=None)])
def test_a_file_that_names_no_address_is_opened(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))

    assert key_files.address_in_key_file(path) is None
    assert key_files.read_key_file(path, OPEN).secret == ALICE.secret
    with pytest.raises(key_files.WrongPassphrase):
        key_files.read_key_file(path, "another")


def test_a_file_that_another_program_wrote_is_read(tmp_path: Path) -> None:
    (tmp_path / "vector.json").write_text(json.dumps(VECTOR))

    key = key_files.read_key_file(tmp_path / "vector.json", "testpassword")

    assert key.secret.hex() == "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d"


def test_the_file_is_its_owners_alone_and_shows_no_secret(path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ALICE.secret.hex() not in path.read_text()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_the_usual_work_is_what_wallets_do(tmp_path: Path) -> None:
    key_files.write_key_file(tmp_path / "key", ALICE, OPEN)

    parameters = json.loads((tmp_path / "key").read_text())["crypto"]["kdfparams"]
    assert (parameters["n"], parameters["n"] * parameters["r"] * parameters["p"]) == (2**18, 2**21)


def test_a_key_is_never_overwritten(path: Path) -> None:
    before = path.read_bytes()

    with pytest.raises(key_files.KeyFileExists):
        key_files.write_key_file(path, BOB, OPEN, scrypt_work=FAST)

    assert path.read_bytes() == before


def test_a_link_into_nowhere_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(key_files.KeyFileExists):
        key_files.write_key_file(tmp_path / "link", BOB, OPEN, scrypt_work=FAST)

    assert not (tmp_path / "elsewhere").exists()


def test_an_empty_passphrase_is_refused(tmp_path: Path) -> None:
    with pytest.raises(key_files.EmptyPassphrase):
        key_files.write_key_file(tmp_path / "key", ALICE, "", scrypt_work=FAST)


@pytest.mark.parametrize("passphrase", ["", "open sesame ", "OPEN SESAME", "\ud800"])
def test_a_wrong_passphrase_is_told(path: Path, passphrase: str) -> None:
    with pytest.raises(key_files.WrongPassphrase):
        key_files.read_key_file(path, passphrase)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(key_files.KeyFileMissing):
        key_files.read_key_file(tmp_path / "none", OPEN)


def test_places_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(key_files.KeyFileUnusable):
        key_files.read_key_file(tmp_path, OPEN)
    with pytest.raises(key_files.KeyFileUnusable):
        key_files.write_key_file(tmp_path / "none" / "key", ALICE, OPEN, scrypt_work=FAST)


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.update(version="3"),
        lambda file: file.update(version=3.0),
        lambda file: file.update(version=0),
        lambda file: file.pop("version"),
        lambda file: file.pop("crypto"),
        lambda file: file.update(crypto=[]),
        lambda file: file.update(address="0x12"),
        lambda file: file.update(address=BOB.address.hex()),
        lambda file: file["crypto"].pop("kdf"),
        lambda file: file["crypto"].pop("mac"),
        lambda file: file["crypto"].pop("kdfparams"),
        lambda file: file["crypto"].pop("ciphertext"),
        lambda file: file["crypto"].pop("cipherparams"),
        lambda file: file["crypto"].update(kdf="md5"),
        lambda file: file["crypto"].update(cipher="rot13"),
        lambda file: file["crypto"].update(kdfparams=7),
        lambda file: file["crypto"].update(ciphertext=7),
        lambda file: file["crypto"]["kdfparams"].pop("n"),
        lambda file: file["crypto"]["kdfparams"].update(n="many"),
        lambda file: file["crypto"]["kdfparams"].update(n=0),
        lambda file: file["crypto"]["kdfparams"].update(n=3),
        lambda file: file["crypto"]["kdfparams"].update(n=2**40),
        lambda file: file["crypto"]["kdfparams"].update(r=2**30),
        lambda file: file["crypto"]["kdfparams"].update(dklen=-1),
        lambda file: file["crypto"]["kdfparams"].update(dklen=2**60),
        lambda file: file["crypto"]["kdfparams"].update(salt="zz"),
        lambda file: file["crypto"]["kdfparams"].update(salt=None),
    ],
)
def test_a_damaged_file_is_told(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))

    with pytest.raises(key_files.MalformedKeyFile):
        key_files.read_key_file(path, OPEN)


@pytest.mark.parametrize("version", [1, 2, 4])
def test_a_key_file_of_another_version_says_which(path: Path, version: int) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": version, "crypto": {}}))

    for read in (key_files.address_in_key_file, lambda path: key_files.read_key_file(path, OPEN)):
        with raising(UnknownVersion(f"key file {path}", version, 3)):
            read(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", "[" * 100_000, "\x00"])
def test_what_is_no_key_file_is_told(path: Path, text: str) -> None:
    path.write_text(text)

    with pytest.raises(key_files.MalformedKeyFile):
        key_files.read_key_file(path, OPEN)
    with pytest.raises(key_files.MalformedKeyFile):
        key_files.address_in_key_file(path)


@pytest.mark.parametrize("text", [ALICE.secret.hex(), "0x" + ALICE.secret.hex().upper(), f"  {ALICE.secret.hex()}\n"])
def test_a_private_key_is_parsed(text: str) -> None:
    assert key_files.parse_private_key(text).address == ALICE.address


@pytest.mark.parametrize("text", ["", "0x", "12", "g" * 64, "0" * 64, f"{ORDER:064x}", "1" * 65, "é" * 64])
def test_what_is_no_private_key_is_told_without_showing_it(text: str) -> None:
    with pytest.raises(key_files.MalformedPrivateKey) as caught:
        key_files.parse_private_key(text)

    assert caught.value.values() == {}


def test_new_keys_differ() -> None:
    keys = {key_files.new_key().address for _ in range(10)}

    assert len(keys) == 10


def test_a_key_without_channels_is_no_copy(path: Path) -> None:
    with raising(key_files.MalformedKeyFile(str(path), "it has a key, and no channels")):
        key_files.read_copied_channels(path, OPEN)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda inner: inner.pop("crypto"), key_files.MalformedKeyFile),
        (lambda inner: inner["crypto"].pop("kdfparams"), key_files.MalformedKeyFile),
        (lambda inner: inner["crypto"]["kdfparams"].update(n=2**40), key_files.MalformedKeyFile),
        (lambda inner: inner.update(version=4), UnknownVersion),
        (lambda inner: inner["crypto"].update(mac="00" * 32), key_files.WrongPassphrase),
    ],
)
def test_channels_that_no_page_has_written_are_refused(
    path: Path, change: Callable[[dict[str, Any]], object], kind: type[Exception]
) -> None:
    content = json.loads(path.read_text())
    inner = {"version": 3, "crypto": dict(content["crypto"], kdfparams=dict(content["crypto"]["kdfparams"]))}
    change(inner)
    path.write_text(json.dumps(content | {key_files.COPIED_CHANNELS: inner}))
    with pytest.raises(kind):
        key_files.read_copied_channels(path, OPEN)
    assert key_files.read_key_file(path, OPEN).secret == ALICE.secret
