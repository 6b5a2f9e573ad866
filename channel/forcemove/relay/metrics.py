"""What a relay counts, for Prometheus (https://prometheus.io)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

__all__ = ["Metrics"]


_FRESH = 1.0
"""Seconds for which the text is not made anew."""


class Metrics:
    """The numbers of one relay."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._made, self._text = -_FRESH, b""
        self.connections = Gauge("forcemove_relay_connections", "Connections that are open", registry=registry)
        self.tables = Gauge("forcemove_relay_tables", "Tables that are kept", registry=registry)
        self.in_use = Gauge("forcemove_relay_tables_in_use", "Tables with a connection", registry=registry)
        self.entries = Counter("forcemove_relay_entries", "Entries that were kept", registry=registry)
        self.bytes = Counter("forcemove_relay_entry_bytes", "Bytes of entries that were kept", registry=registry)
        self.refused = Counter("forcemove_relay_refused", "What was refused", ["reason"], registry=registry)
        self.closed = Counter(
            "forcemove_relay_closed", "Connections that the relay has closed", ["reason"], registry=registry
        )
        self.expired = Counter("forcemove_relay_tables_expired", "Tables that were deleted", registry=registry)
        self.commit_seconds = Histogram("forcemove_relay_commit_seconds", "How long commits take", registry=registry)

    def kept(self, entries: int, size: int) -> None:
        """So many entries of so many bytes are on disk."""
        self.entries.inc(entries)
        self.bytes.inc(size)

    def text(self, now: float) -> bytes:
        """All of them, in Prometheus's text format, made once a second whoever asks. `now`: seconds that do not go
        back."""
        if now >= self._made + _FRESH:
            self._made, self._text = now, generate_latest(self._registry)
        return self._text
