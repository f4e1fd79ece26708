"""Kinds of background jobs as the records make them, and the page that shows them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from jobcontract.states import InputType, Moves
from jobservice import records
from jobservice.rules.job_kinds import PLAN_APPLY, JobKind, KindInput, StepDefinition
from tests.records.applications import GOOD, an_application, reject

PAGE = (Path(__file__).parents[2] / "docs" / "records-kinds.md").read_text()


@pytest.mark.requirement("INV-08", "INV-09")
def test_a_kind_is_what_its_record_says_and_belongs_to_its_application() -> None:
    found, findings = records.check(an_application(reject=reject))
    assert findings == ()
    assert found is not None
    write = {"step": "write", "label": "Write the letters", "use_case": "shop.write-letters", "moves": Moves.NOTHING}
    post = {"step": "post", "label": "Post the letters", "use_case": "shop.post-letters", "moves": Moves.NOTHING}
    letters = found.job_kinds["shop.letters"]
    assert letters == JobKind(
        id="shop.letters",
        label="Letters of a month",
        application="shop",
        family="shop",
        moves=Moves.NOTHING,
        retryable=True,
        failure_effect="shop.letters-failed",
        no_effect=None,
        inputs=(
            KindInput(name="month", label="Month", type=InputType.TEXT, required=True, most=7),
            KindInput(name="copies", label="Copies", type=InputType.INTEGER, required=False),
        ),
        versions={1: (StepDefinition(**write),), 3: (StepDefinition(**write, weight=4), StepDefinition(**post))},  # type: ignore[arg-type]  # by name
    )
    assert (letters.version, [step.step for step in letters.steps]) == (3, ["write", "post"])
    transfer = found.job_kinds["shop.transfer"]
    assert (transfer.submitted_by, transfer.failure_effect, transfer.no_effect) == (
        "shop.pay-many",
        None,
        "the bank is asked by hand",
    )
    assert found.bulk["shop.pay-many"].submits == "shop.transfer"
    assert sorted(found.job_kinds) == [PLAN_APPLY, "shop.letters", "shop.transfer"]
    assert sorted(found.step_use_cases) == [
        "shop.letters-failed",
        "shop.post-letters",
        "shop.send-transfer",
        "shop.write-letters",
    ]


def test_without_an_application_a_kind_is_of_the_one_that_its_id_names() -> None:
    found, _ = records.load(GOOD)
    assert found is not None
    assert found.job_kinds["shop.letters"].application == "shop"


def test_the_records_of_the_page_have_the_form_that_it_tells(tmp_path: Path) -> None:
    """Its money kind lists no steps; that is all the check finds."""
    folder = shutil.copytree(GOOD, tmp_path / "records")
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    for number, block in enumerate(blocks):
        (folder / f"shown-{number}.yaml").write_text(block)
    codes = [line.split(": ")[1] for line in records.report(folder).lines]
    assert len(blocks) == 3
    assert sorted(set(codes)) == ["behavior-unrecorded", "field-invalid", "reference-unknown"]
