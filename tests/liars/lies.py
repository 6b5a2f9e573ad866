"""Lies that an endpoint may tell, by name: for each method that is used each field of its answer in every wrong form,
what it does to the connection instead, and the lies that have been told to take a stake.

A lie is a function of how the node itself answers, a method and its parameters: usable before a node of its own
(`proxy.lying`) and in this process (`proxy.through`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from forcemove.chain.errors import EndpointFailed
from forcemove.protocol.hashing import keccak256
from tests.liars.misbehaviour import MISBEHAVIOUR
from tests.liars.proxy import Ask, Misbehaves

__all__ = ["FIELDS", "LIES", "MONEY", "Lie", "Lies", "lies_of"]

Change = Callable[[Any], Any]
HOURS = 7_200
"""Two of them, in seconds: what a liar adds to the time."""
FIELDS: Mapping[str, tuple[str, ...]] = {
    "eth_chainId": (),
    "eth_blockNumber": (),
    "eth_gasPrice": (),
    "eth_maxPriorityFeePerGas": (),
    "eth_getBalance": (),
    "eth_getTransactionCount": (),
    "eth_estimateGas": (),
    "eth_getCode": (),
    "eth_call": (),
    "eth_sendRawTransaction": (),
    "eth_getTransactionByHash": ("hash", "blockNumber"),
    "eth_getBlockByNumber": ("number", "hash", "parentHash", "timestamp", "baseFeePerGas"),
    "eth_getTransactionReceipt": (
        "transactionHash",
        "blockNumber",
        "blockHash",
        "status",
        "gasUsed",
        "effectiveGasPrice",
        "contractAddress",
        "logs",
    ),
    "eth_getLogs": (
        "address",
        "topics",
        "data",
        "blockNumber",
        "blockHash",
        "transactionHash",
        "logIndex",
        "removed",
    ),
}
"""The methods that are used, and what is read of the objects that they answer with."""


@dataclass(frozen=True)
class Lie:
    """What is told of one method instead of the truth. The rest is the node's own."""

    method: str
    tell: Callable[..., Any]

    def __call__(self, ask: Ask, method: str, *params: Any) -> Any:
        return self.tell(ask, method, *params) if method == self.method else ask(method, *params)


@dataclass(frozen=True)
class Lies:
    """Several at once: of each method one."""

    told: tuple[Lie, ...]

    def __call__(self, ask: Ask, method: str, *params: Any) -> Any:
        lie = next((each for each in self.told if each.method == method), None)
        return ask(method, *params) if lie is None else lie(ask, method, *params)


# ----------------------------------------------------------------------------------------------- every form, everywhere

FORMS: Mapping[str, Any] = {
    "null": None,
    "true": True,
    "a number": 1,
    "a fraction": 0.5,
    "a text": "soon",
    "an empty text": "",
    "a list": [],
    "an object": {},
    "lists in lists": [[[[[[[["0x1"]]]]]]]],
    "negative": "-0x1",
    "a negative number": -1,
    "0x": "0x",
    "0": "0x0",
    "half a byte": "0x123",
    "with spaces": "0x 1 2",
    "2**64": hex(2**64),
    "2**70": hex(2**70),
    "2**256-1": hex(2**256 - 1),
    "2**256": hex(2**256),
    "another hash": "0x" + "11" * 32,
    "another account": "0x" + "22" * 20,
    "all that bytes can claim": "0x" + ((32).to_bytes(32) + (2**256 - 1).to_bytes(32)).hex() * 4,
    "a megabyte": "0x" + "ff" * 2**20,
}


def _changed(change: Change) -> Callable[..., Any]:
    def tell(ask: Ask, method: str, *params: Any) -> Any:
        return change(ask(method, *params))

    return tell


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def _with(field: str, value: Any) -> Change:
    """A field of an object, or of each object of a list, is this; `Ellipsis` is its absence."""

    def change(answer: Any) -> Any:
        if isinstance(answer, list):
            return [change(each) for each in answer]
        if not isinstance(answer, Mapping):
            return answer
        others = {name: each for name, each in answer.items() if name != field}
        return others if value is ... else others | {field: value}

    return change


def _forms() -> Iterator[tuple[str, Lie]]:
    for method, fields in FIELDS.items():
        for form, value in {"absent": ..., **FORMS}.items():
            yield f"{method}: {form}", Lie(method, _always(value))
            for field in fields:
                yield f"{method}: {field}: {form}", Lie(method, _changed(_with(field, value)))


