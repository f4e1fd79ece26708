"""Owns how a job is named to people, where nobody said. Words in, words out; never an input."""

from __future__ import annotations


def about(subject: str | None, customer: str | None, workspace: str | None) -> str | None:
    """Whom or what a job is for: as it was said, else its customer or workspace."""
    if subject:
        return subject
    if customer and workspace:
        return f"{customer} / {workspace}"
    return customer or workspace
