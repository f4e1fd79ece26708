"""Owns what a route is. The routes themselves stand in `routes` and `operating_routes`."""

from __future__ import annotations

from dataclasses import dataclass

from jobcontract.permissions import Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One operation of the API. `permission` None means any signed-in person; `acts` means it needs a key."""

    name: str
    method: str
    path: str
    permission: Permission | None = None
    acts: bool = False
    public: bool = False
