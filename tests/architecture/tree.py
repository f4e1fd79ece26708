"""Owns walking the repository's own Python files for the architecture tests."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"


def python_files(*folders: str) -> list[Path]:
    """Every Python file below the named folders of the repository, sorted."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def tracked() -> list[str]:
    """Names of the files that git keeps; none where this is no checkout or git is not installed."""
    if shutil.which("git") is None:
        return []
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.splitlines()


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a module, nested ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file; one for all who ask, to be read alone."""
    return ast.parse(path.read_text("utf-8"), filename=str(path))
