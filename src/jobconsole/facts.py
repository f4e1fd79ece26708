"""Owns the facts that every screen shares, made of settings, connection and link. Pure; decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobconsole.commands.situation import Situation
from jobconsole.present.frame import Frame
from jobconsole.present.link import Link
from jobconsole.settings import Settings

if TYPE_CHECKING:
    from jobconsole.connection import Connection


def frame_of(settings: Settings, connection: Connection | None) -> Frame:
    """What the top line says at its left."""
    return Frame(
        profile=settings.profile,
        production=settings.production,
        read_only=settings.read_only,
        zone=settings.zone,
        tenant=connection.role.tenant if connection else "",
        person=connection.session.person.id if connection else "",
        role=connection.role.role.value if connection else "",
        stopped=connection.stopped_words(settings.zone) if connection else "",
        plan=connection.plan_words() if connection else "",
        alarms=connection.alarm_words() if connection else "",
    )


def situation_at(place: str, settings: Settings, connection: Connection | None, link: Link) -> Situation:
    """The facts that decide at `place` before it adds its own selection."""
    return Situation(
        place=place,
        tenant=connection.role.tenant if connection else "",
        permissions=frozenset(connection.role.permissions if connection else ()),
        signed_in=connection is not None,
        connected=link.connected,
        read_only=settings.read_only,
        tenants=len(connection.session.tenants) if connection else 0,
        stopped=connection.watch.stopped if connection else None,
        stopped_by_me=connection.stopped_by_me if connection else False,
        live_plans=len(connection.watch.plans) if connection else 0,
    )
