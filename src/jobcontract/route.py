"""Owns what a route is. The routes themselves stand in `routes` and `operating_routes`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from jobcontract.permissions import Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One operation of the API. `permission` None means any signed-in person; `acts` means it needs a key. `instead`: who
    has this one is let in without the other."""

    name: str
    method: str
    path: str
    permission: Permission | None = None
    instead: Permission | None = None
    acts: bool = False
    public: bool = False

    def admits(self, permissions: Collection[Permission]) -> bool:
        """Whether somebody with these permissions is let in."""
        return self.permission is None or self.permission in permissions or self.instead in permissions
