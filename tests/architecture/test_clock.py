"""Nothing on the service's side decides by the machine's clock or zone: the database's `jobs.now()` is the one clock."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.tree import ROOT, parsed, python_files

pytestmark = pytest.mark.xdist_group("tree")  # each file is parsed once

BANNED = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("time", "time"),
    ("time", "time_ns"),
    ("time", "localtime"),
    ("time", "gmtime"),
    ("datetime", "fromtimestamp"),
}
OTHER_HOUSES = (
    ROOT / "examples" / "payments" / "bank" / "__main__.py",
    ROOT / "src" / "jobservice" / "bootstrap" / "phone.py",
)
"""The example's bank stands for another company, the demo's phone for a device of a person's: each has its own clock,
and no service process runs them."""


def test_no_wall_clock_is_read() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in python_files("src/jobservice", "src/jobcontract", "examples")
        if path not in OTHER_HOUSES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and (node.func.value.id, node.func.attr) in BANNED
    ]
    assert found == []
