"""What a service counts, for Prometheus (https://prometheus.io), and the page that shows it."""

from __future__ import annotations

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class MetricsRegistry:
    """The numbers of one service, whose names all begin with `forcemove_` and the service's own name."""

    def __init__(self, service: str) -> None:
        """`service`: the name, such as "relay"."""
        self._registry, self._prefix = CollectorRegistry(), f"forcemove_{service}_"

    def counter(self, name: str, what: str, *labels: str) -> Counter:
        """A number that only grows, one for each value of the labels. `what`: its help text."""
        return Counter(self._prefix + name, what, labels, registry=self._registry)

    def gauge(self, name: str, what: str, *labels: str) -> Gauge:
        """A number that rises and falls, one for each value of the labels. `what`: its help text."""
        return Gauge(self._prefix + name, what, labels, registry=self._registry)

    def histogram(self, name: str, what: str) -> Histogram:
        """How often each size was seen. `what`: its help text."""
        return Histogram(self._prefix + name, what, registry=self._registry)

    def text(self) -> bytes:
        """All numbers, in Prometheus's text format."""
        return generate_latest(self._registry)


def metrics_page(text: bytes) -> web.Response:
    """The answer to a request for the metrics, which are `text`."""
    return web.Response(body=text, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})
