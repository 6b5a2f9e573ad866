"""A copy that a page saves: a key file with channels, which a password opens, and the page on which it is made."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from eth_keyfile.keyfile import encrypt_aes_ctr

from forcemove.browser.security import PageRequestRefused, PostedForm
from forcemove.browser.templating import PLAIN_NAV
from forcemove.keys.key_files import WrongPassphrase, read_copied_channels, read_key_file
from forcemove.link_page import saved_copy as copies
from forcemove.link_page.stake_site import COPY, CopySite
from forcemove.store.journal import Journal
from forcemove.store.records import Ownership
from tests.expected import known
from tests.link_page.tabs import until
from tests.protocol.builders import ALICE
from tests.store.places import BOB, Place, batch, first, id_of

PASSWORD = "long enough for a test"  # noqa: S105  # it opens a key that everybody knows


async def encrypt(password: bytes, salt: bytes, rounds: int, counter: bytes, data: bytes) -> tuple[bytes, bytes]:
    """As a browser does."""
    derived = hashlib.pbkdf2_hmac("sha256", password, salt, rounds, 32)
    return derived[16:], encrypt_aes_ctr(data, derived[:16], int.from_bytes(counter))


@pytest.fixture
def journal() -> Journal:
    found = Place(":memory:").open()
    found.commit(batch(first(1), first(2)))
    return found


async def test_a_copy_is_a_key_file_and_a_backup(journal: Journal, tmp_path: Path) -> None:
    text = await copies.saved_copy(journal, [id_of(2)], ALICE, PASSWORD, encrypt)
    assert known(journal.load(id_of(2))).snapshot.hex() not in text
    assert ALICE.secret.hex() not in text
    path = tmp_path / "copy.json"
    path.write_text(text)
    assert read_key_file(path, PASSWORD).secret == ALICE.secret
    elsewhere = Place(":memory:").open(BOB)
    assert elsewhere.import_(read_copied_channels(path, PASSWORD)) == (id_of(2),)
    assert known(elsewhere.load(id_of(2))).ownership is Ownership.BACKUP
    with pytest.raises(WrongPassphrase):
        read_copied_channels(path, PASSWORD[:-1])


async def test_nothing_is_encrypted_twice_under_the_same_bytes(journal: Journal) -> None:
    texts = [await copies.saved_copy(journal, [id_of(1)], ALICE, PASSWORD, encrypt) for _ in range(2)]
    found = [part for text in texts for part in (json.loads(text), json.loads(text)["channels"])]
    assert len({part["crypto"]["kdfparams"]["salt"] for part in found}) == len(found)
    assert len({part["crypto"]["cipherparams"]["iv"] for part in found}) == len(found)


async def test_there_is_no_copy_of_nothing_and_none_that_no_program_reads(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(copies.NothingToCopy):
        await copies.saved_copy(journal, [], ALICE, PASSWORD, encrypt)
    monkeypatch.setattr(copies, "MAX_LENGTH", 500)
    with pytest.raises(copies.CopyTooLong):
        await copies.saved_copy(journal, [id_of(1)], ALICE, PASSWORD, encrypt)


async def _made(password: str) -> str:
    if password == "nothing is open":  # noqa: S105  # what the test says
        raise copies.NothingToCopy()
    return f"opened by {password}"


def send(site: CopySite, password: str, again: str) -> str:
    site.post(COPY, PostedForm({"password": password, "again": again}), PLAIN_NAV)
    return site.panels(COPY, "")["copy"]


async def test_the_file_is_there_once_it_is_made_and_gone_with_the_next_try() -> None:
    site = CopySite(_made)
    assert "being encrypted" in send(site, PASSWORD, PASSWORD)
    await until(lambda: "copy-file" in site.panels(COPY, "")["copy"])
    assert (await site.page(f"{COPY}/file", "", PLAIN_NAV)).html == f"opened by {PASSWORD}"
    assert "copy-file" not in send(site, "short", "short")
    with pytest.raises(PageRequestRefused):
        await site.page(f"{COPY}/file", "", PLAIN_NAV)


async def test_a_page_that_is_come_back_to_offers_no_old_copy() -> None:
    site = CopySite(_made)
    send(site, PASSWORD, PASSWORD)
    await until(lambda: "copy-file" in site.panels(COPY, "")["copy"])
    assert "copy-file" not in (await site.page(COPY, "", PLAIN_NAV)).html
    send(site, "short", "short")
    assert "at least" not in (await site.page(COPY, "", PLAIN_NAV)).html


@pytest.mark.parametrize(
    ("password", "again", "words"),
    [("123456789", "123456789", "at least 10 characters"), (PASSWORD, PASSWORD[1:], "are not the same")],
)
async def test_a_password_that_protects_little_is_refused(password: str, again: str, words: str) -> None:
    site = CopySite(_made)
    shown = send(site, password, again)
    assert words in shown
    assert not re.search("being encrypted|copy-file", shown)


async def test_what_cannot_be_copied_is_said() -> None:
    site = CopySite(_made)
    before = site.changes.number
    send(site, "nothing is open", "nothing is open")
    await until(lambda: site.changes.number == before + 2)
    assert "No game for a stake is open" in site.panels(COPY, "")["copy"]
