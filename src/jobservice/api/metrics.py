"""Owns the figures that the API counts of itself, and shows those that Workers counted, in a registry of its own.

Never carries a tenant, person, item or token: whoever reaches the listener may read them (loopback, unless TLS or a
stated TLS proxy is set; such a proxy is not meant to pass /metrics on). They show load, never content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_COUNTED = (
    ("schedules-parked", "jobs_schedules_parked", "Schedules that cannot be computed, in all tenants."),
    ("occurrences-late", "jobs_occurrences_late", "Occurrences that are due and were not started, in all tenants."),
    ("dead-letters", "jobs_dead_letters", "Occurrences that no machine tries again, in all tenants."),
    ("alarms-unacknowledged", "jobs_alarms_unacknowledged", "Open alarms that nobody looks after, in all tenants."),
    ("dead-letters-leaving", "jobs_dead_letters_leaving", "Dead letters that retention removes within a day."),
)
"""What a Worker counts, the gauge it is shown as, and what it says; counted every few seconds, to 100,000."""
_ALARMS_OPEN = "alarms-open."
"""How the figures of open alarms begin; behind it stands their kind."""
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Requests by route and status, their duration, streams open, hints sent, the pool's own figures."""

    def __init__(self, pool: Callable[[], Mapping[str, int]], streams: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "jobs_api_requests", "Requests answered, by route and status.", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "jobs_api_request_seconds",
            "Seconds until the answer was sent, streams left out.",
            ["route"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.hints = Counter("jobs_api_hints_sent", "Hints sent on event streams.", registry=self.registry)
        self._present = _Present(pool, streams)
        self.registry.register(self._present)

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count one answered request. `route` is a name from the route list or `unknown`."""
        self.requests.labels(route, str(status)).inc()
        if route != "events":
            self.seconds.labels(route).observe(seconds)

    def text(self, counted: Mapping[str, int]) -> bytes:
        """The figures in Prometheus' text form, with those that a Worker `counted`."""
        self._present.counted = counted
        return generate_latest(self.registry)


class _Present(Collector):
    """Figures that are read when asked for, not counted."""

    def __init__(self, pool: Callable[[], Mapping[str, int]], streams: Callable[[], int]) -> None:
        self._pool = pool
        self._streams = streams
        self.counted: Mapping[str, int] = {}

    def collect(self) -> Iterable[Metric]:
        """The gauges as they are now."""
        yield GaugeMetricFamily("jobs_api_streams_open", "Event streams open now.", value=self._streams())
        pool = self._pool()
        for name, words in (
            ("pool_size", "Connections of the pool."),
            ("pool_available", "Connections that are free."),
            ("requests_waiting", "Requests that wait for a connection."),
        ):
            yield GaugeMetricFamily(f"jobs_api_{name}", words, value=pool.get(name, 0))
        yield from _alarms(self.counted)
        for figure, gauge, words in _COUNTED:
            if figure in self.counted:
                yield GaugeMetricFamily(gauge, words, value=self.counted[figure])


def _alarms(counted: Mapping[str, int]) -> Iterable[Metric]:
    """Open alarms by kind, where a Worker counted them."""
    kinds = {name.removeprefix(_ALARMS_OPEN): value for name, value in counted.items() if name.startswith(_ALARMS_OPEN)}
    if not kinds:
        return
    family = GaugeMetricFamily("jobs_alarms_open", "Alarms that are open, in all tenants, by kind.", labels=["kind"])
    for kind, value in sorted(kinds.items()):
        family.add_metric([kind], value)
    yield family
