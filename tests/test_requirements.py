"""The requirements table: it is the whole list, and every row of a finished part has a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.requirements import (
    CASES,
    DECISIONS,
    FINISHED_PART,
    LATER,
    LIST,
    Marked,
    Row,
    lines,
    listed_ids,
    marked_tests,
    problems,
    read_table,
)


def test_every_row_of_a_finished_part_has_a_test_and_every_marker_a_row() -> None:
    assert problems(read_table(), marked_tests()) == ()


def test_the_table_has_each_id_once_with_its_section_and_part() -> None:
    rows = read_table()
    assert len({row.id for row in rows}) == len(rows)
    assert {row.section for row in rows} == {*"ABCDEF", CASES, DECISIONS}
    assert {row.part for row in rows} == {1, 2, 3, 4, 5, 6, LATER}


@pytest.mark.skipif(not LIST.exists(), reason="the list of requirements (../shared) is not beside this repository")
def test_the_table_is_the_list_of_requirements_id_by_id() -> None:
    ours = [(row.section, row.id) for row in read_table() if row.section not in (CASES, DECISIONS)]
    assert ours == list(listed_ids(LIST.read_text(encoding="utf-8")))


@pytest.mark.skipif(not LIST.exists(), reason="the list of cases (../shared) is not beside this repository")
def test_the_table_has_every_case() -> None:
    text = (LIST.parent / "cases" / "README.md").read_text(encoding="utf-8")
    assert [row.id for row in read_table() if row.section == CASES] == re.findall(r"^### ([A-Z]+-\d+)", text, re.M)


def test_joint_rows_give_each_of_their_ids() -> None:
    text = "## A. One\n| id | must hold |\n|---|---|\n| a-b, c-d | x, y |\n## B. Two\n| e | z |\n"
    assert listed_ids(text) == (("A", "a-b"), ("A", "c-d"), ("B", "e"))


def test_a_row_without_a_test_and_a_marker_without_a_row_are_problems() -> None:
    rows = (Row(id="due", section="A", part=FINISHED_PART), Row(id="not-yet", section="A", part=FINISHED_PART + 1))
    assert problems(rows, ()) == (f"due (part {FINISHED_PART}) has no test",)
    right = Marked(id="due", test="test_x.py::test_it")
    wrong = Marked(id="dew", test="test_x.py::test_it")
    assert problems(rows, (right,)) == ()
    assert problems(rows, (right, wrong)) == (
        "test_x.py::test_it is marked 'dew', which is no row of requirements.csv",
    )
    decision = Row(id="MONEY-26", section=DECISIONS, part=FINISHED_PART)
    assert problems((*rows, decision), (right,)) == (f"MONEY-26 (part {FINISHED_PART}) has no test",)
    assert [line.split()[-2:] for line in lines(rows, (right,))][::2] == [["1", "test"], ["not-yet", "-"]]


def test_markers_are_found_on_functions_classes_parameters_and_modules(tmp_path: Path) -> None:
    (tmp_path / "test_seen.py").write_text(
        "import pytest\n"
        "pytestmark = [pytest.mark.requirement('on-module')]\n"
        "@pytest.mark.requirement('one', 'two')\n"
        "def test_function(): ...\n"
        "@pytest.mark.requirement('on-class')\n"
        "class TestClass: ...\n"
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.requirement('on-parameter'))])\n"
        "async def test_parameters(x): ...\n"
        "@pytest.mark.requirement('no-test')\n"
        "def helper(): ...\n"
        "# @pytest.mark.requirement('in-a-comment')\n"
    )
    found = {mark.id: mark.test for mark in marked_tests(tmp_path)}
    assert found == {
        "on-module": "test_seen.py::all",
        "one": "test_seen.py::test_function",
        "two": "test_seen.py::test_function",
        "on-class": "test_seen.py::TestClass",
        "on-parameter": "test_seen.py::test_parameters",
    }
