"""One process drives a channel, or sends for an account: who has lost a lease commits nothing under it."""

from __future__ import annotations

import pytest

from forcemove.errors import InvalidValue
from forcemove.store.journal import Journal
from forcemove.store.leases import Leases
from forcemove.store.records import Account, ChannelLease, LeaseRefusal
from tests.store.places import ACCOUNT, ALICE, BOB, CAROL, Place, batch, first, id_of, next_, snapshots

ONE, TWO, THREE = (ChannelLease(id_of(number)) for number in (1, 2, 3))


def test_a_lease_is_one_owners_until_it_expires(shared: Place, alices: Journal, bobs: Journal) -> None:
    assert alices.leases.take([ONE, ACCOUNT], 60).granted == {ONE, ACCOUNT}
    shared.pass_time(58)
    taking = bobs.leases.take([ONE, ACCOUNT, TWO], 60)

    assert taking.granted == {TWO}
    assert {name: refusal.owner for name, refusal in taking.refused.items()} == {ONE: ALICE, ACCOUNT: ALICE}
    assert all(0 < refusal.until - refusal.now <= 2 for refusal in taking.refused.values())

    shared.pass_time(2)
    assert bobs.leases.take([ONE, ACCOUNT], 60).granted == {ONE, ACCOUNT}
    assert alices.leases.take([ONE, ACCOUNT], 60).granted == frozenset()


def test_a_lease_is_known_to_everybody(shared: Place, alices: Journal, bobs: Journal) -> None:
    assert bobs.leases.holder(ONE) is None
    alices.leases.take([ONE], 60)
    holder = bobs.leases.holder(ONE)

    assert isinstance(holder, LeaseRefusal)
    assert (holder.owner, 0 < holder.until - holder.now <= 60) == (ALICE, True)
    shared.pass_time(60)
    assert bobs.leases.holder(ONE) is None


def test_taking_what_is_ours_renews_it(shared: Place, alices: Journal, bobs: Journal) -> None:
    alices.commit(batch(first(1)))
    alices.leases.take([ONE], 60)
    shared.pass_time(50)
    assert alices.leases.take([ONE], 60).granted == {ONE}
    shared.pass_time(50)

    assert bobs.leases.take([ONE], 60).granted == frozenset()
    assert alices.commit(batch(next_(1, 1, b"then"))) == frozenset()


def test_all_leases_of_an_owner_are_renewed_at_once(shared: Place, alices: Journal, bobs: Journal) -> None:
    alices.leases.take([ONE, TWO, ACCOUNT], 60)
    bobs.leases.take([THREE], 60)
    shared.pass_time(50)

    assert alices.leases.renew(60) == {ONE, TWO, ACCOUNT}
    shared.pass_time(50)
    assert bobs.leases.take([ONE, TWO, THREE, ACCOUNT], 60).granted == {THREE}


def test_renewing_tells_what_was_taken_over(shared: Place, alices: Journal, bobs: Journal) -> None:
    alices.leases.take([ONE, TWO], 60)
    shared.pass_time(60)
    bobs.leases.take([TWO], 60)

    assert alices.leases.renew(60) == {ONE}
    assert bobs.leases.take([ONE, TWO], 60).granted == {TWO}


def test_leases_that_are_still_the_same_are_not_read_again(shared: Place, alices: Journal, bobs: Journal) -> None:
    """Of thousands that would take most of what an idle node takes. One may be lost while another one is taken."""
    alices.leases.take([ONE, TWO], 10)
    held = alices.leases.renew(10)
    assert alices.leases.renew(10) is held
    alices.leases.take([ACCOUNT], 60)
    assert alices.leases.renew(10) == {ONE, TWO, ACCOUNT}
    shared.pass_time(11)
    bobs.leases.take([TWO], 60)
    assert alices.leases.renew(60) == {ONE, ACCOUNT}
    alices.leases.release([ONE])
    assert alices.leases.renew(60) == {ACCOUNT}


