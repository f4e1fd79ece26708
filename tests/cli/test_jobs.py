"""Twins of background jobs: what is listed, shown, counted and summed up; acting takes a reason and is refused in a sentence;
inputs are typed as the kind declares them; recoveries of jobs are made from names or a filter."""

from __future__ import annotations

import json

import pytest

from jobconsole.client.fake_job_examples import HOSTILE, Furnished, furnish
from jobconsole.client.fake_jobs import FakeReach
from jobconsole.present.recovery_command import order_of
from jobcontract.job_states import JobResolution, JobStatus
from jobcontract.operating import LeftOut, RecoveryState
from jobcontract.recoveries import NAMED_MOST
from tests.cli.twins import Typed

pytestmark = pytest.mark.requirement("INV-10", "INV-12")
OPERATOR, SUPPORT = "o.lind", "s.bell"


@pytest.fixture
def furnished(typed: Typed) -> Furnished:
    """The account with jobs of every fate."""
    return furnish(typed.fake.account)


def test_the_first_list_is_failures_that_nobody_resolved_and_says_what_is_not_in_it(
    typed: Typed, furnished: Furnished
) -> None:
    alone = typed("jobs", person=SUPPORT)
    assert alone.exit_code == 0
    assert all(job.id in alone.output for job in (*furnished.failed, furnished.foreign))
    assert not any(job.id in alone.output for job in (*furnished.lineage, furnished.running, furnished.corrected))
    assert "Not in this list: archive. The database of archive cannot be reached" in alone.output
    assert alone.output == typed("jobs", "list", "--view", "unresolved", person=SUPPORT).output
    answer = typed.json("jobs", "list", "--view", "all", "--limit", "5", person=SUPPORT)
    assert (len(answer["jobs"]), answer["jobs"][0]["id"]) == (5, furnished.pending.id)
    second = typed("jobs", "list", "--view", "all", "--limit", "5", "--cursor", answer["next"], person=SUPPORT)
    assert furnished.pending.id not in second.output
    assert "There are more: --cursor 10  (or --all)" in second.output
    every = typed.json("jobs", "list", "--view", "all", "--all", person=SUPPORT)
    assert [each["id"] for each in every["jobs"]] == [each.id for each in typed.fake.account.within(SUPPORT)]
    assert typed("jobs", "list", "--filter", "error:nonesuch", person=SUPPORT).output.startswith("No job is like that.")
    assert furnished.foreign.id in typed("jobs", "list", "--source", "mailing", person=SUPPORT).output
    typed.fake.account.page_most = 2
    short = typed("jobs", "list", "--view", "all", "--limit", "5", person=SUPPORT).output
    assert "Looked back to 2026-03-02 08:56:00Z (Mon 2026-03-02 08:56 UTC) so far.\n" in short
    assert "There are more: --cursor 2" in short


def test_text_of_the_service_steers_no_terminal(typed: Typed, furnished: Furnished) -> None:
    job = furnished.hostile
    revealed = typed("jobs", "reveal", job.id, "--reason", "asked", person=OPERATOR)
    shown = [typed("jobs"), typed("jobs", "show", job.id), typed("jobs", "summary", job.id), revealed]
    for result in (*shown, typed("find", "E-6666")):
        assert result.exit_code == 0, result.output
        assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(result.output)
        assert "[bold]Ltd" in result.output
    assert json.loads(typed("jobs", "show", job.id, "--json").stdout)["summary"]["subject"] == HOSTILE


def test_counts_say_how_exact_they_are(typed: Typed, furnished: Furnished) -> None:
    assert furnished.failed
    exact = typed("jobs", "counts", "--filter", "kind:payments.export", "--source", "here", person=SUPPORT).output
    assert "listed               5\n" in exact
    assert "unresolved failures  6\n" in exact
    # One source was not reached, so that nobody knows how many it has; the failure of another one counts with the list.
    assert "listed               at least 7\n" in typed("jobs", "counts", person=SUPPORT).output
    typed.fake.account.exact = False
    assert "unresolved failures  about 6, 4 s old\n" in typed("jobs", "counts", person=SUPPORT).output


