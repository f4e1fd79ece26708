"""SQL lives in the store's files alone; every file is used; a write under a lease or claim carries holder and fence."""

from __future__ import annotations

import ast
import re

import pytest

from tests.architecture.tree import ROOT, SOURCE, parsed, python_files

pytestmark = pytest.mark.xdist_group("tree")  # each file is parsed once

SQL = SOURCE / "jobservice" / "store" / "sql"
STORE = SOURCE / "jobservice" / "store"
STATEMENT_NAME = re.compile(r"[a-z_]+/[a-z0-9_]+")
HELD_TABLES = re.compile(r"(?:update|delete\s+from)\s+jobs\.(items|claims|duties)\b")

RAISES_FENCE = re.compile(r"\bfence\s*=\s*(?:\w+\.)?fence\s*\+\s*1")
"""A grant: it compares the fence that was read under the row's lock and raises it; there may be no holder yet."""


def _text(name: str) -> str:
    lines = (SQL / f"{name}.sql").read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.strip().startswith("--")).lower()


def _names() -> set[str]:
    return {str(path.relative_to(SQL).with_suffix("")) for path in SQL.rglob("*.sql")}


def _used() -> set[str]:
    return {
        node.value
        for path in python_files("src/jobservice")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and STATEMENT_NAME.fullmatch(node.value)
    }


def test_every_statement_file_is_used_and_every_used_statement_has_a_file() -> None:
    assert _names() - _used() == set(), "no Python names these statements"
    nouns = {name.partition("/")[0] for name in _names()}
    assert {name for name in _used() if name.partition("/")[0] in nouns} - _names() == set(), "no such file"


@pytest.mark.parametrize("name", sorted(_names()))
def test_a_statement_file_holds_one_statement_and_says_what_it_is_for(name: str) -> None:
    whole = (SQL / f"{name}.sql").read_text("utf-8")
    assert whole.startswith("-- ")
    outside_bodies = re.sub(r"\$\$.*?\$\$", "", _text(name), flags=re.DOTALL)
    assert outside_bodies.rstrip().rstrip(";").count(";") == 0


@pytest.mark.requirement("release-claims-past-their-lease")
@pytest.mark.parametrize("name", sorted(name for name in _names() if HELD_TABLES.search(_text(name))))
def test_a_write_to_a_held_row_carries_holder_and_fence(name: str) -> None:
    for part in re.split(r"\bupdate\s+jobs\.|\bdelete\s+from\s+jobs\.", _text(name))[1:]:
        if not re.match(r"(items|claims|duties)\b", part):
            continue
        changes, _, condition = part.partition("where")
        assert re.search(r"\bfence\s*(=|is not distinct from)", condition), f"{name}: no fence in its WHERE"
        if RAISES_FENCE.search(changes):
            continue
        assert re.search(r"\bholder\s*(=|is not distinct from)", condition), f"{name}: no holder in its WHERE"


LEASED = ("lapse", "let_go", "overdue", "take", "lock", "correct")
"""Statements over plans that another lease guards (a duty's), that grant one, or that write sums."""


@pytest.mark.requirement("MONEY-3")
@pytest.mark.parametrize("name", sorted(each for each in _names() if each.startswith(("turns/", "plan_leases/"))))
def test_a_write_of_a_turn_or_a_plan_by_the_worker_carries_its_lease(name: str) -> None:
    text = _text(name)
    if not re.search(r"update\s+jobs\.(plans|plan_items)\b", text) or name.partition("/")[2] in LEASED:
        return
    compared = text.replace("\n", " ")
    assert "holder = %(holder)s" in compared, f"{name}: no holder compared"
    assert re.search(r"p\.fence = (%\(plan_fence\)s|held\.fence)", compared), f"{name}: no fence compared"


@pytest.mark.requirement("restrict-completion-by-fencing-value", "renew-only-owned-leases")
@pytest.mark.parametrize("name", ["renew", "settle", "hand_back", "hand_back_unknown"])
def test_a_write_of_an_occurrence_by_the_worker_carries_its_lease(name: str) -> None:
    _, _, written = _text(f"occurrence_leases/{name}").replace("\n", " ").partition("update jobs.occurrences")
    condition = written.partition(" where ")[2].partition("returning")[0]
    assert "o.holder = %(holder)s" in condition, "no holder compared"
    assert re.search(r"o\.fence = (h|e)\.fence|o\.fence = %\(held_fence\)s", condition), "no fence compared"
    assert "expires_at > " in condition, "no expiry compared"


SQL_WORDS = re.compile(
    r"^\s*(select\s.+\sfrom\s|insert\s+into\s|update\s+\w+(\.\w+)?\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\()",
    re.IGNORECASE | re.DOTALL,
)


def test_no_python_above_the_store_holds_sql() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in python_files("src/jobservice", "src/jobconsole", "src/jobcontract", "examples")
        if STORE not in path.parents
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL_WORDS.match(node.value)
    ]
    assert found == []


def test_no_python_above_the_store_executes_a_text_of_its_own() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in python_files("src/jobservice", "src/jobconsole", "src/jobcontract", "examples")
        if STORE not in path.parents
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("execute", "executemany", "copy")
        and node.args
        and isinstance(node.args[0], ast.Constant | ast.JoinedStr | ast.BinOp)
    ]
    assert found == []
