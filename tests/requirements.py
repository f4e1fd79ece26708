"""The requirements table, read as a person asks for it: each row with the tests that carry its marker.

    python -m tests.requirements      exits 1 where a row of a finished part has no test, or a marker names no row

Reads the tests as text (AST); imports and runs none of them.
"""

from __future__ import annotations

import ast
import csv
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FINISHED_PART = 6
"""The last part whose rows must all have tests."""
LATER = 99
"""The part of a row that no open issue delivers yet."""
CASES = "cases"
"""The section of failure cases (`../shared/cases`); the other sections are those of the list of requirements."""

DECISIONS = "decisions"
"""The section of `../shared/MONEY.md` decisions by their number."""

TESTS = Path(__file__).parent
TABLE = TESTS.parent / "docs" / "requirements.csv"
LIST = TESTS.parents[1] / "shared" / "REQUIREMENTS.md"
"""The list of requirements, where it lies beside the repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of our table; `part` is 1 to 6 or `LATER`."""

    id: str
    section: str
    part: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """One test that carries the marker of a row."""

    id: str
    test: str
    """File below tests/, and the name of the function or class."""


def read_table(path: Path = TABLE) -> tuple[Row, ...]:
    """The rows of our table, in its order."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    return tuple(
        Row(id=row["id"], section=row["section"], part=LATER if row["part"] == "later" else int(row["part"]))
        for row in rows
    )


def listed_ids(text: str) -> tuple[tuple[str, str], ...]:
    """Section and id of every row in the list of requirements, each id of a joint row by itself."""
    found: list[tuple[str, str]] = []
    section = ""
    for line in text.splitlines():
        if heading := re.match(r"## ([A-F])\. ", line):
            section = heading[1]
        elif section and line.startswith("| ") and not line.startswith("| id "):
            found += [(section, identifier.strip()) for identifier in line.split("|")[1].split(",")]
    return tuple(found)


def marked_tests(folder: Path = TESTS) -> tuple[Marked, ...]:
    """Every test below `folder` that carries a requirement marker, once for each id."""
    found: list[Marked] = []
    for path in sorted(folder.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        name = path.relative_to(folder).as_posix()
        found += [Marked(id=identifier, test=f"{name}::{test}") for test, identifier in _marks(tree)]
    return tuple(found)


def _marks(tree: ast.Module) -> Iterator[tuple[str, str]]:
    named = dict(_named(tree))
    for test, identifier in _written(tree):
        yield test, named.get(identifier, identifier)


def _named(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that a module gives to texts: tests may say them instead."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))):
                yield name, text
            case _:
                continue


def _written(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name.lower().startswith("test"):
                yield from ((node.name, identifier) for identifier in _ids(node.decorator_list))
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
        ):
            yield from (("all", identifier) for identifier in _ids([node.value]))


def _ids(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
            for argument in node.args:
                yield str(argument.value) if isinstance(argument, ast.Constant) else ast.unparse(argument)


def problems(rows: Sequence[Row], marked: Sequence[Marked], finished: int = FINISHED_PART) -> tuple[str, ...]:
    """What keeps the table from being true: rows that must have a test and have none, markers of no row."""
    known = {row.id for row in rows}
    tested = {mark.id for mark in marked}
    missing = [
        f"{row.id} (part {row.part}) has no test" for row in rows if row.part <= finished and row.id not in tested
    ]
    strange = [
        f"{mark.test} is marked {mark.id!r}, which is no row of {TABLE.name}" for mark in marked if mark.id not in known
    ]
    return (*missing, *strange)


def lines(rows: Sequence[Row], marked: Sequence[Marked]) -> Iterator[str]:
    """The table as it is printed: section, part, id, and the tests below."""
    tests: Mapping[str, list[str]] = {row.id: [mark.test for mark in marked if mark.id == row.id] for row in rows}
    wide = max(len(row.id) for row in rows)
    for row in rows:
        part = "later " if row.part == LATER else f"part {row.part}"
        count = len(tests[row.id])
        state = f"{count} test{'' if count == 1 else 's'}" if count else "none" if row.part <= FINISHED_PART else "-"
        yield f"{row.section:9}  {part}  {row.id:{wide}}  {state}"
        yield from (f"{'':19}{test}" for test in dict.fromkeys(tests[row.id]))


def main() -> int:
    """Print the table and what is wrong with it; 1 where something is."""
    rows, marked = read_table(), marked_tests()
    found = problems(rows, marked)
    due = [row for row in rows if row.part <= FINISHED_PART]
    summary = f"{len(rows)} rows, {len(due)} of them due (part {FINISHED_PART}); {len(found)} problems."
    sys.stdout.write("\n".join((*lines(rows, marked), "", *found, summary)) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