def test_a_renewal_reads_no_names_of_what_was_taken_and_released(
    alices: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    alices.leases.take([ONE, ACCOUNT], 60)
    monkeypatch.delattr(Leases, "_read_held")
    alices.leases.take([TWO], 60)
    alices.leases.release([ONE])
    assert alices.leases.renew(60) == {TWO, ACCOUNT}


def test_a_lease_that_is_lost_while_another_one_is_taken_is_missed(
    shared: Place, alices: Journal, bobs: Journal
) -> None:
    alices.leases.take([ONE, TWO], 10)
    shared.pass_time(11)
    bobs.leases.take([TWO], 60)
    alices.leases.take([THREE], 60)
    assert alices.leases.renew(60) == {ONE, THREE}


def test_a_released_lease_is_free_and_not_renewed(alices: Journal, bobs: Journal) -> None:
    alices.leases.take([ONE, TWO], 60)
    alices.leases.release([ONE])

    assert alices.leases.renew(60) == {TWO}
    assert bobs.leases.take([ONE, TWO], 60).granted == {ONE}


def test_only_its_owner_releases_a_lease(alices: Journal, bobs: Journal) -> None:
    alices.leases.take([ONE], 60)
    bobs.leases.release([ONE])

    assert bobs.leases.take([ONE], 60).granted == frozenset()


def test_who_was_paused_past_its_lease_commits_nothing(shared: Place, alices: Journal, bobs: Journal) -> None:
    alices.leases.take([ONE, TWO], 60)
    alices.commit(batch(first(1), first(2)))
    shared.pass_time(60)
    bobs.leases.take([ONE], 60)

    assert alices.commit(batch(next_(1, 1, b"unaware"), next_(2, 1, b"still mine"))) == {id_of(1)}
    kept = bobs.load(id_of(1))
    assert kept is not None
    assert bobs.commit(batch(next_(1, kept.version, b"Bob's"))) == frozenset()
    assert snapshots(bobs)[1][1] == b"Bob's"
    assert snapshots(bobs)[2] == (2, b"still mine")


def test_who_released_a_lease_commits_nothing_once_it_is_anothers(alices: Journal, bobs: Journal) -> None:
    alices.leases.take([ONE], 60)
    alices.commit(batch(first(1)))
    alices.leases.release([ONE])
    bobs.leases.take([ONE], 60)

    assert alices.commit(batch(next_(1, 1, b"unaware"))) == {id_of(1)}


def test_a_lease_that_comes_back_does_not_bring_back_old_versions(
    shared: Place, alices: Journal, bobs: Journal
) -> None:
    alices.leases.take([ONE], 60)
    alices.commit(batch(first(1)))
    shared.pass_time(60)
    bobs.leases.take([ONE], 60)
    shared.pass_time(60)
    alices.leases.take([ONE], 60)

    assert alices.commit(batch(next_(1, 1, b"of before"))) == {id_of(1)}


def test_a_lease_that_nobody_wanted_is_still_ours(shared: Place, alices: Journal) -> None:
    alices.leases.take([ONE], 60)
    alices.commit(batch(first(1)))
    shared.pass_time(1_000)

    assert alices.commit(batch(next_(1, 1, b"late, but alone"))) == frozenset()
    assert alices.leases.renew(60) == {ONE}


def test_accounts_of_two_chains_are_two(alices: Journal, bobs: Journal) -> None:
    elsewhere = Account(2**255, ACCOUNT.address)
    alices.leases.take([ACCOUNT], 60)

    assert bobs.leases.take([elsewhere], 60).granted == {elsewhere}
    assert bobs.leases.renew(60) == {elsewhere}


def test_thousands_of_leases(shared: Place, alices: Journal, bobs: Journal) -> None:
    many = [ChannelLease(id_of(number)) for number in range(2_500)]
    assert alices.leases.take(many, 60).granted == set(many)
    assert len(bobs.leases.take(many, 60).refused) == 2_500
    assert alices.leases.renew(60) == set(many)
    alices.leases.release(many)
    assert bobs.leases.take(many, 60).granted == set(many)


def test_a_server_goes_by_its_own_clock(shared: Place) -> None:
    """A client whose clock is a day ahead takes nobody's lease; on one machine there is one clock."""
    with shared.open() as alices:
        alices.leases.take([ONE], 60)
    shared.now += 86_400
    with shared.open(CAROL) as carols:
        assert carols.leases.take([ONE], 60).granted == ({ONE} if shared.server is None else frozenset())


@pytest.mark.parametrize("seconds", [0, -1, 86_401, float("nan"), float("inf")])
def test_a_lease_has_a_time_that_can_be_waited_for(seconds: float) -> None:
    with Place(":memory:").open(BOB) as journal:
        with pytest.raises(InvalidValue):
            journal.leases.take([ONE], seconds)
        with pytest.raises(InvalidValue):
            journal.leases.renew(seconds)


def test_threat_48_a_lease_that_a_clock_ahead_has_renewed_blocks_nobody_for_long(shared: Place) -> None:
    """Its holder lives, and renews nothing any more: it is waited for as long as a lease lasts."""
    with shared.open() as holder, shared.open(BOB) as other:
        holder.leases.take([ONE], 60)
        shared.run("UPDATE leases SET until = until + 3600000")
        refusal = other.leases.take([ONE], 60).refused[ONE]
        assert 0 < refusal.until - refusal.now <= 60
        shared.pass_time(61)
        assert other.leases.take([ONE], 60).granted == {ONE}


def test_a_lease_whose_holder_renews_it_is_kept_whatever_its_clock_has_done(shared: Place) -> None:
    with shared.open() as holder, shared.open(BOB) as other:
        holder.leases.take([ONE], 60)
        shared.run("UPDATE leases SET until = until + 3600000")
        assert other.leases.take([ONE], 60).refused
        shared.pass_time(40)
        assert holder.leases.renew(60) == {ONE}
        shared.pass_time(40)
        assert other.leases.take([ONE], 60).refused
