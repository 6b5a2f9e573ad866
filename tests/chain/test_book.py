"""The address book as a file: read strictly, written whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forcemove.chain import book_file
from forcemove.chain.book import AddressBook, Deployed, GameOfContract, NotInBook, Pending
from forcemove.chain.create2 import SALT
from forcemove.errors import LocalError, MalformedBytes
from tests.expected import raising

BOOK = AddressBook(
    chain_id=31_337,
    factory=b"\x4e" * 20,
    compiler_version="0.8.37",
    compiler_settings={"viaIR": True},
    contracts={
        "Adjudicator": Deployed(b"\xad" * 20, b"\x02" * 32, b"\x03" * 32, "book.Adjudicator.json", 7),
        "TicTacToe": Deployed(
            b"\xa9" * 20,
            b"\x04" * 32,
            b"\x05" * 32,
            "book.TicTacToe.json",
            9,
            GameOfContract("tic-tac-toe", "forcemove 0.2.0", "0.8.37"),
        ),
    },
)
PENDING = Pending("TicTacToe", b"\xaa" * 20, b"\x06" * 32, 8)


@pytest.mark.parametrize(
    "book", [BOOK, replace(BOOK, pending=PENDING), replace(BOOK, contracts={}), replace(BOOK, chain_id=2**256 - 1)]
)
def test_a_book_is_read_as_it_was_written(tmp_path: Path, book: AddressBook) -> None:
    book_file.save_book(book, tmp_path / "book.json")

    assert book_file.load_book(tmp_path / "book.json") == book


def test_logs_begin_with_the_first_contract() -> None:
    assert BOOK.deployment_block == 7
    assert BOOK.adjudicator == b"\xad" * 20


def test_a_contract_that_is_not_in_the_book_is_named() -> None:
    with raising(NotInBook("Chess")):
        BOOK.find("Chess")


def test_a_missing_book_is_named(tmp_path: Path) -> None:
    with pytest.raises(book_file.BookMissing):
        book_file.load_book(tmp_path / "none.json")


def test_a_directory_is_no_book(tmp_path: Path) -> None:
    with pytest.raises(MalformedBytes):
        book_file.load_book(tmp_path)


def test_writing_into_a_place_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(book_file.BookUnwritable):
        book_file.save_book(BOOK, tmp_path / "none" / "book.json")


def test_writing_leaves_nothing_beside_the_book(tmp_path: Path) -> None:
    book_file.save_book(BOOK, tmp_path / "book.json")
    book_file.save_book(replace(BOOK, pending=PENDING), tmp_path / "book.json")

    assert [path.name for path in tmp_path.iterdir()] == ["book.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "1", '"book"', "{}", "\x00", "[" * 100_000])
def test_what_is_no_book_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "book.json").write_text(text)

    with pytest.raises(MalformedBytes):
        book_file.load_book(tmp_path / "book.json")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "book.json").write_bytes(b"\xff\xfe")

    with pytest.raises(MalformedBytes):
        book_file.load_book(tmp_path / "book.json")


def _content() -> dict[str, Any]:
    content: dict[str, Any] = replace(BOOK, pending=PENDING).to_json()
    return content


def _paths(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every field of the book, but for what the compiler was told."""
    if not isinstance(value, dict) or path == ("compiler", "settings"):
        return [path]
    return [path] * bool(path) + [found for name in value for found in _paths(value[name], (*path, name))]


def _is_wanted(path: tuple[str, ...]) -> bool:
    """But for the contracts themselves, and what older books do not say of their games."""
    return path[:1] != ("contracts",) or (len(path) >= 3 and path[-1] != "game")


def test_an_entry_may_lack_its_game_and_its_sources(tmp_path: Path) -> None:
    content = _content()
    del content["contracts"]["TicTacToe"]["game"]
    content["contracts"]["TicTacToe"]["standardJson"] = None
    (tmp_path / "book.json").write_text(json.dumps(content))

    entry = book_file.load_book(tmp_path / "book.json").find("TicTacToe")
    assert (entry.game, entry.standard_json) == (None, None)


