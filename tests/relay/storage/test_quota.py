"""What accounts share: who has more than an equal share is refused first."""

from __future__ import annotations

from forcemove.relay.storage.disk_quota import Quota
from forcemove.relay.storage.recent import Newest, Recent

A, B = b"a", b"b"


def test_an_account_has_a_bound_of_its_own_however_much_is_free() -> None:
    quota = Quota(1_000, 100)
    quota.take(A, 100)
    assert quota.lacks(A, 1)
    assert not quota.lacks(B, 100)


def test_nobody_gets_more_than_there_is() -> None:
    quota = Quota(1_000, 1_000)
    quota.take(A, 990)
    assert quota.lacks(B, 11)
    assert not quota.lacks(B, 10)
    quota.take(B, 10)
    assert quota.is_full


def test_threat_59_where_little_is_left_it_is_left_to_those_below_an_equal_share() -> None:
    quota = Quota(1_000, 1_000)
    quota.take(A, 850)
    quota.take(B, 40)
    assert quota.lacks(A, 1)
    assert not quota.lacks(B, 100)
    assert quota.greedy() == [A]
    quota.give_back(A, 400)
    assert not quota.is_tight
    assert not quota.lacks(A, 1)


def test_an_account_with_nothing_is_forgotten() -> None:
    quota = Quota(1_000, 1_000)
    quota.take(A, 600)
    quota.take(B, 300)
    quota.give_back(B, 300)
    assert quota.greedy() == []  # one account alone has an equal share
    assert quota.used == 600


def test_the_newest_entries_are_in_memory_and_no_more_than_so_many_bytes_of_all_logs() -> None:
    recent = Recent(3 * (256 + 10))
    one, other = Newest(0), Newest(7)
    recent.add(one, [b"0123456789", b"abcdefghij"])
    recent.add(other, [b"9876543210"])
    assert one.read(0, 100) == [b"0123456789", b"abcdefghij"]
    assert one.read(1, 100) == [b"abcdefghij"]
    assert one.read(0, 10) == [b"0123456789"]
    assert one.read(0, 1) == [b"0123456789"]
    assert other.read(7, 100) == [b"9876543210"]
    assert other.read(6, 100) == []
    recent.add(other, [b"one more"])
    assert one.read(0, 100) == []
    assert one.end == 2
    assert other.read(7, 100) == [b"9876543210", b"one more"]
    assert recent.size <= 3 * (256 + 10)
