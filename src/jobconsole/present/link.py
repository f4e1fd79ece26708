"""Owns how the connection to the service is said: its state, its age, when it is tried again. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum


class LinkState(StrEnum):
    """How things stand with the service; the value is the word on the screen."""

    STARTING = "starting"
    SIGNED_OUT = "signed out"
    CONNECTING = "connecting"
    LIVE = "live"
    PAUSED = "paused"
    """Live, but the person holds changes back."""
    STALE = "stale"
    """What is shown is of an earlier time; acts are refused."""


SIGNS = {
    LinkState.STARTING: "…",
    LinkState.SIGNED_OUT: "○",
    LinkState.CONNECTING: "…",
    LinkState.LIVE: "●",
    LinkState.PAUSED: "‖",
    LinkState.STALE: "▲",
}
STYLES = {
    LinkState.LIVE: "$text-success",
    LinkState.PAUSED: "$text-warning",
    LinkState.STALE: "bold $text-error",
    LinkState.SIGNED_OUT: "$text-warning",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The connection now. Moments are `time.monotonic()` seconds."""

    state: LinkState
    heard: float | None = None
    """When the service was last heard from."""
    since: datetime | None = None
    """Service time from which what is shown is stale."""
    retry: float | None = None
    """When it is tried again."""

    @property
    def connected(self) -> bool:
        """Whether acts may be sent: what is on screen is what the service has."""
        return self.state in {LinkState.LIVE, LinkState.PAUSED}


def words(link: Link, now: float, zone: tzinfo, *, short: bool = False) -> str:
    """The link in words: `live · 1 s`, `stale since 12:04:31 · trying again in 4 s`. `short` for narrow screens."""
    if link.state is LinkState.STALE and link.since is not None:
        text = f"stale since {link.since.astimezone(zone):%H:%M:%S}"
        if link.retry is not None and not short:
            left = round(link.retry - now)
            text += f" · trying again in {left} s" if left > 0 else " · trying again"
        return text
    if link.connected and link.heard is not None:
        return f"{link.state} · {age(now - link.heard)}"
    return str(link.state)


def age(seconds: float) -> str:
    """A span in its largest unit: `1 s`, `3 min`, `2 h`, `5 d`. Never negative."""
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"
