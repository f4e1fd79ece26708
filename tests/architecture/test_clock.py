"""Nothing on the service's side decides by the machine's clock or zone: the database's `jobs.now()` is the one clock."""

from __future__ import annotations

import ast

from tests.architecture.tree import ROOT, parsed, python_files

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
OTHER_HOUSE = ROOT / "examples" / "payments" / "bank" / "__main__.py"
"""The example's bank stands for another company: it books by its own clock, and no service process runs it."""


def test_no_wall_clock_is_read() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in python_files("src/jobservice", "src/jobcontract", "examples")
        if path != OTHER_HOUSE
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and (node.func.value.id, node.func.attr) in BANNED
    ]
    assert found == []
