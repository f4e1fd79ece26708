"""`jobconsole demo` in front of its terminal: what it started is stopped, also where that terminal is gone."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from pydantic import SecretStr

from jobconsole import demo
from jobconsole.demo_service import DemoService


class Started:
    """A demo's service as its console sees it, with what happened to it."""

    def __init__(self) -> None:
        self.process: object = object()
        self.url, self.data, self.stopped = "http://127.0.0.1:1", Path("demo"), False

    def person(self, wanted: str) -> SimpleNamespace:
        return SimpleNamespace(token=SecretStr("jc_demo"), tenants=("leeds",), name=wanted)

    def stop(self) -> None:
        self.stopped = True


class HungUp:
    """A console whose terminal hangs up while it runs."""

    return_code = 129

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch

    def run(self) -> None:
        def fail(*said: object, **how: object) -> None:
            raise OSError(5, "Input/output error")

        self.patch.setattr(click, "echo", fail)


def test_a_terminal_that_hung_up_does_not_keep_the_service_from_being_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    service = Started()

    def start(**how: Any) -> Started:
        return service

    monkeypatch.setattr(DemoService, "start", start)
    monkeypatch.setattr(demo, "Console", lambda *_, **__: HungUp(monkeypatch))
    monkeypatch.setattr(demo, "config_file", lambda: tmp_path / "config.toml")
    assert demo.run_console("m.ito", None) == 129
    assert service.stopped
