"""Files and functions stay small enough to be read whole, and open by saying what they own."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.tree import ROOT, functions, parsed, python_files

pytestmark = pytest.mark.xdist_group("tree")  # each file is parsed once

FILE_LINES = 400
APP_LINES = 210
FUNCTION_LINES = 50


def _where(path: object, line: int) -> str:
    return f"{path}:{line}"


def test_files_stay_within_their_budget() -> None:
    over = {
        str(path.relative_to(ROOT)): count
        for path in python_files("src", "examples", "tests", "benchmarks")
        if (count := len(path.read_text("utf-8").splitlines())) > (APP_LINES if path.name == "app.py" else FILE_LINES)
    }
    assert over == {}


def test_functions_stay_within_their_budget() -> None:
    over = [
        _where(path.relative_to(ROOT), function.lineno)
        for path in python_files("src", "examples", "benchmarks")
        for function in functions(parsed(path))
        if (function.end_lineno or 0) - function.lineno + 1 > FUNCTION_LINES
    ]
    assert over == []


def test_every_source_file_says_what_it_owns() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in python_files("src", "examples", "benchmarks")
        if path.read_text("utf-8").strip() and ast.get_docstring(parsed(path)) is None
    ]
    assert silent == []


def test_public_classes_and_functions_have_a_docstring() -> None:
    silent = []
    for path in python_files("src", "benchmarks"):
        for node in parsed(path).body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if not node.name.startswith("_") and ast.get_docstring(node) is None:
                silent.append(_where(path.relative_to(ROOT), node.lineno))
    assert silent == []


@pytest.mark.parametrize("folder", ["src", "examples", "benchmarks"])
def test_no_name_is_a_drawer(folder: str) -> None:
    banned = ("manager", "helper", "util", "data", "info", "base")
    found = []
    for path in python_files(folder):
        if any(word in banned for word in path.stem.replace("-", "_").split("_")):
            found.append(str(path.relative_to(ROOT)))
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef) and node.name.lower().endswith(banned) and node.name != "Database":
                found.append(_where(path.relative_to(ROOT), node.lineno))
    assert found == []
