"""Rule records against registered functions: same id, same version, and callable with inputs and an instant alone."""

from __future__ import annotations

import functools
import shutil
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from jobservice import records
from jobservice.application import Application, Score, ScoreInputs, score_of
from tests.records.applications import GOOD, an_application, reject, urgency


class Called:
    """An object that is called like a function."""

    def __call__(self, _inputs: ScoreInputs, _now: datetime) -> Score:
        return score_of()


class Awaited:
    """An object whose call has to be awaited."""

    async def __call__(self, _inputs: ScoreInputs, _now: datetime) -> Score:
        return score_of()


async def _async(inputs: ScoreInputs, now: datetime) -> Score:
    return score_of()


async def _async_each(inputs: ScoreInputs, now: datetime) -> AsyncIterator[Score]:
    yield score_of()


def _each(inputs: ScoreInputs, now: datetime) -> Iterator[Score]:
    yield score_of()


def _one(inputs: ScoreInputs) -> Score:
    return score_of()


def _three(inputs: ScoreInputs, now: datetime, factor: int) -> Score:
    return score_of()


def _by_name(*, inputs: ScoreInputs, now: datetime) -> Score:
    return score_of()


def _with_default(inputs: ScoreInputs, now: datetime, factor: int = 2) -> Score:
    return score_of()


def said(function: object) -> list[tuple[str, str]]:
    """Code and sentence of each finding with `function` registered as the rule of the good set."""
    _, findings = records.check(an_application(reject=reject, rules={"urgency": function}))
    return [(finding.code, finding.sentence) for finding in findings]


@pytest.mark.parametrize(
    "function", [urgency, _with_default, Called(), functools.partial(_three, factor=2), lambda *_: score_of()]
)
def test_what_can_be_called_with_inputs_and_the_instant_is_a_rule(function: object) -> None:
    assert said(function) == []


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (_one, "cannot be called with `(inputs, now)` alone"),
        (_three, "cannot be called with `(inputs, now)` alone"),
        (_by_name, "cannot be called with `(inputs, now)` alone"),
        (_async, "is an `async def`"),
        (_async_each, "is an `async def`"),
        (Awaited(), "is an `async def`"),
        (functools.partial(_async), "is an `async def`"),
        (_each, "yields"),
        (7, "cannot be called"),
    ],
)
def test_anything_else_is_named_with_what_to_do(function: object, problem: str) -> None:
    assert [code for code, _ in said(function)] == ["rule-signature"]
    assert said(function)[0][1].startswith(f"The function registered as shop.urgency {problem}")


def test_version_and_signature_are_told_in_one_run() -> None:
    _, findings = records.check(an_application(reject=reject, version=3, rules={"urgency": _one}))
    assert [(finding.line, finding.code) for finding in findings] == [(2, "rule-signature"), (4, "rule-version")]


def test_a_rule_is_registered_once_under_its_id() -> None:
    application = Application("shop", GOOD)
    assert application.rule("shop.urgency", version=2)(urgency) is urgency
    with pytest.raises(ValueError, match=r"shop\.urgency is registered twice"):
        application.rule("shop.urgency", version=3)(urgency)


def test_a_rule_whose_record_may_stand_in_an_unreadable_file_is_not_said_to_have_none(tmp_path: Path) -> None:
    folder = shutil.copytree(GOOD, tmp_path / "records")
    application = an_application(reject=reject)
    application.records = folder
    (folder / "rules" / "urgency.yaml").write_text("kind: rule\nid: [\n")
    _, findings = records.check(application)
    assert {finding.code for finding in findings} == {"record-unreadable"}
    (folder / "rules" / "urgency.yaml").unlink()
    _, findings = records.check(application)
    assert {finding.code for finding in findings} == {"behavior-unrecorded", "reference-unknown"}
