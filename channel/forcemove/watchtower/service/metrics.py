"""What a watchtower counts, for Prometheus (https://prometheus.io)."""

from __future__ import annotations

from forcemove.chain.addresses import show_address
from forcemove.errors import ForcemoveError
from forcemove.protocol.machine.effects import operation_name
from forcemove.serving.metrics import MetricsRegistry
from forcemove.watchtower.budgeted_sender import AnswerResult
from forcemove.watchtower.service.worker import TowerSnapshot


class TowerMetrics:
    """The numbers of one tower."""

    def __init__(self) -> None:
        self._registry = registry = MetricsRegistry("tower")
        self.accepted = registry.counter("appointments", "Appointments with a receipt")
        self.refused = registry.counter("refused", "Appointments without one, by error", "reason")
        self._answers = registry.counter("answers", "What became of answers", "kind", "result")
        self._spent = registry.counter("spent_wei", "What answers have cost")
        self._errors = registry.counter("troubles", "What failed and is tried again", "error")
        self._channels = registry.gauge("channels", "Channels that are guarded")
        self._driving = registry.gauge("driving", "1 where this process drives the tower")
        self._silence = registry.gauge("seconds_since_look", "Since the chain was read last")
        self._left = registry.gauge("budget_left_wei", "What may still be spent for a client", "client")

    def on_answer(self, paid: AnswerResult) -> None:
        """Count what became of an answer, and its cost."""
        result = "failed" if paid.error is not None else "undone" if paid.block is None else "mined"
        self._answers.labels(operation_name(paid.submission), result).inc()
        self._spent.inc(paid.cost)

    def on_error(self, error: Exception) -> None:
        """Count an error."""
        name = type(error).__name__ if isinstance(error, ForcemoveError) else "Mistake"
        self._errors.labels(name).inc()

    def text(self, snapshot: TowerSnapshot, silence: float) -> bytes:
        """All numbers, in Prometheus's text format. `silence`: seconds since the chain was read last."""
        self._channels.set(snapshot.channels)
        self._driving.set(snapshot.is_driving)
        self._silence.set(silence)
        for client, left in snapshot.left.items():
            self._left.labels(show_address(client)).set(left)
        return self._registry.text()
