"""Job records: what is built of them, what is refused, and where."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, time
from pathlib import Path

import pytest

from jobcontract.permissions import Permission
from jobcontract.states import MisfirePolicy, Moves, Repeated, ScheduleType, Skipped
from jobservice import records
from jobservice.records.folder import RecordFile
from jobservice.records.reading import read_records
from jobservice.rules.rhythms import Cron, Every
from jobservice.rules.schedules import (
    RESCORE,
    Backoff,
    Guard,
    Itself,
    JobUseCase,
    Misfire,
    Registered,
    Schedule,
    ScoresDue,
    Window,
)
from tests.records.applications import GOOD
from tests.records.folders import drop_job

ANCHOR = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the good set that a test may break."""
    return shutil.copytree(GOOD, tmp_path / "records")


def findings(folder: Path, name: str, was: str, now: str) -> list[str]:
    """What the check says with one change of a good job: `line: code: sentence`, or with the file where it is another."""
    job = folder / "jobs" / f"{name}.yaml"
    text = job.read_text()
    assert text.count(was) == 1
    job.write_text(text.replace(was, now))
    return [str(each).removeprefix(f"{folder}/").removeprefix(f"jobs/{name}.yaml:") for each in records.load(folder)[1]]


@pytest.mark.requirement("carry-the-schedule-on-the-job-record", "separate-schedule-definitions")
def test_a_job_is_built_as_a_schedule_of_its_record_alone() -> None:
    found, wrong = records.load(GOOD)
    assert wrong == ()
    assert found is not None
    assert found.schedules["shop.nightly"] == Schedule(
        id="shop.nightly",
        title="Reminders",
        type=ScheduleType.SCHEDULED,
        rhythm=Cron(
            expression="30 1 * * mon-fri",
            zone="Europe/London",
            skipped=Skipped.RUN_AT_GAP_END,
            repeated=Repeated.FIRST,
        ),
        reason="Customers expect them before they open.",
        misfire=Misfire(policy=MisfirePolicy.EACH_INTERVAL, after_seconds=300.0, newest=3),
        selection=Registered(id="shop.unpaid"),
        batch_size=100,
        runs="shop.remind",
        batch_path=False,
        cursor=None,
        lock="shop.letters",
        bound_seconds=1800.0,
        attempts=5,
        backoff=Backoff(first_seconds=10.0, most_seconds=600.0),
        tenants=frozenset({"acme", "globex"}),
        retention="shop.kept",
        retention_seconds=30 * 86_400.0,
        guard=None,
        runs_where=frozenset({"production", "demo"}),
    )
    rescore, settle = found.schedules["shop.rescore"], found.schedules["shop.settle"]
    assert rescore.rhythm == Every(seconds=300, anchor=ANCHOR)
    assert (rescore.selection, rescore.runs, rescore.batch_path) == (ScoresDue(queue="shop.payouts"), RESCORE, True)
    assert (rescore.misfire, rescore.lock) == (Misfire(policy=MisfirePolicy.ONCE), "shop.rescore")
    assert (settle.type, settle.cursor) == (ScheduleType.SAGA_DRIVING, "shop.settled")
    assert settle.reason is None
    assert settle.runs_in("acme", "anywhere")


@pytest.mark.requirement("run-manual-jobs-under-their-guard")
def test_a_manual_job_has_a_guard_and_no_rhythm() -> None:
    found, _ = records.load(GOOD)
    assert found is not None
    manual = found.schedules["shop.rehearse"]
    assert (manual.rhythm, manual.misfire, manual.definition()) == (None, None, "")
    assert (manual.selection, manual.batch_size, manual.runs_where) == (Itself(), 1, frozenset({"rehearsal"}))
    assert manual.guard == Guard(
        permission=Permission.OCCURRENCE_CANCEL,
        windows=(
            Window(days=frozenset({1, 2, 3, 4, 5}), start=time(8), end=time(18)),
            Window(days=frozenset({6}), start=time(22), end=time.max),
        ),
        reason_required=True,
    )


def test_runs_of_one_item_each_may_share_a_transaction(folder: Path) -> None:
    found, _ = records.load(GOOD)
    assert found is not None
    assert not found.schedules["shop.rehearse"].batch_path
    assert findings(folder, "rehearse", "path: single", "path: batch") == []
    found, _ = records.load(folder)
    assert found is not None
    assert found.schedules["shop.rehearse"].batch_path


