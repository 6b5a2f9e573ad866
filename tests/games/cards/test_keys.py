"""Proofs of keys: what holds, and every way in which one does not."""

from __future__ import annotations

import pytest

from forcemove_games.cards.curve import ORDER, G, Point, times_g, total
from forcemove_games.cards.errors import KeyRefused, PointRefused, ScalarOutOfRange
from forcemove_games.cards.key_proof import KeyProof, joint_key, prove_key, require_key
from tests.games.cards.dealt import CHANNEL, TURN, stream

SECRET = 2**200 + 12_345
KEY, PROOF = prove_key(SECRET, CHANNEL, TURN, stream("key"))


def test_a_proof_holds() -> None:
    assert KEY == G * SECRET == times_g(SECRET)
    require_key(KEY, PROOF, CHANNEL, TURN)


@pytest.mark.parametrize(("channel", "turn"), [(bytes(32), TURN), (CHANNEL, TURN + 1), (CHANNEL, 0)])
def test_a_proof_of_another_channel_or_turn_is_refused(channel: bytes, turn: int) -> None:
    with pytest.raises(KeyRefused):
        require_key(KEY, PROOF, channel, turn)


def test_a_copied_key_is_refused_with_its_proof_and_without() -> None:
    with pytest.raises(KeyRefused):
        require_key(KEY, PROOF, CHANNEL, TURN + 1)
    own = prove_key(SECRET + 1, CHANNEL, TURN + 1, stream("own"))[1]
    with pytest.raises(KeyRefused):
        require_key(KEY, own, CHANNEL, TURN + 1)


def test_a_key_that_cancels_anothers_cannot_be_proved() -> None:
    known = SECRET + 5
    rogue = times_g(known) - KEY
    assert joint_key([KEY, rogue]) == times_g(known)
    with pytest.raises(KeyRefused):
        require_key(rogue, prove_key(known, CHANNEL, TURN, stream("rogue"))[1], CHANNEL, TURN)


@pytest.mark.parametrize("scalar", [0, ORDER, -1, 2**256 - 1])
def test_scalars_out_of_range_are_refused(scalar: int) -> None:
    for proof in (PROOF._replace(challenge=scalar), PROOF._replace(response=scalar)):
        with pytest.raises(ScalarOutOfRange):
            require_key(KEY, proof, CHANNEL, TURN)


def test_scalars_more_by_the_order_are_refused() -> None:
    for proof in (
        PROOF._replace(challenge=PROOF.challenge + ORDER),
        PROOF._replace(response=PROOF.response + ORDER),
    ):
        with pytest.raises(ScalarOutOfRange):
            require_key(KEY, proof, CHANNEL, TURN)


@pytest.mark.parametrize("bit", range(0, 256, 5))
def test_no_changed_bit_passes(bit: int) -> None:
    for proof in (
        KeyProof(PROOF.challenge ^ 1 << bit, PROOF.response),
        KeyProof(PROOF.challenge, PROOF.response ^ 1 << bit),
    ):
        with pytest.raises((KeyRefused, ScalarOutOfRange)):
            require_key(KEY, proof, CHANNEL, TURN)


def test_a_chosen_challenge_leads_to_infinity_and_is_refused() -> None:
    proof = KeyProof(7, 7 * SECRET % ORDER)
    with pytest.raises(KeyRefused) as refused:
        require_key(KEY, proof, CHANNEL, TURN)
    assert refused.value.challenge == 0


def test_keys_that_cancel_each_other_have_no_sum() -> None:
    with pytest.raises(PointRefused):
        joint_key([KEY, -KEY])


def test_no_keys_have_no_sum_and_the_process_lives_on() -> None:
    """libsecp256k1 ends the process that asks for it."""
    for sum_of in (total, joint_key):
        with pytest.raises(PointRefused):
            sum_of([])


def test_equal_randomness_for_two_statements_gives_two_nonces() -> None:
    """One nonce for two channels or turns would give the secret away."""

    def ones(length: int) -> bytes:
        return b"\1" * length

    statements = [(CHANNEL, TURN), (CHANNEL, TURN + 1), (bytes(32), TURN)]
    proofs = [prove_key(SECRET, *statement, ones)[1] for statement in statements]
    nonces = {(proof.response - proof.challenge * SECRET) % ORDER for proof in proofs}
    assert len(nonces) == len(statements)
    assert prove_key(SECRET, CHANNEL, TURN, ones)[1] == proofs[0]


@pytest.mark.parametrize("secret", [0, ORDER, SECRET + ORDER, SECRET - ORDER])
def test_a_secret_out_of_range_is_refused_and_not_named(secret: int) -> None:
    """Who has forgotten to reduce it may keep using the same one."""
    with pytest.raises(ScalarOutOfRange) as refused:
        prove_key(secret, CHANNEL, TURN)
    assert refused.value.scalar == 0


@pytest.mark.parametrize("data", [b"", bytes(33), b"\x02" + bytes(31), b"\x04" + bytes(32), b"\x02" + b"\xff" * 32])
def test_bytes_of_no_point_are_refused(data: bytes) -> None:
    with pytest.raises(PointRefused):
        Point.from_compressed(data)


def test_coordinates_off_the_curve_are_refused() -> None:
    for x, y in ((KEY.x, KEY.y + 1), (KEY.x + 1, KEY.y), (KEY.x + 2**256, KEY.y), (-1, 1)):
        with pytest.raises(PointRefused):
            Point.from_coordinates(x, y)
