"""Owns how tests are spread over test processes: a group whole, every other file whole, so that what a file sets up is set
up once; groups and what takes long first, so that no process ends long after the others.

xdist by itself deals out each test that is in no group alone, and after each report it counts all that it ever dealt out:
for seven thousand tests that costs the process which deals nine seconds.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

QUICK = ("rules", "present", "contract", "commands", "records", "delivery", "architecture")
"""Folders whose tests take milliseconds: they fill what time is left at the end."""


class FilesAndGroups(LoadGroupScheduling):  # type: ignore[misc]  # xdist ships no types
    """Deals out groups and files."""

    def _split_scope(self, nodeid: str) -> str:
        scope: str = super()._split_scope(nodeid)
        return scope.partition("::")[0]  # the name of a group, which xdist writes behind the test's, else the file


class Spreading:
    """The hooks through which the run learns of it, in every process."""

    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> FilesAndGroups:
        """Files and groups are dealt out whole."""
        return FilesAndGroups(config, log)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Groups first, then files, the quick ones last; each as it was collected."""
        items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if item.get_closest_marker("xdist_group") is not None:
        return 0
    return 2 if item.path.parent.name in QUICK else 1


def import_own_share(worker: str, workers: int) -> None:
    """Imports every so many-th file of tests, before all are collected in the same order: on a fresh checkout each file is
    compiled, its assertions rewritten, by one process and not by every one of them at the same time."""
    root = Path(__file__).parents[1]
    files = sorted((root / "tests").rglob("test_*.py"))
    for path in files[int(worker.removeprefix("gw")) % workers :: workers]:
        with suppress(Exception, pytest.skip.Exception):  # what cannot be imported is reported when it is collected
            importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))