@pytest.mark.requirement("dispatch-application-behavior")
def test_a_use_case_of_jobs_is_one_and_no_queue_has_it(folder: Path) -> None:
    found, _ = records.load(GOOD)
    assert found is not None
    remind = JobUseCase(id="shop.remind", title="Remind", moves=Moves.NOTHING, version=2, batch=True)
    assert found.job_use_cases == {"shop.remind": remind}
    assert "shop.remind" not in found.use_cases
    record = folder / "use-cases" / "remind.yaml"
    record.write_text(record.read_text().replace("batch: true\n", ""))
    found, _ = records.load(folder)
    assert found is not None
    assert not found.job_use_cases["shop.remind"].batch


@pytest.mark.requirement("dispatch-application-behavior")
@pytest.mark.parametrize(
    ("was", "now", "found"),
    [
        (
            "batch: true",
            "states: [open]",
            "6: field-invalid: `states` belongs to a use case of items: a run's item has",
        ),
        ("batch: true", "batch: yes", "6: field-invalid: `batch` is true or false."),
        ("batch: true", "bach: true", "6: field-unknown: `bach` is not a field here. Did you mean `batch`?"),
        ("{mode: none", "{mode: input, input: why", "7: field-invalid: `audit.reason.input`: 'why' is not a required"),
        ("shop.remind", RESCORE, "2: id-taken: service.rescore is the service's own use case; give yours another id."),
    ],
)
def test_a_use_case_of_jobs_takes_nothing_from_a_person(folder: Path, was: str, now: str, found: str) -> None:
    record = folder / "use-cases" / "remind.yaml"
    record.write_text(record.read_text().replace(was, now))
    said = [str(each) for each in records.load(folder)[1]]
    assert any(each.startswith(f"{record}:{found}") for each in said), said


def test_what_is_known_in_the_place_of_an_unknown_field_is_listed_once(folder: Path) -> None:
    (found,) = findings(folder, "nightly", "lease: shop.letters", "lease: shop.letters\nquux: 1")
    known = found.partition("Known here: ")[2].rstrip(".").split(", ")
    assert "misfireAfter" in known
    assert len(known) == len(set(known)), known


@pytest.mark.requirement("carry-the-schedule-on-the-job-record")
def test_an_expression_is_one_text_however_it_is_spaced(folder: Path) -> None:
    assert findings(folder, "nightly", '"30 1 * * mon-fri"', '"30   1 * *  mon-fri"') == []
    found, _ = records.load(folder)
    good, _ = records.load(GOOD)
    assert found is not None
    assert good is not None
    assert found.schedules["shop.nightly"].definition() == good.schedules["shop.nightly"].definition()


