"""A small message that costs much: row 39 of the list of attacks. Every decoder of what strangers write, with the worst
texts of the largest size that it takes.

Times are the processor's, and are compared with what the standard library takes for harmless JSON of the same length.
Of a message, each allocation is counted; of a file, which is as large as any, what a process has at the most.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from forcemove import ForcemoveError, MemoryTransport, SignedTransport, load_book
from forcemove.flow import actions, channel, keys
from forcemove.keys.key_files import address_in_key_file, read_key_file
from forcemove.protocol.codec.json_text import MAX_LENGTH, parse_json
from forcemove.protocol.codec.limits import MAX_ACTION, MAX_ENVELOPE, MAX_MESSAGE, MAX_RECORD, MAX_RELAYED
from forcemove.protocol.codec.wire import decode_file, decode_message, parse_hex
from forcemove.protocol.encoding import decode_record, decode_variable_part
from forcemove_games.commitment import Opening
from forcemove_games.spectator import joined
from forcemove_games.sra.table import CARDS
from tests.checking.search import without_collecting
from tests.protocol.builders import ALICE
from tests.sampled import sampled
from tests.threats.costs import Measurer

MOST_TIMES = 100
"""How many times the harmless text's time a decoder may take. A quadratic one takes ten thousand times as long."""
MOST_BYTES = 100
"""Of memory, for each byte of the text."""


class Shown(actions.Action, frozen=True):
    anything: Any


def _envelope(data: bytes) -> object:
    """Read from a log, which has it already and is not waited for."""

    async def read() -> bytes:
        log = MemoryTransport()
        await log.post(data)
        return await SignedTransport(log, bytes(32), ALICE, {"alice": ALICE.address}).reader().read()

    try:
        return read().send(None)
    except StopIteration as read_:
        return read_.value


