"""Rows leave as CSV in one way only: `jobcontract.csv_text` (MONEY.md 28)."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.tree import ROOT, parsed, python_files

pytestmark = [pytest.mark.xdist_group("tree"), pytest.mark.requirement("MONEY-28")]


def imported(node: ast.AST) -> set[str]:
    """The modules that a statement imports."""
    if isinstance(node, ast.Import):
        return {each.name for each in node.names}
    return {node.module or ""} if isinstance(node, ast.ImportFrom) else set()


def test_no_other_file_writes_csv() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        for path in python_files("src")
        for node in ast.walk(parsed(path))
        if "csv" in imported(node)
    ]
    assert found == [], "the escaper needs no library, and nobody else has a writer"


def test_whoever_answers_with_csv_takes_its_rows_from_there() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in python_files("src")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom) and "csv_text" in {each.name for each in node.names}
    }
    assert {"src/jobservice/usecases/plan_reading.py", "src/jobconsole/client/fake_plan_pages.py"} <= users
