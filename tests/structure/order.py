"""Which module may import which: the rooms in order, and the bans that an order alone cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from tests.structure.imports import Imports

ROOMS = (
    "forcemove.errors",
    "forcemove.backoff",
    "forcemove.recursion_limit",
    "forcemove.program",
    "forcemove.connecting",
    "forcemove.posting",
    "forcemove.picture",
    "forcemove.protocol",
    "forcemove.keys",
    "forcemove.artifact",
    "forcemove.game",
    "forcemove.rounds",
    "forcemove.registry",
    "forcemove.history",
    "forcemove.contracts",
    "forcemove.scaffold",
    "forcemove.flow",
    "forcemove_games.randomness",
    "forcemove_games.two_player",
    "forcemove_games.cheats",
    "forcemove_games.commitment",
    "forcemove_games.views",
    "forcemove_games.cards",
    "forcemove_games.sra",
    "forcemove_games",
    "forcemove.serving",
    "forcemove.transport",
    "forcemove.store",
    "forcemove.relay",
    "forcemove.chain",
    "forcemove.follower",
    "forcemove.sender",
    "forcemove.workers",
    "forcemove.node",
    "forcemove.arena",
    "forcemove.testing",
    "forcemove.watchtower",
    "forcemove.watchtower.service",
    "forcemove.inspect",
    "forcemove.text",
    "forcemove.sessions",
    "forcemove.sessions.watching",
    "forcemove.sessions.running",
    "forcemove.playground",
    "forcemove.demo",
    "forcemove.demo.network",
    "forcemove.browser",
    "forcemove.browser.lobby",
    "forcemove.browser.wallet",
    "forcemove.browser.inspecting",
    "forcemove.browser.watching",
    "forcemove.browser.playground",
    "forcemove.link_page",
    "forcemove.cli",
    "forcemove.__main__",
    "forcemove",
    "scripts",
)
"""Folders, and modules that are in none, lowest first: each imports only from itself and from lines above its own. A
folder has everything beneath it that has no line of its own. `forcemove` is that package's `__init__` alone, so that a
new folder needs a line."""


@dataclass(frozen=True, slots=True)
class Ban:
    """Modules in `rooms` import none of `names`, but for those in the rooms `but`."""

    rooms: tuple[str, ...]
    names: frozenset[str]
    reason: str
    but: tuple[str, ...] = ()

    def forbids(self, module: str, name: str) -> bool:
        """Whether the module may not import the name."""
        applies = any(is_in(module, room) for room in self.rooms) and not any(is_in(module, room) for room in self.but)
        return applies and any(is_in(name, each) for each in self.names)


SCREENS = frozenset({"click", "rich", "prompt_toolkit", "sys", "logging"})
"""Ways to a screen. What inspection finds is returned to its caller, and a table speaks through a port: to a command, a
page, a program."""
PURE = ("forcemove.protocol", "forcemove.history", "forcemove.node.client")
IMPURE = frozenset({"asyncio", "web3", "random", "secrets", "time", "os", "logging"})
DATABASES = frozenset({"sqlalchemy", "sqlite3", "psycopg"})
CURVES = frozenset({"coincurve", "cryptography", "ecdsa", "eth_keys", "py_ecc"})
HASHES = frozenset({"Crypto", "eth_hash", "eth_utils", "sha3"})
"""Both are computed by other libraries where there are none in C: in a browser."""
ALL = ("forcemove",)
OURS = ("forcemove", "forcemove_games")
SERVERS = tuple(f"forcemove.{room}" for room in ("browser", "relay", "serving", "watchtower.service"))
SOCKETS = ("forcemove.posting", "forcemove.transport.relay_page", "forcemove.transport.websocket.socket")
"""The rooms that serve, and the modules by which clients reach them: other modules are put in their places where there
are no sockets of the system."""
BANS = (
    Ban(ALL, frozenset({"forcemove_games"}), "a game arrives as a value or by entry point"),
    Ban(("forcemove.chain",), frozenset({"forcemove.flow"}), "flows and chains do not know each other"),
    Ban(PURE, IMPURE, "the core is pure"),
    Ban(OURS, CURVES, "only forcemove.protocol.curve knows by which library", ("forcemove.protocol.curve",)),
    Ban(OURS, HASHES, "only forcemove.protocol.hashing knows by which library", ("forcemove.protocol.hashing",)),
    Ban(
        ALL,
        frozenset({"web3", "eth_account", "eth_tester"}),
        "only a chain in this process needs web3",
        ("forcemove.chain",),
    ),
    Ban(ALL, frozenset({"eth_abi"}), "forcemove.chain.abi has all that is needed of it"),
    Ban(ALL, DATABASES, "only forcemove.store knows databases", ("forcemove.store",)),
    Ban(ALL, frozenset({"aiohttp"}), "clients reach servers through a module of their own", (*SERVERS, *SOCKETS)),
    Ban(ALL, frozenset({"nats"}), "only forcemove.transport knows NATS", ("forcemove.transport",)),
    Ban(("forcemove.inspect",), SCREENS, "inspection never prints"),
    Ban(("forcemove.sessions",), SCREENS, "a table speaks through its port"),
    Ban(("forcemove.text",), SCREENS, "texts are values"),
    Ban(("forcemove.arena", "forcemove.playground"), SCREENS, "a page or a program shows it"),
    Ban(("forcemove.demo",), SCREENS, "a program shows it"),
)
SEEN_BY_GAMES = frozenset(
    {"errors", "artifact", "contracts", "game", "picture", "protocol.app", "protocol.codec.limits"}
)
SEEN_BY_GAMES |= {f"protocol.{name}" for name in ("types", "encoding", "hashing", "curve")}
FLOW = ("actions", "channel", "keys", "place", "queue", "seat", "signed", "steps", "transport")
SEEN_BY_FLOWS = SEEN_BY_GAMES | {f"flow.{name}" for name in FLOW}
SEEN_BY = {
    **dict.fromkeys(("flow", "table", "spectator"), SEEN_BY_FLOWS),
    "demonstration": SEEN_BY_FLOWS | {"protocol.signing"},
}
"""What the modules of games that tell a flow see of `forcemove`, by their names; a demonstration makes keys for its
players, too."""


def violations(imports: Imports) -> list[str]:
    """Every import that breaks the order or a ban, every circle, and every module without a room, a sentence each."""
    places = {module: room_of(module) for module in imports}
    found = [
        f"{module} is in no room: its folder needs a line in tests/structure/order.py"
        for module, room in sorted(places.items())
        if not room
    ]
    for module, imported in sorted(imports.items()):
        for name in sorted(imported):
            found += [f"{module} imports {name}, but {reason}" for reason in _broken(module, name)]
    for room in ROOMS:
        inside = {module for module, place in places.items() if place == room}
        found += _circle({module: imports[module] & inside for module in inside})
    return found


def room_of(module: str) -> str:
    """The room that a module is in: of those in `ROOMS` the nearest. Empty where there is none."""
    around = (room for room in ROOMS if room == module or (is_in(module, room) and room not in ALL))
    return max(around, key=len, default="")


def is_in(module: str, package: str) -> bool:
    """Whether a module is the package, or beneath it."""
    return module == package or module.startswith(package + ".")


def _broken(module: str, name: str) -> Iterator[str]:
    """The reasons against an import, of which each completes a sentence."""
    own, other = room_of(module), room_of(name)
    if own and other and ROOMS.index(other) > ROOMS.index(own):
        yield f"the room {other} comes after {own} in the order of rooms"
    yield from (ban.reason for ban in BANS if ban.forbids(module, name))
    if is_in(module, "forcemove_games") and is_in(name, "forcemove"):
        seen = SEEN_BY.get(module.rpartition(".")[2], SEEN_BY_GAMES)
        yield from () if name.removeprefix("forcemove.") in seen else ("games do not see this much of the channel",)


def _circle(imports: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Of a room's modules one circle, if there is any, in the direction of its imports."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        first, *others = reversed(error.args[1])
        yield f"{first} imports {', which imports '.join(others)}: inside a room no imports go in a circle"
