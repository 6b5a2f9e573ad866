"""The endpoints of one chain that a command was given. An endpoint that is away at the start delays only itself.

One endpoint that answers names the chain. The others are opened for that chain without being asked, and their readers
try them again and again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from forcemove.backoff import Backoff
from forcemove.cli.errors import Explained
from forcemove.cli.terminal import waiting
from forcemove.errors import ForcemoveError

if TYPE_CHECKING:
    from forcemove.chain.chain import Chain

_LOCAL = ("eth-tester", "anvil")
_NOT_KNOWN = 0
"""No chain has this id (EIP-155). It stands for the chain of an endpoint that has not named its chain yet."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0


def open_nodes(
    endpoints: Sequence[str],
    *,
    expected: Collection[int] = (),
    waits: bool = True,
    notify: Callable[[str], None] | None = None,
) -> tuple[Chain, ...]:
    """The chain through each endpoint, in their order; at least one. `expected`: the right chain ids, as far as they
    are known. `waits`: where no endpoint answers, say so once and try again until one does. `notify`: is called with a
    line for each endpoint that is away, or is left out because of another chain id. Unless it is given, standard error
    has these lines, and a status says meanwhile who is asked.

    Raises `WrongChain` where the endpoints are of several chains and nothing says which of them is right;
    `NotAnEthereumEndpoint` and `Unreachable` where none can be used; `Explained`, and `InvalidValue`.
    """
    chosen = tuple(dict.fromkeys(endpoints))
    require_lasting(chosen)
    if notify is not None:
        return _Opening(chosen, frozenset(expected), notify).run(waits=waits)
    with waiting(f"Asking {_names(chosen)}") as terminal:
        return _Opening(chosen, frozenset(expected), terminal.note).run(waits=waits)


def require_lasting(endpoints: Sequence[str]) -> None:
    """Refuse a chain that would end with the command: a deployment to a chain of our own would be lost."""
    for endpoint in endpoints:
        if endpoint in _LOCAL:
            raise Explained(
                f"--chain {endpoint} starts a chain that ends with this command; there is nothing to keep.",
                "Start a node, such as `anvil`, and give its address: --chain http://127.0.0.1:8545",
            )


def endpoint_name(endpoint: str) -> str:
    """An endpoint for people, without its possible secrets."""
    from forcemove.chain.endpoint_name import shown_endpoint

    scheme_or_path, _, host = shown_endpoint(endpoint).partition("://")
    return host or scheme_or_path


def _names(endpoints: Sequence[str]) -> str:
    return ", ".join(map(endpoint_name, endpoints))


class _Opening:
    """The opening of one command's endpoints, all by their places in the list."""

    def __init__(self, endpoints: tuple[str, ...], expected: frozenset[int], notify: Callable[[str], None]) -> None:
        from forcemove.chain.local import connect

        self._endpoints, self._expected, self._notify = endpoints, expected, notify
        self._chains: dict[int, Chain] = {}
        self._named: dict[int, int] = {}
        self._failed: dict[int, BaseException] = {}
        for index, endpoint in enumerate(endpoints):
            try:
                self._chains[index] = connect(endpoint, expected_chain_id=_NOT_KNOWN)
            except ForcemoveError as error:
                self._failed[index] = error

    def run(self, *, waits: bool) -> tuple[Chain, ...]:
        pauses, is_reported = Backoff(_FIRST_PAUSE, _LONGEST_PAUSE), False
        while True:
            self._ask()
            chain_id = self._chain_id()
            if chain_id is not None:
                return self._opened(chain_id)
            self._require_hope(waits=waits)
            if not is_reported:
                self._notify(f"chain       {_names(self._endpoints)} is out of reach. It is tried again.")
            is_reported = True
            time.sleep(pauses.next_pause())

    def _ask(self) -> None:
        """Ask all endpoints that have not named their chain; return when they have, or a little after the first one."""
        from forcemove.chain.chain import poll

        waiting = {chain: index for index, chain in self._chains.items() if index not in self._named}
        named, failed = poll(tuple(waiting), lambda chain: chain.identify.steps())
        self._named |= {waiting[chain]: chain_id for chain, chain_id in named.items()}
        self._failed |= {waiting[chain]: error for chain, error in failed.items()}

    def _chain_id(self) -> int | None:
        """The chain id that is meant, None where no endpoint has named it. Raises `WrongChain`."""
        from forcemove.chain.errors import WrongChain

        right = {*self._named.values()} & self._expected or {*self._named.values()}
        if len(right) > 1:
            (_, first), *others = sorted(self._named.items())
            index, other = next(each for each in others if each[1] != first)
            raise WrongChain(self._chains[index].endpoint, first, other)
        if right.isdisjoint(self._expected) and len(self._expected) == 1 and self._chains.keys() - self._named.keys():
            return next(iter(self._expected))
        return next(iter(right), None)

    def _opened(self, chain_id: int) -> tuple[Chain, ...]:
        """The endpoints of this chain, and those that may be of it; a line is printed for each other."""
        for index, endpoint in enumerate(self._endpoints):
            named = self._named.get(index)
            if named not in (None, chain_id):
                self._chains.pop(index)
                name = endpoint_name(endpoint)
                self._notify(f"The node at {name} is of chain {named}, not {chain_id}: it is left out.")
            elif named is None:
                self._notify(f"{self._why_away(index)} It is asked again meanwhile.")
        for chain in self._chains.values():
            chain.expect(chain_id)
        return tuple(self._chains.values())

    def _why_away(self, index: int) -> str:
        """Why an endpoint has not named its chain, in a sentence."""
        from forcemove.chain.errors import TlsFailed, Unreachable
        from forcemove.text.explanations import headline

        error, away = self._failed.get(index), f"The node at {endpoint_name(self._endpoints[index])} does not answer"
        if isinstance(error, Unreachable) and not isinstance(error, TlsFailed):
            return f"{away}: {error.reason}."
        return headline(error) if isinstance(error, ForcemoveError) else f"{away}."

    def _require_hope(self, *, waits: bool) -> None:
        """Raise the error of a single endpoint, or of all of them, where trying again mends nothing."""
        from forcemove.chain.errors import NotAnEthereumEndpoint, TlsFailed, Unreachable
        from forcemove.errors import PassingError

        errors = [self._failed[index] for index in sorted(self._failed)]
        lasting = [each for each in errors if not isinstance(each, PassingError)]
        is_over = all(isinstance(each, NotAnEthereumEndpoint | TlsFailed) for each in errors) or not any(
            map(_is_url, self._endpoints)
        )
        if lasting or is_over or not waits:
            raise (lasting or errors or [Unreachable(endpoint_name(self._endpoints[0]), "no answer")])[0]


def _is_url(endpoint: str) -> bool:
    return endpoint.partition("://")[0].lower() in ("http", "https", "ws", "wss") and "://" in endpoint
