"""Which file may import which: the order of all modules, and the bans that an order alone cannot say."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter

from tests.structure.imports import ROOTS, Imports

# Lowest first; a module imports only from lines above its own. `*` means one name, whatever it is.
ORDER: tuple[tuple[str, ...], ...] = (
    (
        "forcemove.*",
        "forcemove.protocol.hashing",
        "forcemove.protocol.codec",
        "forcemove.protocol.machine",
        "forcemove.contracts.place",
        "forcemove.watchtower.service",
    ),
    ("forcemove.protocol.errors", "forcemove.protocol.rule_errors", "forcemove.picture"),
    ("forcemove.protocol.types", "forcemove.artifact"),
    ("forcemove.protocol.outcome",),
    ("forcemove.protocol.codec.limits",),
    ("forcemove.protocol.state", "forcemove.protocol.codec.json_text", "forcemove.protocol.codec.depth"),
    ("forcemove.protocol.encoding", "forcemove.protocol.app", "forcemove.protocol.logs"),
    ("forcemove.protocol.signing", "forcemove.protocol.status", "forcemove.protocol.agreement"),
    ("forcemove.protocol.rules", "forcemove.protocol.machine.record"),
    ("forcemove.protocol.adjudication",),
    ("forcemove.protocol.machine.effects",),
    ("forcemove.protocol.machine.inputs",),
    ("forcemove.protocol.machine.channel",),
    ("forcemove.protocol.machine.responses", "forcemove.protocol.codec.wire", "forcemove.protocol.codec.msgpack_codec"),
    (
        "forcemove.protocol.machine.peer_messages",
        "forcemove.protocol.machine.automatic_actions",
        "forcemove.protocol.machine.results",
    ),
    ("forcemove.protocol.machine.chain_updates", "forcemove.protocol.machine.view_differences"),
    ("forcemove.protocol.machine.machine",),
    ("forcemove.history.entries", "forcemove.history.tokens"),
    ("forcemove.history.index", "forcemove.history.packing"),
    ("forcemove.history.derivation", "forcemove.history.history", "forcemove.history.summary"),
    ("forcemove.game",),
    ("forcemove.history.overview",),
    ("forcemove.registry", "forcemove.contracts"),
    ("forcemove.flow.actions", "forcemove.flow.history", "forcemove.flow.transport"),
    ("forcemove.flow.signed", "forcemove.flow.queue", "forcemove.flow.place"),
    ("forcemove.flow.steps", "forcemove.flow.seat"),
    ("forcemove.flow.keys", "forcemove.flow.channel"),
    ("forcemove_games", "forcemove_games.randomness", "forcemove_games.views.errors"),
    ("forcemove_games.views.faults",),
    ("forcemove_games.views.values",),
    ("forcemove_games.views.drafts", "forcemove_games.views.patches"),
    ("forcemove_games.views.playing",),
    ("forcemove_games.views",),
    ("forcemove_games.commitment", "forcemove_games.cards.errors"),
    ("forcemove_games.cards.curve",),
    ("forcemove_games.cards.hashing", "forcemove_games.cards.deck"),
    ("forcemove_games.cards.key_proof", "forcemove_games.cards.share_proof", "forcemove_games.cards.shuffle_proof"),
    ("forcemove_games.two_player", "forcemove_games.sra.arithmetic", "forcemove_games.sra.faults"),
    ("forcemove_games.discard_sra.cards",),
    ("forcemove_games.discard.tails", "forcemove_games.discard.errors"),
    (
        "forcemove_games.cheats",
        "forcemove_games.*.position",
        "forcemove_games.*.openings",
        "forcemove_games.sra.cipher",
    ),
    ("forcemove_games.discard.table", "forcemove_games.discard.steps"),
    ("forcemove_games.*.rules", "forcemove_games.sra.deck", "forcemove_games.discard.secrets"),
    ("forcemove_games.discard.hand",),
    ("forcemove_games.discard.moves", "forcemove_games.discard.board"),
    (
        "forcemove_games.*.bot",
        "forcemove_games.*.choices",
        "forcemove_games.*.cheats",
        "forcemove_games.*.table",
        "forcemove_games.sra.pile",
    ),
    ("forcemove_games.sra.player", "forcemove_games.*.picture"),
    ("forcemove_games.sra.table",),
    ("forcemove_games.*.game", "forcemove_games.*.flow", "forcemove_games.spectator"),
    ("forcemove_games.discard_sra.rules",),
    ("forcemove_games.discard_sra.table", "forcemove_games.discard_sra.bot"),
    ("forcemove_games.discard_sra.flow", "forcemove_games.discard_sra.picture", "forcemove_games.discard_sra.view"),
    ("forcemove_games.discard_sra.demonstration",),
    ("forcemove_games.*",),
    (
        "forcemove.chain.errors",
        "forcemove.chain.addresses",
        "forcemove.chain.block_time",
        "forcemove.chain.create2",
        "forcemove.chain.learned",
        "forcemove.chain.limits",
        "forcemove.chain.progress",
    ),
    ("forcemove.chain.http", "forcemove.chain.websocket", "forcemove.chain.ipc", "forcemove.chain.anvil"),
    ("forcemove.contracts.compiler",),
    ("forcemove.contracts.project",),
    ("forcemove.chain.reverts", "forcemove.chain.book", "forcemove.chain.transactions"),
    ("forcemove.chain.rpc", "forcemove.chain.book_file"),
    ("forcemove.chain.answers", "forcemove.chain.asking", "forcemove.chain.batching"),
    ("forcemove.chain.task_queue",),
    ("forcemove.chain.worker",),
    ("forcemove.chain.reading",),
    ("forcemove.chain.chain",),
    ("forcemove.chain.endpoints", "forcemove.chain.codec", "forcemove.chain.genuine", "forcemove.chain.factory"),
    ("forcemove.chain.token", "forcemove.chain.adjudicator", "forcemove.chain.verification"),
    ("forcemove.chain.deployment",),
    (
        "forcemove.chain.local",
        "forcemove.sender",
        "forcemove.sender.errors",
        "forcemove.sender.pricing",
        "forcemove.sender.transactions",
    ),
    (
        "forcemove.sender.observations",
        "forcemove.sender.offers",
        "forcemove.sender.requests",
        "forcemove.sender.timing",
        "forcemove.follower",
        "forcemove.follower.head",
        "forcemove.follower.errors",
    ),
    ("forcemove.sender.opinions",),
    ("forcemove.sender.bids", "forcemove.sender.lanes", "forcemove.sender.pending", "forcemove.sender.settlement"),
    ("forcemove.sender.approvals", "forcemove.sender.resubmission", "forcemove.sender.settling"),
    ("forcemove.sender.signing",),
    ("forcemove.sender.sender",),
    ("forcemove.follower.on_chain_view",),
    ("forcemove.follower.followed_channel", "forcemove.follower.cross_check"),
    ("forcemove.follower.blocks", "forcemove.follower.log_reader", "forcemove.follower.origins"),
    ("forcemove.follower.contract_views",),
    ("forcemove.follower.follower",),
    ("forcemove.follower.endpoint_viewer",),
    ("forcemove.follower.reported_channel",),
    ("forcemove.follower.endpoint_quorum",),
    ("forcemove.store", "forcemove.store.errors", "forcemove.store.records", "forcemove.store.schema"),
    ("forcemove.store.faults", "forcemove.store.migrations", "forcemove.store.statements", "forcemove.store.presence"),
    ("forcemove.store.same_file", "forcemove.store.private_file", "forcemove.store.clean_end"),
    ("forcemove.store.database", "forcemove.store.evidence"),
    ("forcemove.store.channels", "forcemove.store.history"),
    ("forcemove.store.leases", "forcemove.store.sqlite", "forcemove.store.postgresql"),
    ("forcemove.store.transactions", "forcemove.store.towers", "forcemove.store.meetings", "forcemove.store.session"),
    ("forcemove.store.transfer", "forcemove.store.pruning"),
    ("forcemove.store.journal",),
    ("forcemove.store.opening",),
    ("forcemove.transport", "forcemove.transport.limits"),
    ("forcemove.transport.errors", "forcemove.transport.terms"),
    ("forcemove.transport.offers", "forcemove.transport.links", "forcemove.transport.chat"),
    ("forcemove.transport.joins",),
    ("forcemove.transport.wire", "forcemove.transport.log", "forcemove.transport.faults"),
    ("forcemove.transport.remote_log",),
    ("forcemove.transport.reconnecting",),
    ("forcemove.transport.websocket", "forcemove.transport.jetstream", "forcemove.transport.messenger"),
    (
        "forcemove.transport.websocket.transport",
        "forcemove.transport.websocket.lobby",
        "forcemove.transport.jetstream.streams",
    ),
    ("forcemove.transport.websocket.connection",),
    (
        "forcemove.transport.jetstream.feed",
        "forcemove.transport.jetstream.publishing",
        "forcemove.transport.jetstream.stored_offer",
    ),
    ("forcemove.transport.jetstream.transport", "forcemove.transport.jetstream.live"),
    ("forcemove.transport.jetstream.session",),
    ("forcemove.transport.jetstream.lobby",),
    ("forcemove.transport.jetstream.connection",),
    ("forcemove.transport.connect",),
    (
        "forcemove.serving",
        "forcemove.serving.addresses",
        "forcemove.serving.errors",
        "forcemove.serving.files",
        "forcemove.serving.limits",
        "forcemove.serving.metrics",
    ),
    ("forcemove.serving.rate",),
    ("forcemove.serving.process",),
    ("forcemove.relay", "forcemove.relay.errors", "forcemove.relay.fairness", "forcemove.relay.limits"),
    ("forcemove.relay.metrics", "forcemove.relay.clients", "forcemove.relay.clients.sending"),
    ("forcemove.relay.admission", "forcemove.relay.admission.accounts"),
    ("forcemove.relay.admission.turns",),
    ("forcemove.relay.admission.frames", "forcemove.relay.admission.meter"),
    ("forcemove.relay.admission.listening",),
    ("forcemove.relay.storage", "forcemove.relay.storage.quota", "forcemove.relay.storage.recent"),
    ("forcemove.relay.storage.schema", "forcemove.relay.storage.worker"),
    ("forcemove.relay.storage.reader", "forcemove.relay.storage.space"),
    ("forcemove.relay.storage.deleting", "forcemove.relay.storage.room"),
    ("forcemove.relay.storage.store",),
    ("forcemove.relay.tables",),
    ("forcemove.relay.housekeeping",),
    ("forcemove.relay.offers", "forcemove.relay.offers.listing", "forcemove.relay.offers.shown"),
    ("forcemove.relay.offers.seating",),
    ("forcemove.relay.keeping", "forcemove.relay.offers.lobby", "forcemove.relay.proofs"),
    ("forcemove.relay.clients.services",),
    ("forcemove.relay.clients.seats",),
    ("forcemove.relay.offers.visiting",),
    ("forcemove.relay.clients.peer", "forcemove.relay.settings"),
    ("forcemove.relay.server",),
    (
        "forcemove.node.ports",
        "forcemove.node.keys",
        "forcemove.node.clock",
        "forcemove.node.nonces",
        "forcemove.node.time_heap",
        "forcemove.node.resync",
        "forcemove.node.tx_requests",
        "forcemove.node.events",
        "forcemove.node.metadata",
        "forcemove.node.policy",
        "forcemove.node.errors",
        "forcemove.node.chain_worker",
        "forcemove.node.outbox",
        "forcemove.follower.head",
    ),
    ("forcemove.node.memory", "forcemove.node.polling", "forcemove.node.histories", "forcemove.node.recorder"),
    (
        "forcemove.watchtower",
        "forcemove.watchtower.errors",
        "forcemove.watchtower.appointment",
        "forcemove.watchtower.settings",
    ),
    ("forcemove.watchtower.acceptance", "forcemove.watchtower.receipts"),
    ("forcemove.watchtower.watched_channel",),
    ("forcemove.watchtower.chain_watch", "forcemove.watchtower.budgeted_sender"),
    ("forcemove.watchtower.channel_guard",),
    ("forcemove.watchtower.tower",),
    ("forcemove.node.client", "forcemove.node.virtual_time"),
    ("forcemove.node.tx_submitter", "forcemove.node.friendly"),
    ("forcemove.node.effect_executor",),
    ("forcemove.node.assemble",),
    ("forcemove.node.managed_channel", "forcemove.node.setup"),
    ("forcemove.node.leases", "forcemove.node.ready_set", "forcemove.node.account_worker", "forcemove.node.wallets"),
    ("forcemove.node.workers",),
    ("forcemove.node.channel_builder", "forcemove.node.intake"),
    ("forcemove.node.node",),
    ("forcemove.node.local",),
    (
        "forcemove.watchtower.client_errors",
        "forcemove.watchtower.service.limits",
    ),
    (
        "forcemove.watchtower.service.worker",
        "forcemove.watchtower.client",
        "forcemove.watchtower.service.connection_limit",
    ),
    ("forcemove.watchtower.service.metrics", "forcemove.watchtower.publisher"),
    ("forcemove.watchtower.service.server",),
    ("forcemove.testing", "forcemove.testing.evm", "forcemove.testing.session"),
    ("forcemove.testing.difference", "forcemove.testing.plugin"),
    ("forcemove.testing.calls",),
    ("forcemove.testing.walk",),
    ("forcemove.testing.space",),
    ("forcemove.testing.properties", "forcemove.testing.channels", "forcemove.testing.false_moves"),
    ("forcemove.scaffold", "forcemove.scaffold.scaffold"),
    (
        "forcemove.inspect",
        "forcemove.inspect.errors",
        "forcemove.inspect.apps",
        "forcemove.inspect.deployments",
        "forcemove.inspect.states",
        "forcemove.inspect.signatures",
        "forcemove.inspect.journal_channel",
        "forcemove.inspect.pruning",
    ),
    (
        "forcemove.inspect.bare",
        "forcemove.inspect.possibilities",
        "forcemove.inspect.onchain",
        "forcemove.inspect.contracts",
    ),
    ("forcemove.inspect.attempts", "forcemove.inspect.soundness"),
    ("forcemove.inspect.signed_state",),
    ("forcemove.inspect.inspection",),
    ("forcemove.inspect.report_json", "forcemove.inspect.history_json"),
    ("forcemove.inspect.channel_json",),
    ("forcemove.text.durations", "forcemove.text.harmless", "forcemove.text.names"),
    ("forcemove.text.amounts", "forcemove.text.depths"),
    ("forcemove.text", "forcemove.text.entries", "forcemove.text.explanations"),
    ("forcemove.text.reports", "forcemove.text.deployments"),
    (
        "forcemove.tables",
        "forcemove.tables.errors",
        "forcemove.tables.options",
        "forcemove.tables.standby",
        "forcemove.tables.meetings",
        "forcemove.tables.playing",
        "forcemove.tables.playing.content",
        "forcemove.tables.playing.connectivity",
        "forcemove.tables.playing.leaving",
        "forcemove.tables.playing.rounds",
    ),
    ("forcemove.tables.ports", "forcemove.tables.playing.ends", "forcemove.tables.carrying", "forcemove.tables.chat"),
    ("forcemove.tables.playing.help",),
    (
        "forcemove.tables.playing.match",
        "forcemove.tables.playing.bot",
        "forcemove.tables.playing.person",
        "forcemove.tables.defence",
    ),
    ("forcemove.tables.service", "forcemove.tables.meetings.meeting", "forcemove.tables.meetings.tokens"),
    ("forcemove.tables.meetings.terms",),
    ("forcemove.tables.meetings.venues",),
    (
        "forcemove.tables.meetings.stored",
        "forcemove.tables.meetings.lobby",
    ),
    ("forcemove.tables.channel_game", "forcemove.tables.log_game"),
    ("forcemove.tables.table",),
    ("forcemove.tables.watching", "forcemove.tables.watching.watch_link"),
    ("forcemove.tables.watching.spectator",),
    ("forcemove.tables.watching.watched_tables",),
    ("forcemove.tables.running", "forcemove.tables.running.playable", "forcemove.tables.running.running_table"),
    ("forcemove.tables.running.lobby_follower", "forcemove.tables.running.open_tables"),
    (
        "forcemove.playground",
        "forcemove.playground.attacks",
        "forcemove.playground.chain",
        "forcemove.playground.controls",
        "forcemove.playground.network",
    ),
    ("forcemove.playground.balances", "forcemove.playground.player"),
    ("forcemove.playground.counterparty",),
    ("forcemove.playground.match",),
    ("forcemove.playground.tours",),
    ("forcemove.playground.playground",),
    ("forcemove.playground.buttons",),
    ("forcemove.demo", "forcemove.demo.errors", "forcemove.demo.names", "forcemove.demo.network"),
    (
        "forcemove.demo.budget",
        "forcemove.demo.journals",
        "forcemove.demo.results",
        "forcemove.demo.network.attacks",
        "forcemove.demo.network.players",
    ),
    ("forcemove.demo.ports", "forcemove.demo.network.local_network"),
    ("forcemove.demo.environment", "forcemove.demo.network.scenarios"),
    ("forcemove.demo.table",),
    ("forcemove.demo.scenarios", "forcemove.demo.unfinished"),
    ("forcemove.demo.player_checks",),
    ("forcemove.browser", "forcemove.browser.templating", "forcemove.browser.view", "forcemove.browser.drawing"),
    ("forcemove.browser.drawing.words", "forcemove.browser.drawing.remembered"),
    (
        "forcemove.browser.drawing.money",
        "forcemove.browser.drawing.answers",
        "forcemove.browser.drawing.happenings",
        "forcemove.browser.drawing.listing",
        "forcemove.browser.drawing.outlook",
        "forcemove.browser.drawing.safety",
    ),
    (
        "forcemove.browser.drawing.board",
        "forcemove.browser.drawing.inspector",
        "forcemove.browser.drawing.timeline",
    ),
    ("forcemove.browser.drawing.timeline_svg",),
    ("forcemove.browser.render",),
    ("forcemove.browser.security", "forcemove.browser.history_reader"),
    ("forcemove.browser.pages",),
    (
        "forcemove.browser.actions",
        "forcemove.browser.events",
        "forcemove.browser.table_pages",
    ),
    ("forcemove.browser.page_seat", "forcemove.browser.server"),
    (
        "forcemove.browser.lobby",
        "forcemove.browser.lobby.view",
        "forcemove.browser.wallet",
        "forcemove.browser.wallet.view",
    ),
    ("forcemove.browser.lobby.drafts", "forcemove.browser.lobby.render", "forcemove.browser.wallet.render"),
    ("forcemove.browser.lobby.lobby_pages", "forcemove.browser.wallet.wallet_pages"),
    ("forcemove.browser.lobby.routes", "forcemove.browser.wallet.routes"),
    (
        "forcemove.browser.inspecting",
        "forcemove.browser.inspecting.render",
        "forcemove.browser.inspecting.subjects",
    ),
    ("forcemove.browser.inspecting.inspecting", "forcemove.browser.inspecting.uploads"),
    ("forcemove.browser.inspecting.refusals",),
    ("forcemove.browser.watching", "forcemove.browser.watching.view"),
    ("forcemove.browser.watching.routes",),
    ("forcemove.browser.inspecting.routes",),
    ("forcemove.browser.playground", "forcemove.browser.playground.playground_pages"),
    (
        "forcemove",
        "forcemove.__main__",
        "forcemove.cli.*",
        "forcemove.cli.demo.*",
        "forcemove.cli.demo.network.*",
        "forcemove.cli.channel.*",
        "forcemove.cli.play.*",
        "scripts",
        "scripts.*",
    ),
)
SHELL = len(ORDER) - 1
"""The last line: programs, whose modules may import each other, though not in a circle."""

CORE_SEEN_BY_GAMES = frozenset(
    f"forcemove.{name}"
    for name in (
        "errors",
        "artifact",
        "contracts",
        "game",
        "picture",
        "protocol.types",
        "protocol.outcome",
        "protocol.state",
        "protocol.encoding",
        "protocol.hashing",
        "protocol.app",
        "protocol.codec.limits",
    )
)
FLOW_SEEN_BY_GAMES = frozenset(
    f"forcemove.flow.{name}"
    for name in ("actions", "channel", "keys", "place", "queue", "seat", "signed", "steps", "transport")
)
"""In modules of games that tell a flow: `flow`, `table`, and `demonstration`, which makes keys for its players, too."""
IMPURE = frozenset({"asyncio", "web3", "random", "secrets", "time", "os", "logging"})
PURE = ("forcemove.protocol", "forcemove.history", "forcemove.node.client")
KNOWN_TO = (
    ("forcemove.chain", "web3", frozenset({"web3", "eth_tester"})),
    ("forcemove.store", "databases", frozenset({"sqlalchemy", "sqlite3", "psycopg"})),
    ("forcemove.transport", "NATS", frozenset({"nats"})),
)
"""Which room alone knows what, by which modules."""
SCREENLESS = (
    ("forcemove.inspect", "inspection never prints"),
    ("forcemove.tables", "a table speaks through its port"),
    ("forcemove.text", "texts are values"),
    ("forcemove.playground", "a page or a program shows it"),
    ("forcemove.demo", "a program shows it"),
)
"""Rooms that know no screen, with the reason."""
SCREENS = frozenset({"click", "rich", "prompt_toolkit", "sys", "logging"})
"""Ways to a screen. What inspection finds is returned to its caller, and a table speaks through a port: to a command, a
page, a program."""


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
    if name.split(".", maxsplit=1)[0] in ROOTS and not _is_above(name, module):
        yield "it is not above"
    if _is_in(module, "forcemove") and _is_in(name, "forcemove_games"):
        yield "a game arrives as a value or by entry point"
    if _is_in(module, "forcemove_games") and _is_in(name, "forcemove") and name not in _seen_by(module):
        yield "games do not see this much of the channel"
    if any(_is_in(module, each) for each in PURE) and name in IMPURE:
        yield "the core is pure"
    for room, what, names in KNOWN_TO:
        if name in names and _is_in(module, "forcemove") and not _is_in(module, room):
            yield f"only {room} knows {what}"
    yield from (why for room, why in SCREENLESS if name in SCREENS and _is_in(module, room))
    if _is_in(module, "forcemove.store") and _package(name) in {"forcemove.chain", "forcemove.node"}:
        yield "the journal knows no chain and no node"
    if {_package(module), _package(name)} == {"forcemove.flow", "forcemove.chain"}:
        yield "flows and chains do not know each other"


def _seen_by(module: str) -> frozenset[str]:
    """What a module of a game may see of `channel`."""
    kind = module.rsplit(".", maxsplit=1)[-1]
    if kind == "demonstration":
        return CORE_SEEN_BY_GAMES | FLOW_SEEN_BY_GAMES | {"forcemove.protocol.signing"}
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
