"""What a relay counts, for Prometheus (https://prometheus.io)."""

from __future__ import annotations

from forcemove.serving.metrics import MetricsRegistry

_FRESH = 1.0
"""Seconds for which the text of the metrics is used again."""


class Metrics:
    """The numbers of one relay."""

    def __init__(self) -> None:
        self._registry = registry = MetricsRegistry("relay")
        self._made, self._text = -_FRESH, b""
        self.connections = registry.gauge("connections", "Connections that are open")
        self.tables = registry.gauge("tables", "Tables that are kept")
        self.in_use = registry.gauge("tables_in_use", "Tables with a connection")
        self.entries = registry.counter("entries", "Entries that were kept")
        self.bytes = registry.counter("entry_bytes", "Bytes of entries that were kept")
        self.refused = registry.counter("refused", "What was refused", "reason")
        self.closed = registry.counter("closed", "Connections that the relay has closed", "reason")
        self.expired = registry.counter("tables_expired", "Tables that were deleted")
        self.commit_seconds = registry.histogram("commit_seconds", "How long commits take")

    def kept(self, entries: int, size: int) -> None:
        """This many entries, of this many bytes, are on disk."""
        self.entries.inc(entries)
        self.bytes.inc(size)

    def text(self, now: float) -> bytes:
        """All numbers, in Prometheus's text format; the text is made once a second at most. `now`: seconds that do not
        go back."""
        if now >= self._made + _FRESH:
            self._made, self._text = now, self._registry.text()
        return self._text
