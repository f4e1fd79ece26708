"""The one job that has to do with money: it brings forward what confirmed plans of a bulk command hold; all others are
refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jobcontract.states import Moves
from jobservice import records
from jobservice.rules.schedules import Confirmed
from tests.records.applications import GOOD
from tests.records.test_broken import BROKEN

JOB = BROKEN / "runbook-unfit" / "jobs" / "pay-again.yaml"
pytestmark = pytest.mark.requirement("MONEY-1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The good set with such a job and its runbooks."""
    made = shutil.copytree(GOOD, tmp_path / "records")
    shutil.copy(JOB, made / "jobs")
    for procedure in ("inspect", "replay", "disable"):
        text = (made / "runbooks" / f"nightly-{procedure}.yaml").read_text()
        (made / "runbooks" / f"pay-again-{procedure}.yaml").write_text(text.replace("shop.nightly", "shop.pay-again"))
    return made


def findings(folder: Path, **changes: str) -> list[str]:
    """What the check says with other values of fields of the job: `line: code`."""
    lines = JOB.read_text().splitlines()
    kept = [
        next((f"{name}: {now}" for name, now in changes.items() if each.startswith(f"{name}:")), each) for each in lines
    ]
    assert len(set(kept) - set(lines)) == len(changes)
    (folder / "jobs" / "pay-again.yaml").write_text("\n".join(kept) + "\n")
    return [
        f"{each.line}: {each.code}" for each in records.load(folder)[1] if each.file.endswith("jobs/pay-again.yaml")
    ]


def test_it_is_built_as_a_schedule_that_moves_money(folder: Path) -> None:
    found, wrong = records.load(folder)
    assert wrong == ()
    assert found is not None
    schedule = found.schedules["shop.pay-again"]
    assert (schedule.selection, schedule.runs) == (Confirmed(command="shop.pay-many"), "shop.pay")
    assert (schedule.moves, schedule.moves_money) == (Moves.MONEY, True)
    assert [each.id for each in found.schedules.values() if each.moves_money] == ["shop.pay-again"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"selection": "{mode: registered, id: shop.unpaid}"}, ["9: money-unconfirmed"]),
        ({"selection": "{mode: itself}", "batchSize": "1"}, ["9: money-unconfirmed"]),
        ({"selection": "{mode: confirmed, command: shop.pay-mony}"}, ["7: reference-unknown"]),
        ({"selection": "{mode: confirmed}"}, ["7: field-missing"]),
        ({"selection": "{mode: confirmed, command: shop.pay-many, queue: shop.refunds}"}, ["7: field-unknown"]),
        ({"runs": "shop.remind"}, ["9: reference-unfit"]),
        ({"runs": "shop.pays"}, ["9: reference-unknown"]),
        ({"runs": "service.rescore"}, ["9: reference-unfit", "9: reference-unfit"]),
        ({"path": "batch"}, ["10: batch-unfit"]),
        ({"type": "saga-driving", "bound": "PT10M\ncursor: shop.paid"}, ["7: field-invalid"]),
    ],
)
def test_anything_else_is_refused(folder: Path, changes: dict[str, str], expected: list[str]) -> None:
    assert findings(folder, **changes) == expected


def test_a_command_that_moves_nothing_has_nothing_to_bring_forward(folder: Path) -> None:
    pay = folder / "use-cases" / "pay.yaml"
    pay.write_text(pay.read_text().replace("moves: money", "moves: nothing"))
    found = [str(each) for each in records.load(folder)[1] if each.file.endswith("jobs/pay-again.yaml")]
    assert len(found) == 1
    assert "7: reference-unfit: `selection.command`: shop.pay-many moves no money" in found[0]