INVALID = [
    ("nightly", "type: scheduled", "type: often", "4: field-invalid: `type`: 'often' is not known."),
    ("nightly", "path: single", "path: all", "16: field-invalid: `path`: 'all' is not known."),
    (
        "nightly",
        "first: PT10S",
        "first: PT11M",
        "20: field-invalid: `backoff.first` is PT11M, more than the most of PT10M.",
    ),
    ("nightly", "bound: PT30M", "bound: P2D", "18: field-invalid: `bound`: P2D is not from PT1S to P1D."),
    ("nightly", "bound: PT30M", "bound: PT0S", "18: field-invalid: `bound`: PT0S is not from PT1S to P1D."),
    ("nightly", "attempts: 5", "attempts: 0", "19: field-invalid: `attempts` is a whole number from 1 to 20."),
    ("nightly", "newest: 3", "newest: 0", "11: field-invalid: `misfire.newest` is a whole number from 1 to 1,000."),
    ("nightly", "misfireAfter: PT5M", "misfireAfter: 5m", "12: field-invalid: `misfireAfter`: '5m' is not a duration"),
    (
        "nightly",
        "batchSize: 100",
        "batchSize: 1001",
        "14: field-invalid: `batchSize` is a whole number from 1 to 1,000.",
    ),
    (
        "nightly",
        "[acme, globex]",
        "[]",
        "21: field-invalid: `tenants` names nothing; list tenants, or say {mode: all}.",
    ),
    ("nightly", "[acme, globex]", "{mode: some}", "21: field-invalid: `tenants.mode`: 'some' is not known."),
    ("nightly", "[acme, globex]", "acme", "21: field-invalid: `tenants` is a list, one `- id` a line."),
    ("nightly", "lease: shop.letters", "lease: No!", "17: field-invalid: `lease`: 'No!' is not an id"),
    (
        "nightly",
        "lease: shop.letters",
        "cursor: shop.at",
        "17: field-invalid: `cursor` is of a saga-driving job; any other",
    ),
    ("nightly", "lease: shop.letters", "guard: {}", "17: field-invalid: `guard` is of a manual job; a schedule starts"),
    ("nightly", "id: shop.unpaid", "id: shop.unpaid, queue: q", "13: field-unknown: `selection.queue` is not a field"),
    (
        "nightly",
        "{mode: registered, id: shop.unpaid}",
        "{mode: all}",
        "13: field-invalid: `selection.mode`: 'all' is not",
    ),
    (
        "rescore",
        "policy: once",
        "policy: once, newest: 2",
        "6: field-invalid: `misfire.newest` has no place here: once runs",
    ),
    ("rescore", "policy: once", "policy: twice", "6: field-invalid: `misfire.policy`: 'twice' is not known."),
    ("rescore", "{every", "{zone: Europe/London, every", "5: field-invalid: `schedule.zone` is UTC with `every`"),
    (
        "rescore",
        "{every",
        "{skipped: skip, every",
        "5: field-invalid: `schedule.skipped` has no place here: an `every`",
    ),
    ("rescore", "{every", "{evry: 1, every", "5: field-unknown: `schedule.evry` is not a field here."),
    (
        "settle",
        "zone: UTC",
        "zone: UTC, repeated: both",
        "5: field-invalid: `schedule.repeated` has no place here: UTC needs",
    ),
    (
        "settle",
        "zone: UTC",
        "zone: UTC, reason: why",
        "5: field-invalid: `schedule.reason` has no place here: UTC needs",
    ),
    ("settle", "zone: UTC", "zone: UTC, anchor: x", "5: field-invalid: `schedule.anchor` has no place here: only an"),
    (
        "settle",
        "{mode: registered, id: shop.unpaid}",
        "{mode: itself}",
        "8: field-invalid: `batchSize` is a whole number from",
    ),
    (
        "rehearse",
        "type: manual",
        "type: manual\nmisfire: {policy: skip}",
        "5: field-invalid: `misfire` is of a job with a",
    ),
    (
        "rehearse",
        "occurrence.cancel",
        "schedule.read",
        "14: field-invalid: `guard.permission` is schedule.read, which lets",
    ),
    (
        "rehearse",
        "occurrence.cancel",
        "schedule.walk",
        "14: field-invalid: `guard.permission`: 'schedule.walk' is not known.",
    ),
    ("rehearse", "reason: required", "reason: optional", "18: field-invalid: `guard.reason`: 'optional' is not known."),
    ("rehearse", 'to: "18:00"', 'to: "08:00"', "16: field-invalid: `guard.windows.to` is not later than `from`"),
    ("rehearse", 'from: "22:00"', 'from: "24:00"', "17: field-invalid: `guard.windows.from` is a time of day in UTC"),
    ("rehearse", "[sat]", "[sat, son]", "17: field-invalid: `guard.windows.days`: 'son' is not known."),
    ("rehearse", "[rehearsal]", "{mode: nowhere}", "19: field-invalid: `runsWhere.mode`: 'nowhere' is not known."),
]


@pytest.mark.parametrize(("name", "was", "now", "found"), INVALID, ids=[f"{case[0]}: {case[2]}" for case in INVALID])
def test_what_is_wrong_in_a_job_is_said_at_its_line(folder: Path, name: str, was: str, now: str, found: str) -> None:
    said = findings(folder, name, was, now)
    assert any(each.startswith(found) for each in said), said
    assert records.load(folder)[0] is None


