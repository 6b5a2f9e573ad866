"""Forged shares, each of which would be believed if one thing were left out of the challenge; so nothing is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from forcemove_games.cards import curve, errors, hashing, share_proof
from forcemove_games.cards.share_proof import ShareItem, ShareProof, require_shares, share_of
from tests.games.cards.dealt import CHANNEL, TURN, Party
from tests.games.cards.test_shares import item_of

PARTY = Party.of(2)
SECRET, KEY = PARTY.secrets[0], PARTY.keys[0]
CARD = PARTY.shuffled(24)[7]
K, W, D = 12_345, 67_890, 55
"""Logarithms that the forger chooses: of sG - cK to G, of W and of the share to C1."""


def _hash(omitted: str, commitment: bytes, share: curve.Point, w: curve.Point) -> int:
    """The challenge of one share, without what is omitted."""
    parts = {
        "context": hashing.context(hashing.Tag.SHARE, CHANNEL, TURN),
        "key": KEY.words,
        "commitment": commitment,
        "card": CARD.c1.words[:32] + CARD.c1.parity.to_bytes(32, "big"),
        "share": share.words,
        "w": w.words,
    }
    return hashing.hash_to_scalar(*(part for name, part in parts.items() if name != omitted))


def _forged(omitted: str) -> tuple[ShareProof, ShareItem]:
    """A share that is none, with a proof that fails in what is omitted alone."""
    commitment, w = hashing.address_word(curve.times_g(K).address), CARD.c1 * W
    if omitted == "share":  # it is made to fit
        c = _hash(omitted, commitment, CARD.c1, w)
        s = (K + c * SECRET) % curve.ORDER
        share = CARD.c1 * ((s - W) * pow(c, -1, curve.ORDER) % curve.ORDER)
    else:
        share = CARD.c1 * D
        c = _hash(omitted, commitment, share, w)
        s = (W + c * D) % curve.ORDER if omitted == "commitment" else (K + c * SECRET) % curve.ORDER
    return ShareProof(c, s), item_of(CARD, share, c, s)


def _leave_out(omitted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the verifier one that does not look at it."""

    def challenge(_about: bytes, _key: curve.Point, commitment: curve.Point, rows: Sequence[bytes]) -> int:
        (row,) = rows
        points = (curve.Point.from_coordinates(*_pair(row[at : at + 64])) for at in (64, 128))
        return _hash(omitted, hashing.address_word(commitment.address), *points)

    monkeypatch.setattr(share_proof, "_challenge", challenge)


def _pair(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[:32], "big"), int.from_bytes(data[32:], "big")


@pytest.mark.parametrize("omitted", ["share", "w", "commitment"])
def test_all_of_a_share_is_in_the_challenge_and_without_it_a_false_one_is_proved(
    omitted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof, item = _forged(omitted)
    assert (item.dx, item.dy) != (share_of(SECRET, CARD).x, share_of(SECRET, CARD).y)
    with pytest.raises(errors.ShareRefused):
        require_shares(KEY, [CARD], proof, [item], CHANNEL, TURN)
    _leave_out(omitted, monkeypatch)
    require_shares(KEY, [CARD], proof, [item], CHANNEL, TURN)