@pytest.mark.parametrize("path", [path for path in _paths(_content()) if _is_wanted(path)])
def test_each_field_is_wanted(tmp_path: Path, path: tuple[str, ...]) -> None:
    content = _content()
    holder = content
    for name in path[:-1]:
        holder = holder[name]
    del holder[path[-1]]
    (tmp_path / "book.json").write_text(json.dumps(content))

    with pytest.raises(MalformedBytes, match=path[-1]):
        book_file.load_book(tmp_path / "book.json")


_FILE_NAMES = tuple(("contracts", name, "standardJson") for name in BOOK.contracts)
_GAME = tuple(("contracts", "TicTacToe", "game", name) for name in ("name", "distribution", "compilerVersion"))
_FREE_TEXT = (("compiler", "version"), *_FILE_NAMES, *_GAME, ("pending", "contract"))
_ALLOWED: list[tuple[tuple[str, ...], object]] = [
    (("pending",), None),
    *((path, None) for path in _FILE_NAMES),
    (("contracts", "TicTacToe", "game", "distribution"), None),
    *((path, text) for path in _FREE_TEXT for text in ("", "0x", "text") if path not in _FILE_NAMES or text),
]
_WRONG: list[tuple[tuple[str, ...], object]] = [
    (path, wrong)
    for path in _paths(_content())
    for wrong in (None, True, -1, 1.5, "", "0x", "text", [], ["a"])
    if (path, wrong) not in _ALLOWED
]


@pytest.mark.parametrize(("path", "wrong"), _WRONG, ids=[f"{'/'.join(path)}={wrong!r}" for path, wrong in _WRONG])
def test_each_field_has_its_type(tmp_path: Path, path: tuple[str, ...], wrong: object) -> None:
    content = _content()
    holder = content
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = wrong
    (tmp_path / "book.json").write_text(json.dumps(content))

    with pytest.raises(MalformedBytes):
        book_file.load_book(tmp_path / "book.json")


def _spoil(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    content = _content()
    change(content)
    return content


@pytest.mark.parametrize(
    "content",
    [
        _spoil(lambda book: book.update(extra=1)),
        _spoil(lambda book: book["contracts"]["TicTacToe"].update(extra=1)),
        _spoil(lambda book: book["contracts"]["TicTacToe"]["game"].update(extra=1)),
        _spoil(lambda book: book["compiler"].update(extra=1)),
        _spoil(lambda book: book["pending"].update(extra=1)),
        _spoil(lambda book: book.update(deploymentBlock=8)),
        _spoil(lambda book: book.update(format="forcemove-address-book/")),
        _spoil(lambda book: book.update(format="forcemove-address-book/02")),
        _spoil(lambda book: book.update(format="forcemove-address-book/0")),
        _spoil(lambda book: book.update(format="forcemove-address-book/" + "9" * 5000)),
        _spoil(lambda book: book.update(format="some-address-book/2")),
        _spoil(lambda book: book.update(salt="0x" + "00" * 32)),
        _spoil(lambda book: book["contracts"]["TicTacToe"].update(standardJson="../elsewhere.json")),
        _spoil(lambda book: book["contracts"]["TicTacToe"].update(address="0x" + "aB" * 20)),
    ],
)
def test_what_contradicts_itself_or_is_unknown_is_refused(tmp_path: Path, content: dict[str, Any]) -> None:
    (tmp_path / "book.json").write_text(json.dumps(content))

    with pytest.raises(MalformedBytes):
        book_file.load_book(tmp_path / "book.json")


@pytest.mark.parametrize(
    ("version", "error"),
    [(1, book_file.BookOfOlderProgram), (3, book_file.BookOfNewerProgram), (99, book_file.BookOfNewerProgram)],
)
def test_another_version_says_who_must_update(tmp_path: Path, version: int, error: type[LocalError]) -> None:
    """Whatever else it has: nothing of it is read."""
    path = tmp_path / "book.json"
    path.write_text(json.dumps({"format": f"forcemove-address-book/{version}", "chain": "of another form"}))

    with pytest.raises(error) as caught:
        book_file.load_book(path)

    assert caught.value.values() == {"path": str(path), "version": version, "known": 2}


def test_a_book_names_factory_and_salt() -> None:
    assert BOOK.to_json()["factory"].lower() == "0x" + "4e" * 20
    assert bytes.fromhex(BOOK.to_json()["salt"][2:]) == SALT
