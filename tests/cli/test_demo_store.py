"""The record of unfinished channels: what is written is read again, and what is damaged is refused and left alone."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from forcemove.channel.cli.demo import store
from forcemove.channel.cli.demo.records import FORMAT, Kept, Ledger, decode_ledger, encode_ledger
from forcemove.channel.cli.demo.store import (
    RecordDamaged,
    RecordInUse,
    RecordOfAnotherVersion,
    RecordUnwritable,
    SeatStore,
    Unfinished,
    record_path,
)
from forcemove.channel.errors import MalformedBytes, UnknownVersion
from forcemove.channel.node.local import LocalTable, local_table
from forcemove.channel.protocol.channel import Channel, Phase
from forcemove.games.tic_tac_toe import GAME

CHAIN_ID, PAYER = 31_337, b"\x11" * 20


@pytest.fixture(scope="module")
def table() -> LocalTable:
    """A channel that waits for the first move."""
    table = local_table(GAME, lambda _: None, lambda _: None, stake=10)
    table.play()
    assert table.clients[0].phase is Phase.PLAYING
    return table


@pytest.fixture
def kept(table: LocalTable) -> Kept:
    first, second = (client.channel for client in table.clients)
    seats = {0: first.forget_chain(), 1: replace(second.forget_chain(), final_outcome=b"\x07" * 32, leaving=True)}
    return Kept(first.agreement, "tic-tac-toe", 7, b"\x05" * 32, seats)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return record_path(tmp_path / "forcemove-31337.json", PAYER)


@pytest.fixture
def unfinished(path: Path) -> Iterator[Unfinished]:
    with Unfinished(path, CHAIN_ID, PAYER) as unfinished:
        yield unfinished


def ledger_of(kept: Kept) -> Ledger:
    return Ledger(CHAIN_ID, PAYER, {kept.agreement.channel_id: kept})


def remembered(channel: Channel) -> tuple[object, ...]:
    signed = channel.accepted, channel.last_signed, channel.final_outcome
    return channel.agreement, channel.index, signed, channel.leaving


# -------------------------------------------------------------------------------------------------------------- bytes


def test_what_is_written_is_read_again(kept: Kept) -> None:
    read = decode_ledger(encode_ledger(ledger_of(kept)))

    assert (read.chain_id, read.payer) == (CHAIN_ID, PAYER)
    (again,) = read.channels.values()
    assert (again.agreement, again.game, again.from_block, again.block_hash) == (
        kept.agreement,
        kept.game,
        kept.from_block,
        kept.block_hash,
    )
    assert [remembered(again.seats[seat]) for seat in (0, 1)] == [remembered(kept.seats[seat]) for seat in (0, 1)]
    assert again.seats[0].last_signed is not None
    assert not again.seats[0].genuine, "the contracts are checked anew"


def test_amounts_of_any_size_are_kept(kept: Kept) -> None:
    (asset, _) = kept.agreement.deposits[0]
    agreement = replace(kept.agreement, deposits=((asset, (2**253, 2**253 + 1)),))

    (again,) = decode_ledger(encode_ledger(ledger_of(Kept(agreement, "any", 0, bytes(32))))).channels.values()

    assert again.agreement == agreement


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_single_changed_bit_is_noticed(kept: Kept, data: st.DataObject) -> None:
    written = encode_ledger(ledger_of(kept)).rstrip()
    place = data.draw(st.integers(0, 8 * len(written) - 1))
    changed = bytearray(written)
    changed[place // 8] ^= 1 << place % 8

    with pytest.raises((MalformedBytes, UnknownVersion)):
        decode_ledger(bytes(changed))


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_file_that_was_cut_is_noticed(kept: Kept, data: st.DataObject) -> None:
    written = encode_ledger(ledger_of(kept)).rstrip()

    with pytest.raises(MalformedBytes):
        decode_ledger(written[: data.draw(st.integers(0, len(written) - 1))])


@pytest.mark.parametrize("text", [b"", b"null", b"[]", b"{}", b"[" * 100_000, b"\xff", b'{"format": 1}'])
def test_what_is_no_record_is_malformed(text: bytes) -> None:
    with pytest.raises(MalformedBytes):
        decode_ledger(text)


# --------------------------------------------------------------------------------------------------------------- files


def test_a_save_is_on_the_disk_for_its_owner_alone_before_it_returns(
    unfinished: Unfinished, kept: Kept, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, rename = os.fsync, Path.replace

    def flush(descriptor: int) -> None:
        done.append("flush")
        fsync(descriptor)

    def take_its_place(self: Path, to: Path) -> Path:
        done.append("rename")
        return rename(self, to)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(Path, "replace", take_its_place)

    unfinished.store(kept, 0).save(kept.seats[0])

    assert done == ["flush", "rename", "flush"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert remembered(decode_ledger(path.read_bytes()).channels[kept.agreement.channel_id].seats[0]) == remembered(
        kept.seats[0]
    )


def test_what_only_the_chain_has_changed_is_not_written_again(
    unfinished: Unfinished, kept: Kept, table: LocalTable, path: Path
) -> None:
    seat = SeatStore(unfinished, kept, 0)
    seat.save(table.clients[0].channel)
    before = path.stat().st_ino

    seat.save(replace(table.clients[0].channel, holdings=(), conclude_at=9))

    assert path.stat().st_ino == before


def test_both_seats_are_found_by_the_next_run(unfinished: Unfinished, kept: Kept, path: Path) -> None:
    for seat in (0, 1):
        unfinished.store(kept, seat).save(kept.seats[seat])
    unfinished.close()

    with Unfinished(path, CHAIN_ID, PAYER) as again:
        (found,) = again.channels
        for seat in (0, 1):
            loaded = again.store(found, seat).load(kept.agreement.channel_id)
            assert loaded is not None
            assert remembered(loaded) == remembered(kept.seats[seat])
        assert again.store(found, 0).load(bytes(32)) is None


def test_the_file_goes_with_the_last_channel(unfinished: Unfinished, kept: Kept, path: Path) -> None:
    unfinished.store(kept, 0).save(kept.seats[0])
    assert path.exists()

    unfinished.forget(kept.agreement.channel_id)

    assert not path.exists()
    unfinished.close()
    assert list(path.parent.iterdir()) == []


def test_what_cannot_be_written_is_not_remembered_either(
    unfinished: Unfinished, kept: Kept, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RecordUnwritable, match="No space left on device"):
        unfinished.store(kept, 0).save(kept.seats[0])

    assert unfinished.load(kept.agreement.channel_id, 0) is None
    assert [each.name for each in path.parent.iterdir()] == [f".{path.name}.lock"]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"{", RecordDamaged),
        (json.dumps({"format": FORMAT, "digest": "", "content": {}}).encode(), RecordDamaged),
        (b'{"format":"forcemove-demo-channels/x"}', RecordDamaged),
        (b'{"format":"forcemove-demo-channels/0"}', RecordDamaged),
        (b'{"format":"forcemove-demo-channels/111111"}', RecordDamaged),
        (b'{"format":"forcemove-demo-channels/2","what":"ever"}', RecordOfAnotherVersion),
    ],
)
def test_what_cannot_be_read_is_refused_and_left_alone(path: Path, content: bytes, error: type[Exception]) -> None:
    path.write_bytes(content)

    for _ in range(2):
        with pytest.raises(error, match="left as it is"):
            Unfinished(path, CHAIN_ID, PAYER)

    assert path.read_bytes() == content


@pytest.mark.parametrize(("chain_id", "payer"), [(1, PAYER), (CHAIN_ID, b"\x12" * 20)])
def test_the_record_of_somebody_else_is_refused(
    unfinished: Unfinished, kept: Kept, path: Path, chain_id: int, payer: bytes
) -> None:
    unfinished.store(kept, 0).save(kept.seats[0])
    unfinished.close()

    with pytest.raises(RecordDamaged, match="another account or another chain"):
        Unfinished(path, chain_id, payer)
    assert path.exists()


def test_one_at_a_time(unfinished: Unfinished, path: Path) -> None:
    with pytest.raises(RecordInUse):
        Unfinished(path, CHAIN_ID, PAYER)

    unfinished.close()
    Unfinished(path, CHAIN_ID, PAYER).close()


def test_a_lock_whose_file_was_taken_away_meanwhile_is_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flock, locked = fcntl.flock, list[int]()

    def too_late(descriptor: int, how: int) -> None:
        flock(descriptor, how)
        locked.append(descriptor)
        if len(locked) == 1:
            store._lock_path(path).unlink()

    monkeypatch.setattr(fcntl, "flock", too_late)
    with Unfinished(path, CHAIN_ID, PAYER):
        assert store._lock_path(path).exists()


def test_a_channel_of_another_chain_is_set_aside_whole(unfinished: Unfinished, kept: Kept, path: Path) -> None:
    unfinished.store(kept, 0).save(kept.seats[0])

    aside = unfinished.set_aside(kept.agreement.channel_id)

    assert not path.exists()
    aside.rename(path)
    unfinished.close()
    with Unfinished(path, CHAIN_ID, PAYER) as again:
        assert [each.agreement for each in again.channels] == [kept.agreement]


def test_a_next_turn_is_written_as_well(unfinished: Unfinished, kept: Kept, path: Path) -> None:
    """What was written before is not enough: each view is."""
    seat, now = unfinished.store(kept, 0), kept.seats[0]
    seat.save(replace(now, accepted=now.accepted[:1], last_signed=(0, b"\x01" * 32)))

    seat.save(now)

    written = decode_ledger(path.read_bytes()).channels[kept.agreement.channel_id].seats[0]
    assert remembered(written) == remembered(now)