# --------------------------------------------------------------------------------------------------------- connections


def _misbehaviour() -> Iterator[tuple[str, Lie]]:
    for method in FIELDS:
        for name, serve in MISBEHAVIOUR.items():

            def tell(*_: object, serve: Any = serve) -> Any:
                raise Misbehaves(serve)

            yield f"{method}: {name}", Lie(method, tell)
        for words in ("rate limit exceeded", "missing trie node", "x" * 2**20):

            def refuse(_: Ask, method: str, *__: object, words: str = words) -> Any:
                raise EndpointFailed(method, words)

            yield f"{method}: refused: {words:.20}", Lie(method, refuse)


# ------------------------------------------------------------------------------------------------------------ for money


def _number(answer: Any) -> int:
    return answer if isinstance(answer, int) else int(answer, 16)


def _moved(by: int) -> Change:
    """A quantity is so much more, never below 0."""
    return lambda answer: hex(max(_number(answer) + by, 0))


def _block(which: str, field: str, change: Change) -> Lie:
    """Of the block that is asked for by this name, one field is changed."""

    def tell(ask: Ask, method: str, asked: str, *params: Any) -> Any:
        answer = ask(method, asked, *params)
        return _with(field, change(answer[field]))(answer) if asked == which and answer else answer

    return Lie("eth_getBlockByNumber", tell)


def _head(by: int) -> Lies:
    """The chain is this many blocks longer than it is; the blocks are not there."""
    return Lies((_block("latest", "number", _moved(by)), Lie("eth_blockNumber", _changed(_moved(by)))))


def _stale(by: int) -> Lies:
    """Nothing newer is shown than the block this many before the newest."""

    def at(ask: Ask) -> int:
        return max(_number(ask("eth_blockNumber")) - by, 0)

    def block(ask: Ask, method: str, asked: str, *params: Any) -> Any:
        newest = at(ask)
        if asked == "latest":
            return ask(method, hex(newest), *params)
        is_later = asked.startswith("0x") and int(asked, 16) > newest
        return None if is_later else ask(method, asked, *params)

    def logs(ask: Ask, method: str, request: Mapping[str, Any]) -> Any:
        newest = at(ask)
        if int(request["fromBlock"], 16) > newest:
            return []
        return ask(method, {**request, "toBlock": hex(min(int(request["toBlock"], 16), newest))})

    def call(ask: Ask, method: str, request: Any, asked: str) -> Any:
        return ask(method, request, hex(at(ask)) if asked in ("latest", "pending") else asked)

    return Lies(
        (
            Lie("eth_blockNumber", lambda ask, *_: hex(at(ask))),
            Lie("eth_getBlockByNumber", block),
            Lie("eth_getLogs", logs),
            Lie("eth_call", call),
        )
    )


def _invented_log(ask: Ask, method: str, request: Mapping[str, Any]) -> Any:
    """That the channel, where one is asked for, is closed."""
    topics = request["topics"]
    id_ = topics[1] if len(topics) > 1 and topics[1] else "0x" + "33" * 32
    invented = {
        "address": request["address"][0],
        "topics": ["0x" + keccak256(b"Closed(bytes32)").hex(), id_],
        "data": "0x",
        "blockNumber": request["toBlock"],
        "blockHash": "0x" + "44" * 32,
        "transactionHash": "0x" + "55" * 32,
        "logIndex": hex(2**32),
        "removed": False,
    }
    return [*ask(method, request), invented]


def _invented_receipt(status: int) -> Callable[..., Any]:
    def tell(ask: Ask, _: str, hash_: str) -> Any:
        newest = ask("eth_getBlockByNumber", "latest", False)
        return {
            "transactionHash": hash_,
            "blockNumber": newest["number"],
            "blockHash": newest["hash"],
            "status": hex(status),
            "gasUsed": hex(21_000),
            "effectiveGasPrice": hex(10**9),
            "contractAddress": None,
            "logs": [],
        }

    return tell


def _refused(words: str) -> Lie:
    def tell(_: Ask, method: str, *__: object) -> Any:
        raise EndpointFailed(method, words)

    return Lie("eth_sendRawTransaction", tell)


