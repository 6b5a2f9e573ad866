"""Ways to a chain: one embedded in this process, an anvil as a child process, and any node by its address.

The local chains fund the same known accounts, see `local_keys`, and move their clocks.
"""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from forcemove.chain.anvil import end_anvil, find_anvil, listening_port, start_anvil
from forcemove.chain.asking import Steps, asking
from forcemove.chain.chain import Call, Chain
from forcemove.chain.endpoint_name import MOST_WORDS, EndpointName, shown_endpoint
from forcemove.chain.errors import CannotTravel, EndpointFailed, Unreachable
from forcemove.chain.json_rpc import JsonRpcTransport, RpcConnection, refused
from forcemove.chain.limits import REQUEST_SECONDS
from forcemove.chain.prices import MAX_TX_GAS
from forcemove.chain.reverts import NO_ERRORS, ErrorTable, revert_data
from forcemove.chain.rpc import CALLS, Reverted
from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.signing import Key
from forcemove.recursion_limit import keeping_recursion_limit

if TYPE_CHECKING:
    from web3.providers.base import BaseProvider
    from web3.types import RPCEndpoint, RPCResponse

    from forcemove.chain.book import AddressBook
    from forcemove.game import PlayableApp


class Web3Transport:
    """A `RpcTransport` over a provider of web3."""

    is_here = True

    def __init__(self, provider: BaseProvider, name: str) -> None:
        """`name`: of the chain, in errors."""
        with keeping_recursion_limit():
            from web3 import Web3

        # Its middleware would ask for the chain's id before each call, and check what we check.
        self._manager, self._name = Web3(provider, middleware=[]).manager, EndpointName(name)

    def exchange(self, method: str, params: Sequence[Any]) -> Any:
        """See `RpcTransport`."""
        try:
            return self._manager.request_blocking(cast("RPCEndpoint", method), list(params))
        except Exception as failure:
            raise self._typed(method, failure) from None

    def close(self) -> None:
        """See `RpcTransport`: the chain ends with this process."""

    def _typed(self, method: str, failure: Exception) -> Reverted | ForcemoveError:
        """A chain in this process refuses by exceptions of its own."""
        if method in CALLS and (data := revert_data(failure)) is not None:
            return Reverted(data)
        response = getattr(failure, "rpc_response", None)
        if isinstance(response, Mapping):
            return refused(self._name, method, response.get("error"))
        return EndpointFailed(method, str(failure)[:MOST_WORDS] or type(failure).__name__)


# --------------------------------------------------------------------------------------------------------------- chains

LOCAL_BALANCE = 1_000_000 * 10**18
"""What each of the known accounts has on a local chain, in wei."""
_ACCOUNTS = 10
_EMBEDDED_GAS = 16_000_000
_MOST_REFUNDED = 5
"""The chain gives back a fifth of the gas at most (EIP-3529)."""
_WITHOUT_SCHEME = re.compile(r"[\w.-]+:\d+(/.*)?")
"""A host and a port, and perhaps a path, without the scheme that belongs before them."""


@cache
def local_keys() -> tuple[Key, ...]:
    """The accounts that local chains fund. Everybody knows these keys: they are worth nothing anywhere else."""
    return tuple(Key(keccak256(f"forcemove local account {index}".encode())) for index in range(_ACCOUNTS))


def deploy_locally(chain: Chain, games: Iterable[PlayableApp]) -> AddressBook:
    """Deploy the games' contracts on a local chain that ends with this process, with an account of `local_keys`; no
    address book is written. Raises as `deploy`."""
    from forcemove.chain.deployment import deploy

    with TemporaryDirectory() as folder:
        return deploy(chain, local_keys()[-1], Path(folder) / "book.json", games)


