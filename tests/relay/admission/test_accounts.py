"""Accounts of addresses: what each may have, and that they are bounded."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.relay.admission.accounts import Accounts, AddressAccount
from forcemove.relay.limits import Limits

HOUR = 3_600


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


def connect(accounts: Accounts, host: str) -> bool:
    """One more connection from there, if it may have one."""
    account = accounts.of(host)
    accounts.connect(account)
    if accounts.fault(account) is None:
        return True
    accounts.disconnect(account)
    return False


def test_an_address_has_one_account() -> None:
    accounts = Accounts(Limits(), Clock())
    for one, other in (("::ffff:192.0.2.7", "192.0.2.7"), ("2001:db8::1", "2001:db8::2")):
        account = accounts.of(one)
        accounts.connect(account)
        assert accounts.of(other) is account


def test_threat_59_an_address_has_no_more_connections_than_are_left_to_others() -> None:
    accounts = Accounts(Limits(connections=1_000, per_address=900), Clock())
    for _ in range(1_000):
        for number in range(50):
            connect(accounts, f"192.0.2.{number}")
    assert not connect(accounts, "192.0.2.0")
    assert all(connect(accounts, "198.51.100.1") for _ in range(5))
    assert accounts.connections < 1_000


def test_threat_59_one_address_has_no_more_connections_than_it_may() -> None:
    accounts = Accounts(Limits(connections=1_000, per_address=3), Clock())
    assert [connect(accounts, "192.0.2.1") for _ in range(5)] == [True, True, True, False, False]


def test_a_relay_with_room_for_one_has_one() -> None:
    accounts = Accounts(Limits(connections=1), Clock())
    assert [connect(accounts, host) for host in ("192.0.2.1", "192.0.2.1", "192.0.2.2")] == [True, False, False]


def test_threat_59_an_address_has_no_more_open_tables_than_are_left_to_others() -> None:
    accounts = Accounts(Limits(open_tables=100), Clock())
    greedy, other = accounts.of("192.0.2.1"), accounts.of("192.0.2.2")
    assert sum(accounts.sit(greedy) for _ in range(100)) == 51
    assert sum(accounts.sit(other) for _ in range(100)) == 25
    accounts.rise(greedy)
    assert accounts.sit(other)


def test_threat_59_accounts_are_forgotten_when_they_are_as_new() -> None:
    clock = Clock()
    accounts = Accounts(Limits(), clock)
    for number in range(1_000):
        accounts.of(f"192.0.{number // 250}.{number % 250}").tables.take(1, clock.now)
    assert len(accounts) == 1_000
    clock.now += HOUR
    for _ in range(1_000):
        accounts.of("198.51.100.1")
    assert len(accounts) == 1


def test_what_an_address_has_used_is_remembered_while_it_counts() -> None:
    clock = Clock()
    accounts = Accounts(Limits(), clock)
    spent = accounts.of("192.0.2.1")
    spent.tables.take(2_000, clock.now)
    clock.now += HOUR / 2
    for _ in range(1_000):
        accounts.of("198.51.100.1")
    assert accounts.of("192.0.2.1") is spent


def test_threat_59_accounts_are_bounded_in_number_and_connected_ones_are_kept() -> None:
    clock = Clock()
    accounts = Accounts(Limits(connections=50), clock, most=100)
    connected: list[AddressAccount] = []
    for number in range(20):
        connected.append(accounts.of(f"203.0.113.{number}"))
        accounts.connect(connected[-1])
    for number in range(10_000):
        accounts.of(f"2001:db8:{number:x}::1").messages.take(1, clock.now)
    assert len(accounts) <= 100 + len(connected)
    assert [accounts.of(f"203.0.113.{number}") for number in range(20)] == connected


def test_forty_who_play_behind_one_address_are_not_treated_as_one() -> None:
    account = AddressAccount("192.0.2.1", Limits(), 0.0)
    assert account.weight == 1
    account.players = 80
    assert account.weight == 80
    account.players = 10_000
    assert account.weight == 100
