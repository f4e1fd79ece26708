"""Owns running a twin against the fake service, as a person typed it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from jobconsole import cli_connection
from jobconsole.cli_twins import TWINS
from jobconsole.client.fake import FakeService
from jobconsole.client.service import Service
from jobconsole.settings import Settings, load


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """The command line in front of a fake service; every call is signed in as the person it names."""

    fake: FakeService
    patch: pytest.MonkeyPatch
    folder: Path

    def __call__(self, *words: str, person: str = "m.ito", stdin: str | None = None) -> Result:
        """Run `jobconsole WORDS` with `stdin` piped in."""

        def connect(typed: Mapping[str, object]) -> tuple[Service, Settings]:
            settings = load(typed, file=self.folder / "config.toml", environ={"TZ": "UTC"})
            return self.fake.service(person, tenant=settings.tenant), settings

        self.patch.setattr(cli_connection, "connect", connect)
        root = click.Group("jobconsole", commands={command.name or "": command for command in TWINS})
        return CliRunner().invoke(root, list(words), input=stdin, catch_exceptions=False)

    def json(self, *words: str, person: str = "m.ito", stdin: str | None = None) -> Any:
        """Run it with `--json`; it must have gone well."""
        result = self(*words, "--json", person=person, stdin=stdin)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)