def test_a_job_is_shown_with_its_steps_retries_notices_and_what_may_be_done(typed: Typed, furnished: Furnished) -> None:
    first, second, third = furnished.lineage
    shown = typed("jobs", "show", second.id, person=SUPPORT).output
    assert "failed, mended by a retry, 50 %" in shown
    assert f"mended by its retry {third.id}" in shown
    tree = shown[shown.index("lineage") :].splitlines()[1:4]
    assert [row.split()[0] for row in tree] == [first.id, second.id, third.id]
    assert [len(row) - len(row.lstrip()) for row in tree] == [0, 2, 4]
    assert "licence  Licence  (masked)" in shown
    assert "L-5498" not in shown
    assert "resolve  not possible: The failure is retried already." in shown
    told = typed("jobs", "show", furnished.corrected.id, person=SUPPORT).output
    assert "failed, not succeeded" in told
    assert "Success refused: step 3 (deliver) is still running." in told
    cancelled = typed("jobs", "show", furnished.cancelled.id, person=SUPPORT).output
    assert "by o.lind (Olle Lind): The customer wants March as well." in cancelled
    foreign = typed("jobs", "show", furnished.foreign.id, "--source", "mailing", person=SUPPORT).output
    assert "retry    not possible: It is a job of mailing, another engine's: it is only read here." in foreign
    history = typed.json("jobs", "events", furnished.running.id, "--limit", "3", person=SUPPORT)
    assert [each["sequence"] for each in history["events"]] == [17, 16, 15]
    every = typed.json("jobs", "events", furnished.running.id, "--all", person=SUPPORT)
    assert [each["sequence"] for each in every["events"]] == list(range(17, 0, -1))
    lines = typed("jobs", "kinds", person=SUPPORT).output
    assert "month:text format:text store:text" in lines
    assert "year:integer [draft:boolean]" in lines
    assert typed("jobs", "summary", furnished.failed[0].id, person=SUPPORT).output.count("Please quote E-7A31") == 1


def test_what_is_beyond_reach_is_unknown(typed: Typed, furnished: Furnished) -> None:
    typed.fake.account.reach[SUPPORT] = FakeReach(customers=frozenset({"C-1007"}))
    rows = typed.json("jobs", "list", "--view", "all", person=SUPPORT)["jobs"]
    assert {each["customer"] for each in rows} == {"C-1007"}
    for twin in (("show",), ("cancel", "--reason", "x"), ("reveal", "--reason", "x"), ("summary",)):
        refused = typed("jobs", twin[0], furnished.money.id, *twin[1:], person=SUPPORT)
        assert (refused.exit_code, "refused (not-found)" in refused.stderr) == (1, True)
    assert "Nothing that you may see is called E-6666" in typed("find", "E-6666", person=SUPPORT).output


def test_acting_says_what_became_of_it_and_refusals_are_sentences(typed: Typed, furnished: Furnished) -> None:
    why = ("--reason", "The customer asked")
    cancelled = typed("jobs", "cancel", furnished.running.id, *why, person=SUPPORT)
    assert "It is asked to be cancelled" in cancelled.output
    assert "running, asked to be cancelled" in cancelled.output
    at_once = typed("jobs", "cancel", furnished.pending.id, *why, person=SUPPORT)
    assert "It is cancelled; nothing of it had begun." in at_once.output
    retried = typed.json("jobs", "retry", furnished.failed[0].id, *why, person=SUPPORT)
    assert (retried["first"], retried["job"]["retry_of"]) == (True, furnished.failed[0].id)
    again = typed.json("jobs", "retry", furnished.failed[0].id, *why, person=SUPPORT)
    assert (again["first"], again["job"]["id"]) == (False, retried["job"]["id"])
    assert typed("jobs", "resolve", furnished.failed[1].id, *why, "--ticket", "OPS-1", person=SUPPORT).exit_code == 0
    assert furnished.failed[1].summary.resolution is JobResolution.ACKNOWLEDGED
    revealed = typed("jobs", "reveal", furnished.failed[2].id, *why, person=SUPPORT).output
    assert "auditors" in revealed
    assert furnished.failed[2].events[-1].kind.value == "revealed"
    for words, code in (
        (("cancel", furnished.corrected.id), "job-settled"),
        (("retry", furnished.running.id), "job-not-settled"),
        (("retry", furnished.money.id), "needs-plan"),
        (("retry", furnished.apply.id), "job-carried"),
        (("resolve", furnished.cancelled.id), "job-not-failed"),
        (("resolve", furnished.failed[1].id), "job-resolved"),
    ):
        refused = typed("jobs", *words, *why, person=SUPPORT)
        assert (refused.exit_code, f"refused ({code}): " in refused.stderr) == (1, True), refused.stderr
    assert "recovery" in typed("jobs", "retry", furnished.money.id, *why, person=SUPPORT).stderr
    assert typed("jobs", "retry", furnished.failed[3].id, *why, person="a.nagy").exit_code == 1
    assert typed("jobs", "retry", furnished.failed[3].id, "--reason", " ", person=SUPPORT).exit_code == 2
    assert typed("jobs", "retry", furnished.failed[3].id, "--reason", "x" * 501, person=SUPPORT).exit_code == 2
    for key in ("\u00e9", "a b"):
        wrong = typed("jobs", "cancel", furnished.running.id, "--reason", "x", "--key", key, person=SUPPORT)
        assert (wrong.exit_code, "it holds a blank, or a character" in wrong.stderr) == (2, True), key
    most = typed("recoveries", "retry", "--reason", "x", *(["--job", "x"] * (NAMED_MOST + 1)), person=SUPPORT)
    assert (most.exit_code, most.stderr) == (2, "jobs: at most 1,000 can be named, not 1,001.\n")
    unseen = typed("jobs", "retry", furnished.failed[3].id, "--reason", "\u200b", person=SUPPORT)
    assert (unseen.exit_code, "nobody would see anything of it" in unseen.stderr) == (2, True)