def _swallowed(_: Ask, __: str, raw: str) -> Any:
    return "0x" + keccak256(bytes.fromhex(raw[2:])).hex()


def _fixed(method: str, value: int) -> Lie:
    return Lie(method, _always(hex(value)))


MONEY: Mapping[str, Lie | Lies] = {
    "latest two hours ahead": _block("latest", "timestamp", _moved(HOURS)),
    "latest two hours behind": _block("latest", "timestamp", _moved(-HOURS)),
    "latest at 2**70": _block("latest", "timestamp", lambda _: hex(2**70)),
    "pending two hours ahead": _block("pending", "timestamp", _moved(HOURS)),
    "pending two hours behind": _block("pending", "timestamp", _moved(-HOURS)),
    "pending at 2**70": _block("pending", "timestamp", lambda _: hex(2**70)),
    "a head 4 ahead": _head(4),
    "a head 100 ahead": _head(100),
    "a head at 2**40": _head(2**40),
    "a head at 2**64": _head(2**64),
    "stale by 1": _stale(1),
    "stale by 100": _stale(100),
    "logs left out": Lie("eth_getLogs", _always([])),
    "the last log left out": Lie("eth_getLogs", _changed(lambda found: found[:-1])),
    "a log invented": Lie("eth_getLogs", _invented_log),
    "logs twice": Lie("eth_getLogs", _changed(lambda found: found * 2)),
    "logs backwards": Lie("eth_getLogs", _changed(lambda found: found[::-1])),
    "nothing in storage": Lie("eth_call", _changed(lambda data: "0x" + "00" * ((len(data) - 2) // 2))),
    "no code anywhere": Lie("eth_getCode", _always("0x")),
    "a nonce 1,000 ahead": Lie("eth_getTransactionCount", _changed(_moved(1_000))),
    "a nonce 1,000 behind": Lie("eth_getTransactionCount", _changed(_moved(-1_000))),
    "a nonce of 2**63": _fixed("eth_getTransactionCount", 2**63),
    "an estimate of 0": _fixed("eth_estimateGas", 0),
    "an estimate of 2**40": _fixed("eth_estimateGas", 2**40),
    "a base fee of 0": _block("latest", "baseFeePerGas", lambda _: "0x0"),
    "a base fee of 2**100": _block("latest", "baseFeePerGas", lambda _: hex(2**100)),
    "a base fee of 2**200": _block("latest", "baseFeePerGas", lambda _: hex(2**200)),
    "no base fee": _block("latest", "baseFeePerGas", lambda _: None),
    "a tip of 0": _fixed("eth_maxPriorityFeePerGas", 0),
    "a tip of 2**60": _fixed("eth_maxPriorityFeePerGas", 2**60),
    "a tip of 2**200": _fixed("eth_maxPriorityFeePerGas", 2**200),
    "a balance of 0": _fixed("eth_getBalance", 0),
    "a balance of 2**256-1": _fixed("eth_getBalance", 2**256 - 1),
    "receipts invented": Lie("eth_getTransactionReceipt", _invented_receipt(1)),
    "receipts of failure invented": Lie("eth_getTransactionReceipt", _invented_receipt(0)),
    "receipts left out": Lie("eth_getTransactionReceipt", _always(None)),
    "a full pool": _refused("txpool is full"),
    "a rate limit on sending": _refused("rate limit exceeded"),
    "already known": _refused("already known"),
    "no funds": _refused("insufficient funds for gas * price + value"),
    "transactions swallowed": Lie("eth_sendRawTransaction", _swallowed),
    "another chain": _fixed("eth_chainId", 5),
}
"""Told to take a stake, to make somebody pay, or to stop an answer."""

LIES: Mapping[str, Lie | Lies] = {**dict(_forms()), **dict(_misbehaviour()), **MONEY}
"""All of them, by name."""


def lies_of(method: str, *, with_connections: bool = False) -> dict[str, Lie | Lies]:
    """The lies about one method, by name; on request with what is done to the connection instead."""
    connections = () if with_connections else tuple(MISBEHAVIOUR)
    return {
        name: lie
        for name, lie in LIES.items()
        if method in _methods(lie) and not name.endswith(tuple(f": {each}" for each in connections))
    }


def _methods(lie: Lie | Lies) -> tuple[str, ...]:
    return (lie.method,) if isinstance(lie, Lie) else tuple(each.method for each in lie.told)
