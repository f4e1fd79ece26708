"""Owns where the console keeps files of its own: the platform's folders (XDG on Linux), nothing else. Reads nothing."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_config_path

PROGRAM = "jobconsole"


def config_file() -> Path:
    """The person's configuration; need not exist."""
    return user_config_path(PROGRAM, appauthor=False) / "config.toml"


def filters_file(profile: str) -> Path:
    """The filters that the person kept in `profile`; need not exist."""
    return user_config_path(PROGRAM, appauthor=False) / "filters" / f"{profile}.json"