def test_an_answer_that_got_lost_is_repeated_with_its_key_and_done_once(typed: Typed, furnished: Furnished) -> None:
    words = ("jobs", "retry", furnished.failed[0].id, "--reason", "Again", "--key", "k-1")
    count = len(typed.fake.account.jobs)
    typed.fake.lost = 1
    assert "unknown, checking" in typed(*words, person=SUPPORT).stderr
    assert typed(*words, person=SUPPORT).exit_code == 0
    assert len(typed.fake.account.jobs) == count + 1


def test_a_job_is_submitted_once_with_inputs_as_the_kind_declares_them(typed: Typed) -> None:
    words = ("jobs", "submit", "reports.rebuild", "--identity", "T-1", "--subject", "Reports")
    made = typed(*words, "--input", "year=2025", "--input", "draft=yes", person=OPERATOR)
    assert made.output.startswith("It is submitted.")
    job = next(iter(typed.fake.account.jobs.values()))
    assert job.inputs == {"year": 2025, "draft": True}
    again = typed(*words, "--input", "draft=true", "--input", "year=2025", person=OPERATOR)
    assert again.output.startswith("It was submitted before, with the same inputs")
    other = typed(*words, "--input", "year=2024", person=OPERATOR)
    assert "refused (job-identity-taken)" in other.stderr
    assert job.id in other.stderr
    pushed = typed(*words[:4], "T-2", "--input", "year=7", "--input", "draft=false", person="i.feed")
    assert pushed.exit_code == 0, pushed.stderr  # who submits reads kinds, though no jobs
    export = ("jobs", "submit", "payments.export", "--identity", "T-3", "--input", "month=2026")
    typed(*export, "--input", "format=csv", "--input", "store=true story", person="i.feed")
    assert typed.fake.account.within("i.feed")[0].inputs == {"month": "2026", "format": "csv", "store": "true story"}
    for more, code, sentence in (
        (("--input", "year=soon"), 2, "--input year: soon is no whole number."),
        (("--input", "year=1", "--input", "draft=perhaps"), 2, "it takes true or false; not perhaps."),
        (("--input", "year"), 2, "year is not NAME=VALUE."),
        (("--input", "year=1", "--input", "year=2"), 2, "year is given twice."),
        (("--input", "month=1"), 1, "refused (job-inputs-unfit): Rebuild of reports has no input month."),
    ):
        result = typed(*words[:4], "T-9", *more, person=OPERATOR)
        assert (result.exit_code, sentence in result.stderr) == (code, True), result.stderr
    money = typed("jobs", "submit", "payments.bank-file", "--identity", "T-4", person=OPERATOR)
    assert "refused (needs-plan)" in money.stderr


