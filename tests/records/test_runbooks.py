"""Runbook records: what is built of them, which interface fits which procedure, and that no job is without."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from jobcontract.interfaces import INTERFACES, Interface, interface_of
from jobcontract.operating import Procedure
from jobcontract.permissions import Permission
from jobservice import records
from jobservice.rules.runbooks import RunbookRule, permissions, unfit
from jobservice.rules.schedules import Confirmed
from tests.records.applications import GOOD

PAYMENTS = Path(__file__).parents[2] / "examples" / "payments" / "records"
pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the good set that a test may break."""
    return shutil.copytree(GOOD, tmp_path / "records")


def interface(route: str) -> Interface:
    """The interface of a route by its name."""
    found = interface_of(route)
    assert found is not None
    return found


def findings(folder: Path, was: str, now: str) -> list[str]:
    """What the check says with one change of the replay of the good set: `line: code: sentence`."""
    runbook = folder / "runbooks" / "settle-replay.yaml"
    text = runbook.read_text()
    assert text.count(was) == 1
    runbook.write_text(text.replace(was, now))
    return [str(each).removeprefix(f"{runbook}:") for each in records.load(folder)[1]]


def test_a_runbook_is_built_with_what_is_asked_and_typed_for_its_schedule() -> None:
    found, wrong = records.load(GOOD)
    assert wrong == ()
    assert found is not None
    assert {each: tuple(by) for each, by in found.runbooks.items()} == dict.fromkeys(found.schedules, tuple(Procedure))
    disable = found.runbooks["shop.nightly"][Procedure.DISABLE]
    assert disable == RunbookRule(
        id="shop.nightly.disable",
        schedule="shop.nightly",
        procedure=Procedure.DISABLE,
        title="Reminders: disable",
        interface=interface("disable-schedule"),
        may=Permission.SCHEDULE_DISABLE,
        steps=("Switch it off before the letters of a wrong price list go out.",),
        claimed="A run that a Worker has claimed goes on to its end.",
    )
    assert disable.command == "schedules disable shop.nightly --reason REASON"
    assert disable.request == "POST /v1/schedules/shop.nightly/disable"
    replay = found.runbooks["shop.nightly"][Procedure.REPLAY]
    assert replay.command == "recoveries replay --schedule shop.nightly --from FROM --to TO --reason REASON"
    assert replay.request == "POST /v1/recoveries"


@pytest.mark.parametrize(
    ("was", "now", "finding"),
    [
        ("procedure: replay", "procedure: retry", "4: field-invalid: `procedure`: 'retry' is not known. "),
        (
            "may: occurrence.replay",
            "may: occurrence.reply",
            "8: field-invalid: `may`: 'occurrence.reply' is not known. ",
        ),
        (
            "  - Run it again; it goes on behind the cursor.",
            "  []",
            "9: field-invalid: `steps` is a list of 1 to 20 texts",
        ),
        ("  - Run it again", "  - yes: it\n  - Run it again", "10: field-invalid: `steps` is a list of texts."),
        ("  - Run it again", "  - 12\n  - Run it again", "10: field-invalid: `steps` is not text; put it between"),
        ("claimed: A run", f"claimed: {'x' * 500}", "11: field-invalid: `claimed` is text of 1 to 500 characters"),
        ("interface: {route: replay-occurrence}\n", "", "1: field-missing: `interface` is missing."),
    ],
)
def test_what_is_not_in_form_is_found_at_its_line(folder: Path, was: str, now: str, finding: str) -> None:
    found = findings(folder, was, now)
    assert any(each.startswith(finding) for each in found), found
    assert not [each for each in found if "runbook-missing" in each]  # it is there, whatever is wrong with it


def test_a_job_lacks_what_is_of_a_job_that_there_is_not(folder: Path) -> None:
    found = findings(folder, "schedule: shop.settle", "schedule: shop.settel")
    assert [each.partition(": ")[2].partition(":")[0] for each in found] == ["runbook-missing", "reference-unknown"]
    assert "how shop.settle is to be replayed: " in found[0]


@pytest.mark.requirement("run-manual-jobs-under-their-guard", "MONEY-1")
def test_which_interface_does_what() -> None:
    fits: dict[tuple[Procedure, bool, bool], set[str]] = {}
    for procedure in Procedure:
        for manual, money in ((False, False), (True, False), (False, True)):
            fits[procedure, manual, money] = {
                each.route.name for each in INTERFACES if unfit(procedure, each, manual=manual, money=money) is None
            }
    reading = {"schedule", "next-instants", "occurrences", "occurrence", "schedule-why", "occurrence-why", "simulate"}
    for manual, money in ((False, False), (True, False), (False, True)):
        assert fits[Procedure.INSPECT, manual, money] == reading
        assert fits[Procedure.DISABLE, manual, money] == {"disable-schedule"}
    assert fits[Procedure.REPLAY, False, False] == {"replay-occurrence", "make-recovery"}
    assert fits[Procedure.REPLAY, True, False] == {"replay-occurrence", "make-recovery", "run-schedule"}
    assert fits[Procedure.REPLAY, False, True] == {"make-recovery"}


@pytest.mark.requirement("MONEY-1")
def test_whoever_replays_by_a_recovery_needs_what_its_rows_ask_for() -> None:
    found, _ = records.load(GOOD)
    assert found is not None
    replay = found.runbooks["shop.nightly"][Procedure.REPLAY]
    nightly = found.schedules["shop.nightly"]
    assert permissions(replay, nightly) == (Permission.RECOVERY_MAKE, Permission.OCCURRENCE_REPLAY)
    money = replace(nightly, selection=Confirmed(command="shop.pay-many"))
    assert permissions(replay, money) == (Permission.RECOVERY_MAKE, Permission.PAYOUT_RELEASE)
    begin = found.runbooks["shop.rehearse"][Procedure.REPLAY]
    guarded = found.schedules["shop.rehearse"]
    assert permissions(begin, guarded) == (Permission.SCHEDULE_RUN, Permission.OCCURRENCE_CANCEL)
    assert permissions(found.runbooks["shop.nightly"][Procedure.DISABLE], nightly) == (Permission.SCHEDULE_DISABLE,)


def test_every_schedule_of_the_example_has_three_of_its_own() -> None:
    found, wrong = records.load(PAYMENTS)
    assert wrong == ()
    assert found is not None
    assert set(found.runbooks) == set(found.schedules)
    every = [each for by in found.runbooks.values() for each in by.values()]
    assert len(every) == 3 * len(found.schedules) == 24
    steps = [step for each in every for step in each.steps]
    assert len(set(steps)) == len(steps)  # nothing was copied from one to the other
    assert len({each.claimed for each in every}) == len({each.title for each in every}) == len(every)
    assert min(len(each.steps) for each in every) >= 4


def test_the_runbook_of_the_page_is_one_of_the_good_set_and_the_page_names_what_fits(folder: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "records-jobs.md").read_text()
    shown = re.search(r"```yaml\n(kind: runbook\n.*?)```", page, re.DOTALL)
    assert shown is not None
    (folder / "runbooks" / "nightly-replay.yaml").write_text(shown[1])
    found, wrong = records.load(folder)
    assert wrong == ()
    assert found is not None
    assert len(found.runbooks["shop.nightly"][Procedure.REPLAY].steps) == 2
    fitting = [
        each for each in INTERFACES if any(unfit(of, each, manual=True, money=False) is None for of in Procedure)
    ]
    rows = re.findall(r"^\| `([a-z-]+)` \| `(.+)` \|$", page, re.MULTILINE)
    assert rows == [(each.route.name, each.command) for each in fitting]