def _in_file(read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    def decode(data: bytes, folder: Path) -> object:
        path = folder / "file.json"
        path.write_bytes(data)
        return read(path)

    return decode


def _in_memory(decode: Callable[[bytes], object]) -> Callable[[bytes, Path], object]:
    return lambda data, _: decode(data)


FILES: dict[str, Callable[[Path], object]] = {
    "a key file": lambda path: read_key_file(path, "passphrase"),
    "a key file's address": address_in_key_file,
    "an address book": load_book,
}
DECODERS: dict[str, tuple[Callable[[bytes, Path], object], int]] = {
    "a message": (_in_memory(decode_message), MAX_MESSAGE),
    "an action of a channel": (_in_memory(channel.UPDATES.decode), MAX_ACTION),
    "an action of a card table": (_in_memory(CARDS.decode), MAX_ACTION),
    "a posted key": (_in_memory(keys.KEYS.decode), MAX_ACTION),
    "an action with any JSON in it": (_in_memory(actions.ActionCodec(Shown).decode), MAX_ACTION),
    "the name of an action's client": (_in_memory(actions.client_of), MAX_ACTION),
    "a message of a feed that came in parts": (_in_memory(lambda data: joined(data, "alice")), MAX_RELAYED // 4),
    "an envelope": (_in_memory(_envelope), MAX_ENVELOPE),
    "JSON": (_in_memory(lambda data: parse_json(data.decode(), "text")), MAX_LENGTH),
    "a signed-state file": (_in_memory(decode_file), MAX_LENGTH),
    **{what: (_in_file(read), MAX_LENGTH) for what, read in FILES.items()},
    "hex": (_in_memory(lambda data: parse_hex(data.decode(), "hex")), MAX_LENGTH),
    "a state": (_in_memory(decode_variable_part), MAX_MESSAGE),
    "a record": (_in_memory(decode_record), MAX_MESSAGE),
    "the largest record": (_in_memory(decode_record), MAX_RECORD),
    "an opening": (_in_memory(Opening.decode), MAX_MESSAGE),
}


def _filled(before: str, filling: str, after: str = "") -> Callable[[int], bytes]:
    """This many bytes: a beginning, a filling as often as it goes in, an end."""
    room = len(before) + len(after)
    return lambda size: (before + filling * ((size - room) // len(filling)) + after).encode()


def _both_ways(before: str, opening: str, closing: str, after: str) -> Callable[[int], bytes]:
    room = len(before) + len(after)

    def text(size: int) -> bytes:
        times = (size - room) // (len(opening) + len(closing))
        return (before + opening * times + closing * times + after).encode()

    return text


_LISTS = "[]" * 300
"""So many that their depth has to be looked at."""
_ACTION = '{"anything":'
_END = ',"client_id":"a","type":"Shown"}'
_ENVELOPE = '[1,0,0,"0x' + "00" * 32 + '","0x' + "00" * 64 + '",{"client_id":"alice"}]'
_STATE = '{"channelId":"0x' + "00" * 32 + '","kind":"state",'
TEXTS: dict[str, Callable[[int], bytes]] = {
    "quotes and backslashes": _filled(_LISTS, '\\"'),
    "a string that does not end": _filled(_LISTS + '"', '\\"'),
    "strings that do not end": _filled(_LISTS, '"\\'),
    "quotes": _filled(_LISTS, '"'),
    "backslashes": _filled(_LISTS + '"', "\\"),
    "brackets": _filled("", "["),
    "objects in objects": _filled("", '{"a":'),
    "brackets in an action": _both_ways(_ACTION, "[", "]", _END),
    "small lists in an action": _filled(_ACTION + "[", "[],", "[]]" + _END),
    "a long number": _filled("", "9"),
    "a long number in an action": _filled(_ACTION, "9", _END),
    "a long fraction": _filled(_ACTION + "0.", "0", "1" + _END),
    "a long exponent": _filled(_ACTION + "1e", "9", _END),
    "long numbers": _filled("[", "9" * 4_000 + ",", "1]"),
    "a long version number": _filled("[", "1", _ENVELOPE[2:]),
    "a long sequence number": _filled("[1,", "9", ',0,"","",{"client_id":"alice"}]'),
    "a long count": _filled("[1,0,", "9", ',"","",{"client_id":"alice"}]'),
    "a deep message in an envelope": _both_ways('[1,0,0,"","",', "[", "]", "]"),
    "many members of an envelope": _filled("[1,", "0,", "0]"),
    "a long hash": _filled('[1,0,0,"0x', "0", '","",{"client_id":"alice"}]'),
    "a long signature": _filled('[1,0,0,"","0x', "0", '",{"client_id":"alice"}]'),
    "a long message in an envelope": _filled(_ENVELOPE[:-2] + ',"text":"', "a", '"}]'),
    "names given again and again": _filled("{", '"a":1,', '"a":1}'),
    "escapes": _filled('"', "\\u00e9", '"'),
    "halves of pairs": _filled('"', "\\ud834", '"'),
    "spaces": _filled("", " "),
    "hex": _filled("0x", "00"),
    "a long record": _filled(_STATE + '"record":"0x', "00", '","signers":[],"version":1}'),
    "many signers": _filled(_STATE + '"record":"0x","signers":[', "0,", '0],"version":1}'),
    "a message's long version number": _filled(_STATE + '"record":"0x","signers":[],"version":', "1", "}"),
    "a deep version": _both_ways(_STATE + '"version":', "[", "]", "}"),
    "a deep version of an envelope": _both_ways("[", "[", "]", _ENVELOPE[2:]),
    "a long turn number": _filled('{"channelId":"","kind":"greeting","nextTurn":', "9", ',"sender":0,"version":1}'),
    "any message of another version": _filled('{"a":[', "{},", '{}],"version":2}'),
    "zeros": bytes,
    "the highest bytes": lambda size: b"\xff" * size,
}


def decode_or_refuse(decode: Callable[[bytes, Path], object], data: bytes, folder: Path) -> None:
    """Either is right; nothing else is."""
    with contextlib.suppress(ForcemoveError, UnicodeDecodeError):
        decode(data, folder)


def _processor_seconds(action: Callable[[], object]) -> float:
    with without_collecting():
        started = time.process_time()
        with contextlib.suppress(ForcemoveError, UnicodeDecodeError):
            action()
        return time.process_time() - started


def _most_memory(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        with without_collecting(), contextlib.suppress(ForcemoveError, UnicodeDecodeError):
            action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@cache
def _harmless(size: int) -> float:
    text = "[" + "1," * (size // 2 - 1) + "1]"
    return _processor_seconds(lambda: json.loads(text))


def _worst(decoder: str, text: str) -> bytes:
    size = DECODERS[decoder][1]
    data = TEXTS[text](size)
    assert size - 4_100 <= len(data) <= size
    return data


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "decoder", sampled([name for name, (_, size) in DECODERS.items() if size < MAX_LENGTH], every=2)
)
def test_threat_39_the_worst_message_takes_little_time_and_memory(decoder: str, text: str, tmp_path: Path) -> None:
    decode, size = DECODERS[decoder]
    data = _worst(decoder, text)
    assert _processor_seconds(lambda: decode(data, tmp_path)) <= MOST_TIMES * _harmless(size)
    assert _most_memory(lambda: decode(data, tmp_path)) <= MOST_BYTES * size


@pytest.fixture(scope="module")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measurer]:
    with contextlib.closing(Measurer(tmp_path_factory.mktemp("files"))) as measurer:
        yield measurer


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "decoder", sampled([name for name, (_, size) in DECODERS.items() if size == MAX_LENGTH], every=2)
)
def test_threat_39_the_worst_file_takes_little_time_and_memory(decoder: str, text: str, measure: Measurer) -> None:
    assert _worst(decoder, text)
    cost = measure(decoder, text)
    assert cost.seconds <= MOST_TIMES * _harmless(MAX_LENGTH)
    assert cost.memory <= MOST_BYTES * MAX_LENGTH


def test_threat_39_a_string_that_does_not_end_is_read_once() -> None:
    """A small text, so that it also ends where each of its quotes is tried as a beginning."""
    text = TEXTS["quotes and backslashes"](MAX_LENGTH // 64).decode()
    assert _processor_seconds(lambda: parse_json(text, "text")) <= MOST_TIMES * _harmless(len(text))


_DEEP = """
import json, os, sys, threading
from forcemove.errors import ForcemoveError
from tests.threats.test_decoders import DECODERS, TEXTS
sys.setrecursionlimit(100_000)  # as libraries for Ethereum do
def try_all(decode, size):
    for text in ("brackets", "objects in objects", "brackets in an action", "a deep message in an envelope"):
        try:
            decode(TEXTS[text](size), None)
        except ForcemoveError:
            print("refused", flush=True)
def in_a_process_of_its_own(decoder):
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        said = os.fdopen(reading).read()
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said
    os.dup2(writing, 1)
    threading.stack_size(512 * 1024)  # as some systems' threads have it
    thread = threading.Thread(target=try_all, args=DECODERS[decoder])
    thread.start()
    thread.join()
    os._exit(0)
print(json.dumps({decoder: in_a_process_of_its_own(decoder) for decoder in sys.argv[1:]}))
"""
DEEPENED = [name for name in DECODERS if name not in FILES]


@pytest.fixture(scope="module")
def ends() -> dict[str, list[object]]:
    """How the process of each decoder ended that was given what is deep, and what it said."""
    command = [sys.executable, "-c", _DEEP, *DEEPENED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # the text above
    found: dict[str, list[object]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("decoder", DEEPENED)
def test_threat_39_no_depth_ends_the_process(decoder: str, ends: dict[str, list[object]]) -> None:
    """In a process of its own: what is too deep for the stack kills without a word."""
    assert ends[decoder] == [0, "refused\n" * 4]


@pytest.mark.parametrize("file", FILES)
def test_threat_39_of_a_file_without_end_only_a_beginning_is_read(file: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b" " * (30 * MAX_LENGTH))
    _processor_seconds(lambda: FILES[file](path))  # imports at its first use what it needs
    assert _most_memory(lambda: FILES[file](path)) <= 20 * MAX_LENGTH