class EmbeddedChain(Chain):
    """eth-tester inside this process: a block for each transaction, and a clock that does not move between them. Any
    number of threads may use it: what they ask is done one after the other."""

    can_travel = True
    _anyone = local_keys()[-1].address  # eth-tester wants callers to be able to pay for the gas

    def __init__(self) -> None:
        with keeping_recursion_limit():
            from eth_tester import EthereumTester, PyEVMBackend
            from web3 import EthereumTesterProvider

        class Backend(PyEVMBackend):  # type: ignore[misc]  # eth-tester has no types
            """Leaves Error(string) in its bytes: decoded, its text could not be told from the machine's own words."""

            def is_eip838_error(self, _: object) -> bool:
                return False

        lock = self._lock = threading.RLock()
        account = {"balance": LOCAL_BALANCE, "nonce": 0, "code": b"", "storage": {}}
        backend = Backend(genesis_state={key.address: account for key in local_keys()})

        class Provider(EthereumTesterProvider):
            """eth-tester calls and mines on one state, which a second thread would find half changed. Blocks are asked
            for at every look, and eth-tester puts them together each time: it is asked once for each header to mine."""

            _header: object = None
            _blocks: dict[tuple[Any, ...], RPCResponse]

            def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
                with lock:
                    if method != "eth_getBlockByNumber":
                        return super().make_request(method, params)
                    header = backend.chain.header
                    if self._header is not header:
                        self._header, self._blocks = header, {}
                    if (asked := tuple(params)) not in self._blocks:
                        self._blocks[asked] = super().make_request(method, params)
                    return self._blocks[asked]

        self.tester = EthereumTester(backend)
        super().__init__(Web3Transport(Provider(self.tester), "eth-tester"), "eth-tester")

    def travel_to(self, time_: int) -> None:
        """Mines a block one second before `time_`; the next transaction lands at exactly `time_`."""
        with self._lock:
            if time_ <= self.now():
                raise CannotTravel(self.now(), time_)
            if time_ != self.tester.get_block_by_number("pending")["timestamp"]:
                self.tester.time_travel(time_)

    @asking
    def gas_for(self, call: Call, sender: bytes, errors: ErrorTable, max_gas: int = MAX_TX_GAS) -> Steps[int]:
        """A fixed limit: an estimate costs eth-tester more than the transaction itself."""
        yield from self.simulate.steps(call, sender, errors)
        return min(_EMBEDDED_GAS, max_gas)

    def gas_used(self, call: Call, sender: bytes, errors: ErrorTable = NO_ERRORS) -> int:
        """See `Chain`: eth-tester simulates nothing, the virtual machine inside it does."""
        with self._lock:
            self.simulate(call, sender, errors)
            return self._executed(self._request(call, sender))

    def _executed(self, request: dict[str, str]) -> int:
        """The gas that a transaction uses in the state after the newest block, which stays as it is."""
        from eth.vm.spoof import SpoofTransaction

        chain = self.tester.backend.chain
        sender, to, data = (bytes.fromhex(request.get(name, "0x")[2:]) for name in ("from", "to", "data"))
        value, gas = int(request["value"], 16), int(request["gas"], 16)
        with chain.get_vm(chain.header).in_costless_state() as state:
            unsigned = chain.create_unsigned_transaction(
                nonce=state.get_nonce(sender), gas_price=0, gas=gas, to=to, value=value, data=data
            )
            done = state.costless_execute_transaction(SpoofTransaction(unsigned, from_=sender))
        used = gas - done.get_gas_remaining()
        return max(int(used - min(done.get_gas_refund(), used // _MOST_REFUNDED)), _least_gas(data))

    def _request(self, call: Call, sender: bytes) -> dict[str, str]:
        """The call with the gas limit of a transaction, which eth-tester wants the sender to be able to pay for."""
        return super()._request(call, sender) | {"gas": hex(_EMBEDDED_GAS)}


def _least_gas(data: bytes) -> int:
    """What a transaction with this data uses at least (EIP-7623): a byte that is not zero counts four times."""
    return 21_000 + 10 * (4 * len(data) - 3 * data.count(0))


class AnvilChain(Chain):
    """An anvil of our own on a free port of this machine, ended by `close` or with this process."""

    can_travel = True

    def __init__(self, *options: str, binary: str | None = None) -> None:
        """`options`: more of anvil's own; `binary`: the program, None to look for it.

        Raises `AnvilMissing`, `AnvilFailed`.
        """
        process = start_anvil(binary or find_anvil(), options)
        self._end = weakref.finalize(self, end_anvil, process)
        try:
            url = f"http://127.0.0.1:{listening_port(process)}"
            super().__init__(_transport(url), url)
            for key in local_keys():
                self.rpc.ask("anvil_setBalance", "0x" + key.address.hex(), hex(LOCAL_BALANCE))
        except BaseException:
            self.close()
            raise

    def travel_to(self, time_: int) -> None:
        """Mines a block one second before `time_`; the next transaction lands at exactly `time_`."""
        now = self.now()
        if time_ <= now:
            raise CannotTravel(now, time_)
        if time_ - 1 > now:
            self.rpc.ask("evm_setNextBlockTimestamp", hex(time_ - 1))
            self.rpc.ask("evm_mine")
        self.rpc.ask("evm_setNextBlockTimestamp", hex(time_))

    def close(self) -> None:
        """End the process."""
        self._end()


def open_chain(name: str, *, expected_chain_id: int | None = None) -> Chain:
    """A chain by its name for users: `eth-tester`, `anvil`, or the address of a node as in `connect`."""
    match name:
        case "eth-tester":
            return EmbeddedChain()
        case "anvil":
            return AnvilChain()
        case _:
            return connect(name, expected_chain_id=expected_chain_id)


def connect(endpoint: str, *, expected_chain_id: int | None = None, timeout: float = REQUEST_SECONDS) -> Chain:
    """The chain of a node: `http://`, `https://`, `ws://`, `wss://`, or the path of an IPC socket. `timeout`: seconds
    that an answer may take; after that the endpoint is `Unreachable`, and what was asked is not asked again by itself.
    `expected_chain_id`: as in `Chain`; the node is then not asked yet.

    Raises `Unreachable`, `NotAnEthereumEndpoint`; `InvalidValue`.
    """
    if timeout <= 0:
        raise InvalidValue("timeout", timeout, "more than 0 seconds")
    return Chain(_transport(endpoint, timeout), endpoint, expected_chain_id=expected_chain_id)


def _require_address(endpoint: str) -> None:
    """Refuse what can never be an address, so that nobody waits for it. Raises `InvalidValue`, without secrets."""
    shown = shown_endpoint(endpoint) if "://" in endpoint else endpoint.partition("/")[0]
    try:
        parts = urlsplit(endpoint)
        has_place = "://" not in endpoint or (bool(parts.hostname) and parts.port != 0)
        is_sound = has_place and not _WITHOUT_SCHEME.fullmatch(endpoint)
    except ValueError:  # a port above 65535, or half an IPv6 address
        is_sound = False
    if not is_sound:
        wanted = "http://, https://, ws:// or wss:// before a host and its port, or the path of an IPC socket"
        raise InvalidValue("endpoint", shown, wanted)


def _transport(endpoint: str, timeout: float = REQUEST_SECONDS) -> JsonRpcTransport:
    _require_address(endpoint)
    return JsonRpcTransport(_connection(endpoint, timeout), endpoint)


def _connection(endpoint: str, timeout: float) -> RpcConnection:
    scheme, separator, _ = endpoint.partition("://")
    if separator and scheme.lower() in ("http", "https"):
        from forcemove.chain.http import HttpConnections

        return HttpConnections(endpoint, timeout)
    if separator and scheme.lower() in ("ws", "wss"):
        from forcemove.chain.websocket import WebSocketConnection

        return WebSocketConnection(endpoint, timeout)
    if separator:
        raise Unreachable(shown_endpoint(endpoint), "addresses begin with http, https, ws or wss, or are a path")
    from forcemove.chain.ipc import IpcConnection

    return IpcConnection(endpoint, timeout)
