"""What a watchtower counts, for Prometheus (https://prometheus.io)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from forcemove.chain.addresses import show_address
from forcemove.errors import ForcemoveError
from forcemove.protocol.machine.effects import operation_name
from forcemove.watchtower.budgeted_sender import AnswerResult
from forcemove.watchtower.service.worker import TowerSnapshot

__all__ = ["TowerMetrics"]


class TowerMetrics:
    """The numbers of one tower."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.accepted = Counter("forcemove_tower_hand_overs", "Hand-overs with a receipt", registry=registry)
        self.refused = Counter(
            "forcemove_tower_refused", "Hand-overs without one, by error", ["reason"], registry=registry
        )
        self._answers = Counter(
            "forcemove_tower_answers", "What became of answers", ["kind", "result"], registry=registry
        )
        self._spent = Counter("forcemove_tower_spent_wei", "What answers have cost", registry=registry)
        self._errors = Counter(
            "forcemove_tower_troubles", "What failed and is tried again", ["error"], registry=registry
        )
        self._channels = Gauge("forcemove_tower_channels", "Channels that are guarded", registry=registry)
        self._driving = Gauge("forcemove_tower_driving", "1 where this process drives the tower", registry=registry)
        self._silence = Gauge("forcemove_tower_seconds_since_look", "Since the chain was read last", registry=registry)
        self._left = Gauge(
            "forcemove_tower_budget_left_wei", "What may still be spent for a client", ["client"], registry=registry
        )

    def on_answer(self, paid: AnswerResult) -> None:
        """This has become of an answer."""
        result = "failed" if paid.error is not None else "undone" if paid.block is None else "mined"
        self._answers.labels(operation_name(paid.submission), result).inc()
        self._spent.inc(paid.cost)

    def on_error(self, error: Exception) -> None:
        """This has failed."""
        name = type(error).__name__ if isinstance(error, ForcemoveError) else "Mistake"
        self._errors.labels(name).inc()

    def text(self, snapshot: TowerSnapshot, silence: float) -> bytes:
        """All of them, in Prometheus's text format. `silence`: seconds since the chain was read."""
        self._channels.set(snapshot.channels)
        self._driving.set(snapshot.is_driving)
        self._silence.set(silence)
        for client, left in snapshot.left.items():
            self._left.labels(show_address(client)).set(left)
        return generate_latest(self._registry)