BROKEN = [
    pytest.param(*case, id=case[4], marks=pytest.mark.requirement(case[0]))
    for case in [
        (
            "prefer-utc-schedules",
            "nightly",
            "  reason: Customers expect them before they open.\n",
            "",
            "zone-unreasoned",
        ),
        ("define-business-local-clock-behavior", "nightly", "  skipped: run-at-gap-end\n", "", "clock-change-unstated"),
        ("define-business-local-clock-behavior", "nightly", "  repeated: first\n", "", "clock-change-unstated"),
        ("define-business-local-clock-behavior", "nightly", '"30 1 ', '"30 */3 ', "hour-varies"),
        ("define-business-local-clock-behavior", "nightly", "Europe/London", "Mars/Olympus", "zone-unknown"),
        ("carry-the-schedule-on-the-job-record", "nightly", "  zone: Europe/London\n", "", "zone-unstated"),
        ("carry-the-schedule-on-the-job-record", "nightly", '"30 1 ', '"30 25 ', "schedule-invalid"),
        ("define-misfire-recovery", "settle", "misfire: {policy: skip}\n", "", "misfire-unstated"),
        ("define-misfire-recovery", "nightly", ", newest: 3", "", "misfire-unbounded"),
        ("remove-occurrences-past-retention", "settle", "retention: shop.kept\n", "", "retention-missing"),
        ("remove-occurrences-past-retention", "nightly", "newest: 3", "newest: 10", "retention-short"),
        ("resume-driven-work-through-the-cursor", "settle", "cursor: shop.settled\n", "", "cursor-missing"),
        ("run-one-command-per-item-in-selection", "settle", "batchSize: 50\n", "", "selection-unstated"),
        ("bound-job-duration", "settle", "bound: PT30M\n", "", "bound-missing"),
        ("bound-job-retries", "settle", "attempts: 5\n", "", "attempts-unbounded"),
        ("bound-job-retries", "settle", "backoff: {first: PT10S, most: PT10M}\n", "", "backoff-missing"),
        ("run-manual-jobs-under-their-guard", "rehearse", "runsWhere: [rehearsal]\n", "", "runs-where-missing"),
        ("scope-occurrences-and-leases-by-tenant", "settle", "tenants: {mode: all}\n", "", "tenants-unstated"),
        ("dispatch-application-behavior", "settle", "runs: shop.remind", "runs: shop.reject", "reference-unfit"),
    ]
]


@pytest.mark.parametrize(("_requirement", "name", "was", "now", "code"), BROKEN)
def test_a_job_says_what_its_requirement_wants(
    folder: Path, _requirement: str, name: str, was: str, now: str, code: str
) -> None:
    said = findings(folder, name, was, now)
    assert [each.split(": ")[1] for each in said] == [code], said


ODD = ("", "[]", "{}", "[[]]", "[{}]", "{a: b}", "x y", "'1'", "-1", "{mode: [all]}", "{policy: {}}", "[{days: mon}]")


@pytest.mark.parametrize("name", ["nightly", "rehearse"])
def test_whatever_a_field_holds_the_record_is_read_or_refused_with_a_sentence(name: str) -> None:
    text = (GOOD / "jobs" / f"{name}.yaml").read_text()
    for field in re.findall(r"^(?!kind|id)(\w+):", text, re.MULTILINE):
        for odd in ODD:
            changed = re.sub(rf"^{field}:.*\n(?: +.*\n)*", f"{field}: {odd}\n", text, flags=re.MULTILINE)
            file = RecordFile(shown="one.yaml", path="one.yaml", content=changed.encode())
            written, wrong = read_records((file,))
            assert wrong or (written and written[0].content is not None), (field, odd)
            assert all(each.sentence.endswith((".", "?")) for each in wrong), (field, odd)


def test_a_local_hour_that_varies_may_run_in_both_hours(folder: Path) -> None:
    assert findings(folder, "nightly", "repeated: first", "repeated: both") == []
    assert findings(folder, "nightly", '"30 1 ', '"30 * ') == []


def test_scores_count_as_refreshed_by_a_schedule_and_by_no_manual_job(folder: Path) -> None:
    drop_job(folder, "rescore")
    job = folder / "jobs" / "rehearse.yaml"
    manual = job.read_text().replace("{mode: itself}", "{mode: scores-due, queue: shop.payouts}\nbatchSize: 5")
    job.write_text(manual.replace("shop.remind", RESCORE))
    assert [each.code for each in records.load(folder)[1]] == ["refresh-unscheduled"]


def test_nothing_is_said_to_be_unscheduled_while_a_job_cannot_be_read(folder: Path) -> None:
    (folder / "jobs" / "rescore.yaml").write_text("kind: job\nid: [\n")
    assert [each.code for each in records.load(folder)[1]] == ["record-unreadable"]


def test_the_jobs_of_the_page_are_records_of_the_good_set(folder: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "records-jobs.md").read_text()
    shown_job = re.search(r"```yaml\n(kind: job\n.*?)```", page, re.DOTALL)
    guard = re.search(r"```yaml\n(guard:\n.*?)```", page, re.DOTALL)
    assert shown_job is not None
    assert guard is not None
    (folder / "jobs" / "nightly.yaml").write_text(shown_job[1])
    manual = folder / "jobs" / "rehearse.yaml"
    manual.write_text(manual.read_text().partition("guard:")[0] + guard[1])
    found, wrong = records.load(folder)
    assert wrong == ()
    good, _ = records.load(GOOD)
    assert found is not None
    assert good is not None
    assert found.schedules["shop.nightly"] == good.schedules["shop.nightly"]
    assert found.schedules["shop.rehearse"].guard is not None
