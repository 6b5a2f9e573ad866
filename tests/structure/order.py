"""Which file may import which: the order of all modules, and the bans that an order alone cannot say."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter

from tests.structure.imports import PACKAGES, Imports

# Lowest first; a module imports only from lines above its own. `*` means one name, whatever it is.
ORDER: tuple[tuple[str, ...], ...] = (
    ("channel", "channel.*", "channel.protocol.hashing"),
    ("channel.protocol.errors", "channel.protocol.rule_errors"),
    ("channel.protocol.types", "channel.artifact"),
    ("channel.protocol.outcome",),
    ("channel.protocol.limits",),
    ("channel.protocol.state", "channel.protocol.json_text", "channel.protocol.message_pack"),
    ("channel.protocol.encoding", "channel.protocol.app", "channel.protocol.logs"),
    ("channel.protocol.signing", "channel.protocol.status", "channel.protocol.agreement"),
    ("channel.protocol.rules", "channel.protocol.record"),
    ("channel.protocol.adjudication",),
    ("channel.protocol.effects",),
    ("channel.protocol.inputs",),
    ("channel.protocol.channel",),
    ("channel.protocol.watch", "channel.protocol.wire", "channel.protocol.values"),
    ("channel.protocol.hearing", "channel.protocol.duties", "channel.protocol.results"),
    ("channel.protocol.news", "channel.protocol.views"),
    ("channel.protocol.machine",),
    ("channel.game",),
    ("channel.installed", "contracts"),
    ("channel.flow.actions", "channel.flow.history", "channel.flow.transport"),
    ("channel.flow.signed", "channel.flow.queue", "channel.flow.place"),
    ("channel.flow.steps", "channel.flow.seat"),
    ("channel.flow.keys", "channel.flow.channel"),
    ("games", "games.randomness", "games.views.errors"),
    ("games.views.faults",),
    ("games.views.values",),
    ("games.views.drafts", "games.views.patches"),
    ("games.views.playing",),
    ("games.views",),
    ("games.commitment",),
    ("games.two_player", "games.sra.arithmetic", "games.sra.faults"),
    ("games.cheats", "games.*.position", "games.*.openings", "games.sra.cipher"),
    ("games.*.rules", "games.sra.deck"),
    ("games.*.bot", "games.*.choices", "games.*.cheats", "games.*.table", "games.sra.pile"),
    ("games.sra.player",),
    ("games.sra.table",),
    ("games.*.game", "games.*.flow", "games.spectator"),
    ("games.discard.cards",),
    ("games.discard.rules",),
    ("games.discard.table", "games.discard.bot"),
    ("games.discard.flow", "games.discard.picture", "games.discard.view"),
    ("games.discard.demonstration",),
    ("games.*",),
    (
        "channel.chain.errors",
        "channel.chain.addresses",
        "channel.chain.block_time",
        "channel.chain.create2",
        "channel.chain.limits",
    ),
    ("channel.chain.http", "channel.chain.websocket", "channel.chain.ipc"),
    ("contracts.compiler",),
    ("contracts.compile", "contracts.project"),
    ("channel.chain.reverts", "channel.chain.book"),
    ("channel.chain.rpc",),
    ("channel.chain.answers",),
    ("channel.chain.chain",),
    ("channel.chain.codec", "channel.chain.genuine", "channel.chain.factory"),
    ("channel.chain.token", "channel.chain.adjudicator", "channel.chain.verification"),
    ("channel.chain.deployment",),
    (
        "channel.chain.local",
        "channel.sender",
        "channel.sender.errors",
        "channel.sender.lanes",
        "channel.sender.pricing",
        "channel.sender.transactions",
    ),
    (
        "channel.sender.offers",
        "channel.sender.opinions",
        "channel.sender.timing",
        "channel.follower",
        "channel.follower.head",
        "channel.follower.errors",
    ),
    ("channel.sender.bids", "channel.sender.flight", "channel.sender.settling"),
    ("channel.sender.waiting",),
    ("channel.sender.sender",),
    ("channel.follower.sight",),
    ("channel.follower.followed", "channel.follower.combine"),
    ("channel.follower.blocks", "channel.follower.words", "channel.follower.origins"),
    ("channel.follower.follower",),
    ("channel.follower.viewer",),
    ("channel.follower.views",),
    ("channel.store", "channel.store.errors", "channel.store.records", "channel.store.schema"),
    ("channel.store.faults", "channel.store.migrations", "channel.store.statements", "channel.store.presence"),
    ("channel.store.same_file",),
    ("channel.store.database", "channel.store.evidence"),
    ("channel.store.channels",),
    ("channel.store.leases", "channel.store.sqlite", "channel.store.postgresql"),
    ("channel.store.transactions", "channel.store.towers", "channel.store.meetings", "channel.store.session"),
    ("channel.store.transfer",),
    ("channel.store.journal",),
    ("channel.store.opening",),
    ("channel.line", "channel.line.limits"),
    ("channel.line.errors", "channel.line.terms"),
    ("channel.line.offers", "channel.line.links"),
    ("channel.line.wire", "channel.line.log", "channel.line.faults"),
    ("channel.line.carried",),
    ("channel.line.reconnecting",),
    ("channel.line.websocket", "channel.line.jetstream", "channel.line.channel_line"),
    ("channel.line.websocket.transport", "channel.line.websocket.lobby", "channel.line.jetstream.streams"),
    ("channel.line.websocket.connection",),
    ("channel.line.jetstream.feed", "channel.line.jetstream.posting", "channel.line.jetstream.kept"),
    ("channel.line.jetstream.transport", "channel.line.jetstream.live"),
    ("channel.line.jetstream.session",),
    ("channel.line.jetstream.lobby",),
    ("channel.line.jetstream.connection",),
    ("channel.line.connect",),
    ("channel.serving", "channel.serving.addresses", "channel.serving.errors", "channel.serving.files"),
    ("channel.serving.rate",),
    ("channel.relay", "channel.relay.errors", "channel.relay.fairness", "channel.relay.limits"),
    ("channel.relay.metrics", "channel.relay.sending"),
    ("channel.relay.admission", "channel.relay.admission.accounts"),
    ("channel.relay.admission.turns",),
    ("channel.relay.admission.listening", "channel.relay.admission.meter"),
    ("channel.relay.storage", "channel.relay.storage.quota", "channel.relay.storage.recent"),
    ("channel.relay.storage.schema", "channel.relay.storage.worker"),
    ("channel.relay.storage.reader", "channel.relay.storage.space"),
    ("channel.relay.storage.deleting", "channel.relay.storage.room"),
    ("channel.relay.storage.store",),
    ("channel.relay.tables",),
    ("channel.relay.housekeeping",),
    ("channel.relay.offers", "channel.relay.offers.listing"),
    ("channel.relay.keeping", "channel.relay.offers.lobby", "channel.relay.proofs"),
    ("channel.relay.peer",),
    ("channel.relay.server",),
    (
        "channel.node.ports",
        "channel.node.keys",
        "channel.node.clock",
        "channel.node.nonces",
        "channel.node.greetings",
        "channel.node.orders",
        "channel.node.events",
        "channel.node.about",
        "channel.node.policy",
        "channel.node.errors",
        "channel.node.workers",
        "channel.node.journalled",
        "channel.follower.head",
    ),
    ("channel.node.memory", "channel.node.looking"),
    ("channel.tower", "channel.tower.errors", "channel.tower.handover", "channel.tower.settings"),
    ("channel.tower.acceptance", "channel.tower.receipts"),
    ("channel.tower.guarded",),
    ("channel.tower.post", "channel.tower.desk"),
    ("channel.tower.tower",),
    ("channel.node.client", "channel.node.virtual_time"),
    ("channel.node.performer",),
    ("channel.node.polled",),
    ("channel.node.assemble",),
    ("channel.node.driven",),
    ("channel.node.keeping", "channel.node.attention", "channel.node.accounts"),
    ("channel.node.crew", "channel.node.friendly"),
    ("channel.node.node",),
    ("channel.node.local",),
    ("channel.watching", "channel.watching.errors", "channel.watching.limits", "channel.watching.allowances"),
    ("channel.watching.attendant", "channel.watching.client", "channel.watching.door"),
    ("channel.watching.metrics", "channel.watching.courier"),
    ("channel.watching.service",),
    ("testing", "testing.evm", "testing.session"),
    ("testing.difference", "testing.plugin"),
    ("testing.calls",),
    ("testing.walk",),
    ("testing.space",),
    ("testing.properties", "testing.channels"),
    ("channel.scaffold", "channel.scaffold.scaffold"),
    (
        "channel.inspect",
        "channel.inspect.errors",
        "channel.inspect.apps",
        "channel.inspect.states",
        "channel.inspect.signatures",
        "channel.inspect.kept",
    ),
    (
        "channel.inspect.bare",
        "channel.inspect.possibilities",
        "channel.inspect.onchain",
        "channel.inspect.contracts",
    ),
    ("channel.inspect.attempts", "channel.inspect.soundness"),
    ("channel.inspect.signed_state",),
    ("channel.inspect.inspection",),
    ("channel.inspect.report_json",),
    (
        "forcemove",
        "forcemove.__main__",
        "channel.cli.*",
        "channel.cli.demo.*",
        "channel.cli.demo.network.*",
        "channel.cli.channel.*",
        "channel.cli.lobby.*",
        "channel.cli.match.*",
        "channel.cli.person.*",
        "channel.cli.play.*",
        "scripts",
        "scripts.*",
    ),
)
SHELL = len(ORDER) - 1
"""The last line: programs, whose modules may import each other, though not in a circle."""

CORE_SEEN_BY_GAMES = frozenset(
    f"channel.{name}"
    for name in (
        "errors",
        "artifact",
        "game",
        "protocol.types",
        "protocol.outcome",
        "protocol.state",
        "protocol.encoding",
        "protocol.hashing",
        "protocol.app",
        "protocol.limits",
    )
)
FLOW_SEEN_BY_GAMES = frozenset(
    f"channel.flow.{name}"
    for name in ("actions", "channel", "keys", "place", "queue", "seat", "signed", "steps", "transport")
)
"""In modules of games that tell a flow: `flow`, `table`, and `demonstration`, which makes keys for its players, too."""
IMPURE = frozenset({"asyncio", "web3", "random", "secrets", "time", "os", "logging"})
KNOWN_TO = (
    ("channel.chain", "web3", frozenset({"web3", "eth_tester"})),
    ("channel.store", "databases", frozenset({"sqlalchemy", "sqlite3", "psycopg"})),
    ("channel.line", "NATS", frozenset({"nats"})),
)
"""Which room alone knows what, by which modules."""
SCREENS = frozenset({"click", "rich", "sys", "logging"})
"""Ways to a screen. What inspection finds is returned to its caller: a command, a page, a program."""


def line_of(module: str) -> int | None:
    """The line that a module is in, or None where it has no place. A full name goes before a pattern."""
    exact = next((index for index, line in enumerate(ORDER) if module in line), None)
    if exact is not None:
        return exact
    return next((index for index, line in enumerate(ORDER) if any(_matches(module, each) for each in line)), None)


def _matches(module: str, pattern: str) -> bool:
    return module.count(".") == pattern.count(".") and fnmatchcase(module, pattern)


def violations(imports: Imports) -> list[str]:
    """Every import that breaks the order or a ban, and every module that has no place."""
    found = [f"{module} has no place in the order" for module in sorted(imports) if line_of(module) is None]
    for module, imported in sorted(imports.items()):
        for name in sorted(imported):
            found += [f"{module} imports {name}: {reason}" for reason in _broken(module, name)]
    return found + _circles(imports)


def _broken(module: str, name: str) -> Iterator[str]:
    if name.split(".", maxsplit=1)[0] in PACKAGES and not _is_above(name, module):
        yield "it is not above"
    if _is_in(module, "channel") and _is_in(name, "games"):
        yield "a game arrives as a value or by entry point"
    if _is_in(module, "games") and _is_in(name, "channel") and name not in _seen_by(module):
        yield "games do not see this much of the channel"
    if (_is_in(module, "channel.protocol") or module == "channel.node.client") and name in IMPURE:
        yield "the core is pure"
    for room, what, names in KNOWN_TO:
        if name in names and _is_in(module, "channel") and not _is_in(module, room):
            yield f"only {room} knows {what}"
    if name in SCREENS and _is_in(module, "channel.inspect"):
        yield "inspection never prints"
    if _is_in(module, "channel.store") and _package(name) in {"channel.chain", "channel.node"}:
        yield "the journal knows no chain and no node"
    if {_package(module), _package(name)} == {"channel.flow", "channel.chain"}:
        yield "flows and chains do not know each other"


def _seen_by(module: str) -> frozenset[str]:
    """What a module of a game may see of `channel`."""
    kind = module.rsplit(".", maxsplit=1)[-1]
    if kind == "demonstration":
        return CORE_SEEN_BY_GAMES | FLOW_SEEN_BY_GAMES | {"channel.protocol.signing"}
    return CORE_SEEN_BY_GAMES | FLOW_SEEN_BY_GAMES if kind in {"flow", "table", "spectator"} else CORE_SEEN_BY_GAMES


def _is_above(name: str, module: str) -> bool:
    """Of a module without a place nothing is said: that it has none is said already."""
    line, own = line_of(name), line_of(module)
    return own is None or (line is not None and (line < own or line == own == SHELL))


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def _package(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _circles(imports: Imports) -> list[str]:
    ours = {module: imported & imports.keys() for module, imported in imports.items()}
    try:
        TopologicalSorter(ours).prepare()
    except CycleError as error:
        return ["in a circle: " + " > ".join(error.args[1])]
    return []
