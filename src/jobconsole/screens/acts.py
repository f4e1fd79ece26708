"""Owns what every act of an operator shares: from where it is asked, and its headless command with where it is run.

An act is asked in an order's dialog (`order_form`); what it says before stands in `present/acts`, and it runs the function
of `client/acts` that the headless twin runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.equivalent import equivalent, typed_instant

if TYPE_CHECKING:
    from jobconsole.screens.order_form import Given
    from jobconsole.screens.place import PlaceScreen

WHY = "Why; everybody who sees it reads it"


def where_of(screen: PlaceScreen) -> Mapping[str, str]:
    """The options without which a shell would act elsewhere: profile and tenant, where there is a choice."""
    shell = screen.shell
    where: dict[str, str] = {}
    if shell.frame.profile not in ("", "default"):
        where["profile"] = shell.frame.profile
    if shell.situation(screen.PLACE).tenants > 1 and shell.tenant:
        where["tenant"] = shell.tenant
    return where


def command_of(screen: PlaceScreen, words: Sequence[str], *, until: bool = False) -> Callable[[Given], str]:
    """The headless command with what was typed: `--reason`, and `--until` where the act takes one."""
    where = where_of(screen)

    def command(given: Given) -> str:
        options: dict[str, str | None] = {"reason": given.reason}
        if until:
            options["until"] = typed_instant(given.until)
        return equivalent(words, options, where=where)

    return command