def test_watching_says_how_far_it_is_and_ends_as_it_ended(
    typed: Typed, furnished: Furnished, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go_on() -> None:
        typed.fake.account.work()

    monkeypatch.setattr("jobconsole.cli_jobs.wait", go_on)
    done = typed("jobs", "watch", furnished.running.id, person=SUPPORT)
    assert (done.exit_code, furnished.running.summary.status) == (0, JobStatus.SUCCEEDED)
    assert done.stderr.splitlines()[0] == "running, 53 %, Archive them: running"
    assert done.stderr.splitlines()[-1].startswith("succeeded, 100 %")
    assert typed("jobs", "watch", furnished.failed[0].id, person=SUPPORT).exit_code == 1


@pytest.mark.requirement("audit-manual-replay")
def test_many_are_retried_or_cancelled_by_a_recovery_which_tells_what_had_drifted(
    typed: Typed, furnished: Furnished
) -> None:
    words = ("recoveries", "retry", "--filter", "status:failed kind:payments.export", "--reason", "The store has room")
    made = typed(*words, person=SUPPORT)
    assert made.exit_code == 0, made.stderr
    recovery = next(iter(typed.fake.recoveries.all.values()))
    assert {each.reason for each in recovery.left_out} == {LeftOut.RESOLVED}
    assert order_of(recovery.command) == recovery.order
    assert typed("jobs", "retry", furnished.failed[0].id, "--reason", "First", person=SUPPORT).exit_code == 0
    assert typed("recoveries", "confirm", recovery.name, person=SUPPORT).exit_code == 0
    while typed.fake.recoveries.step(recovery):
        pass
    assert recovery.state is RecoveryState.DONE
    shown = typed("recoveries", "show", recovery.name, person=SUPPORT).output
    assert f"1 of {len(recovery.rows)} had been retried meanwhile." in shown
    rows = typed("recoveries", "show", recovery.name, "--rows", person=SUPPORT).output
    assert all(row.made in rows for row in recovery.rows if row.made is not None)
    assert sum(row.made is not None for row in recovery.rows) == len(recovery.rows) - 1
    named = ("--job", furnished.running.id, "--job", furnished.cancelled.id, "--reason", "Not wanted")
    cancelling = typed("recoveries", "cancel", *named, person=OPERATOR)
    assert "1 settled already" in cancelling.output
    both = typed("recoveries", "retry", "--filter", "x", "--job", "y", "--reason", "z", person=SUPPORT)
    neither = typed("recoveries", "cancel", "--reason", "z", person=SUPPORT)
    for wrong in (both, neither):
        assert (wrong.exit_code, "name either jobs" in wrong.stderr) == (2, True)


@pytest.mark.requirement("MONEY-20")
def test_a_kind_of_job_is_stopped_and_the_overview_counts_jobs(typed: Typed, furnished: Furnished) -> None:
    stop = ("stops", "stop", "job-kind", "workspace.activate", "--reason", "The directory is down")
    assert "Activation of a workspace" in typed(*stop, person=OPERATOR).output
    typed.fake.account.work()
    assert not furnished.pending.summary.started_at
    shown = typed("overview", person=OPERATOR).output
    assert "jobs that failed, unresolved  6\n" in shown
    typed.fake.account.reach["s.bell"] = FakeReach(customers=frozenset({"C-1042"}))
    assert "jobs that failed, unresolved  2\n" in typed("overview", person=SUPPORT).output, "of that customer"
    lift = ("stops", "lift", "job-kind", "workspace.activate", "--reason", "It is back")
    assert typed(*lift, person=OPERATOR).exit_code == 0
    typed.fake.account.work()
    assert furnished.pending.summary.started_at
    unknown = typed("stops", "stop", "job-kind", "no.such", "--reason", "x", person=OPERATOR)
    assert "refused (not-found)" in unknown.stderr


@pytest.mark.requirement("MONEY-1")
def test_the_retry_of_a_job_that_moves_money_takes_a_code_of_finance(typed: Typed, furnished: Furnished) -> None:
    words = ("recoveries", "retry", "--job", furnished.money.id, "--reason", "The bank takes files again")
    refused = typed(*words, person=SUPPORT)
    assert "refused (plan-empty)" in refused.stderr
    made = typed(*words, person="m.ito")
    assert "which asks for the six digits from your phone" in made.output
    name = next(iter(typed.fake.recoveries.all.values())).name
    assert typed("recoveries", "confirm", name, "--code", "-", person="m.ito", stdin="000000\n").exit_code == 1
    code = f"{typed.fake.bulk.codes.fresh('m.ito')}\n"
    assert typed("recoveries", "confirm", name, "--code", "-", person="m.ito", stdin=code).exit_code == 0
