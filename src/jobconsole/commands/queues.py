"""Owns the commands of work queues."""

from __future__ import annotations

from jobconsole.commands.command import Command

QUEUE_COMMANDS: tuple[Command, ...] = ()
