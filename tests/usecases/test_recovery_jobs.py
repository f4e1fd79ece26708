"""Recoveries of jobs: what is frozen, what is left out and why, within whose reach; who sees which."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import RecoveryOrder, RecoverySteer, TakeOutOrder
from jobservice.store.database import Database
from jobservice.usecases import job_matches, recoveries, recovery_reading, recovery_steering
from jobservice.usecases.actor import Actor
from tests.usecases.desk import once, refused_with
from tests.usecases.job_hand import FILE, FRAGILE, GONE, KINDS, PLAIN, JobHand
from tests.usecases.recovery_desk import RecoveryDesk, recovery_desk


@pytest.fixture
def desk(database: Database, people: Any) -> RecoveryDesk:
    """A desk whose records know kinds of jobs."""
    made = recovery_desk(database, people)
    made.planned()
    service = replace(made.service, records=replace(made.service.records, job_kinds=KINDS))
    return RecoveryDesk(replace(made.money, service=service), made.hand)


@pytest.fixture
def hand(people: Any) -> JobHand:
    """Writes jobs."""
    return JobHand(people.connection)


async def make(desk: RecoveryDesk, act: str, jobs: list[str], actor: Actor | str = "o.lind") -> dict[str, Any]:
    """A recovery of named jobs."""
    order = RecoveryOrder(act=RecoveryAct(act), reason="The bank is back", jobs=tuple(jobs))
    who = desk.actor(actor) if isinstance(actor, str) else actor
    return dict((await recoveries.make(desk.service, who, order, once())).body["recovery"])


def counted(recovery: dict[str, Any]) -> dict[str, int]:
    """How many each reason leaves out."""
    return {each["reason"]: each["count"] for each in recovery["left_out"]}


async def test_a_recovery_is_shown_whatever_a_reason_had_to_be_when_it_was_made(
    desk: RecoveryDesk, hand: JobHand
) -> None:
    made = await make(desk, "retry", [hand.job()])
    hand.connection.execute('update jobs.recoveries set asked = asked || \'{"reason": "\u200b"}\'')
    shown = (await desk.shown(made)).recovery
    assert (shown.words, shown.command.endswith("--reason '\u200b'")) == (made["words"], True), shown.command


@pytest.mark.requirement("INV-10", "INV-12")
async def test_a_retry_takes_the_latest_of_each_lineage_and_says_why_all_others_are_left_out(
    desk: RecoveryDesk, hand: JobHand
) -> None:
    failed, cancelled = hand.job(), hand.job("cancelled")
    lasting = hand.job()
    again = hand.retry(lasting)
    hand.job("failed", FILE)
    named = [
        *("nonsense", "other:17", failed, cancelled, lasting, again),
        *(hand.job("running"), hand.job("pending"), hand.job("succeeded")),
        *(hand.job("failed", FRAGILE), hand.job("failed", GONE), hand.job("failed", FILE)),
        hand.job("failed", carrier="plan", plan=hand.job()),
        hand.job("failed", tenant="globex"),
    ]
    acknowledged = hand.job(
        resolution="acknowledged", resolved_at="now", resolved_by="s.bell", resolution_reason="T-7", ticket="T-7"
    )
    made = await make(desk, "retry", [*named, acknowledged, f"here:{failed}"])
    shown = await desk.shown(made)
    assert [row.key for row in shown.rows] == [failed, cancelled, again, acknowledged]
    first = shown.rows[0]
    assert (first.target, first.name, first.schedule, first.state) == ("job", "Job 1", PLAIN, "failed")
    assert (first.row_version, first.error, first.cause) == (4, "The account is closed.", None)  # lines of its history
    assert first.scheduled_at is not None
    assert (made["moves"], made["schedules"]) == (
        "nothing",
        [{"schedule": PLAIN, "title": "Plain", "moves": "nothing", "count": 4}],
    )
    assert counted(made) == {
        "unknown": 2,
        "elsewhere": 1,
        "retried": 1,
        "not-settled": 2,
        "succeeded": 1,
        "not-retryable": 2,
        "money": 1,
        "carried": 1,
    }
    told = await desk.left_out(made)
    assert told["other:17"] == ("elsewhere", "It is another engine's job, which is only read here.")
    assert told["Job 3"][1] == (
        f"It was retried already: {again} is the latest of its lineage, and that is what can be retried."
    )
    assert made["words"] == "retry jobs nonsense, other:17, " + failed + " and 13 more"
    assert made["command"].startswith("jobconsole recoveries retry --job nonsense --job other:17")
    another = await make(desk, "retry", [failed, hand.job()])
    assert counted(another) == {"in-recovery": 1}
    assert (await desk.left_out(another))["Job 1"][1] == f"It is in recovery {made['name']}, which is not over yet."


async def test_a_cancellation_takes_what_goes_on_and_moves_no_money(desk: RecoveryDesk, hand: JobHand) -> None:
    pending, running, money = hand.job("pending"), hand.job("running"), hand.job("running", FILE)
    asked = hand.job("running", cancel_asked_at="now", cancel_asked_by="s.bell", cancel_reason="By mistake.")
    carried = hand.job("running", carrier="plan", plan=pending)
    made = await make(desk, "cancel", [pending, running, money, asked, carried, hand.job(), hand.job("succeeded")])
    assert [row.key for row in (await desk.shown(made)).rows] == [pending, running, money]
    assert (made["moves"], made["confirm_by"]) == ("nothing", None)
    assert counted(made) == {"settled": 2, "cancel-asked": 1, "carried": 1}
    assert (await desk.left_out(made))["Job 4"] == (
        "cancel-asked",
        "Sue Bell asked for it to be cancelled already: By mistake.",
    )


@pytest.mark.requirement("MONEY-1")
async def test_finance_gets_the_money_rows_alone_and_confirms_with_a_code_what_the_plans_released(
    desk: RecoveryDesk, hand: JobHand
) -> None:
    plain, money = hand.job(), hand.job("failed", FILE)
    again = hand.retry(money, kind=FILE, plan=None, recovery=plain)
    plan = hand.one("select plan::text from jobs.jobs where id = %s", money)
    hand.connection.execute(
        "insert into jobs.plan_items (plan, item, tenant, number, money_version, fence, title, amount_minor, currency,"
        " payee_id, payee_name, account, account_mark, inputs, turn, ended_at) select %s, jobs.uuid7(), 'acme', n, 1, 1,"
        " 'T', 615, 'GBP', 'P', 'N', 'A', 'm', '{}', t, jobs.now() from unnest(array['done', 'done', 'refused'])"
        " with ordinality as g (t, n)",
        [plan],
    )
    operators = await make(desk, "retry", [plain, again])
    assert [row.key for row in (await desk.shown(operators)).rows] == [plain]
    assert (await desk.left_out(operators))["Job 3"] == (
        "money",
        f"{FILE} moves money: a person with payout.release (finance) retries it, with the code from their phone.",
    )
    await desk.steer("drop", operators)
    made = await make(desk, "retry", [plain, again], "m.ito")
    assert [row.key for row in (await desk.shown(made, "m.ito")).rows] == [again]
    assert [(each["currency"], each["out_minor"], each["count"]) for each in made["money"]] == [("GBP", 1230, 2)]
    assert (made["moves"], made["confirm_by"], counted(made)) == ("money", "totp", {"permission": 1})
    await refused_with(ErrorCode.CODE_WRONG, desk.confirm(made, "m.ito"))
    confirmed = await desk.confirm(made, "m.ito", code=desk.money.code())
    assert confirmed["state"] == "applying"
    assert desk.one("select signature is not null from jobs.recoveries where id = %s", made["id"])
    told = desk.one("select text from jobs.notices where kind = 'recovery-confirmed'")
    assert "It makes these jobs anew. The plans behind them released:\n  GBP 12.30 in 2\n" in told


async def test_an_act_that_a_role_may_do_to_nothing_is_refused_before_anything_is_looked_for(
    desk: RecoveryDesk, hand: JobHand
) -> None:
    job, dead = hand.job("running"), desk.dead()
    for person, act in (("m.ito", "cancel"), ("s.audit", "retry"), ("a.admin", "cancel"), ("p.push", "retry")):
        await refused_with(ErrorCode.PERMISSION_MISSING, make(desk, act, [job], person))
    for act in ("replay", "requeue", "discard"):
        await refused_with(ErrorCode.PERMISSION_MISSING, desk.make(act, "s.bell", occurrences=(dead,)))
    await refused_with(ErrorCode.PERMISSION_MISSING, desk.make("disable", "s.bell", schedules=("r.nightly",)))
    assert desk.rows("select count(*) from jobs.recoveries") == [(0,)]


async def test_support_works_within_its_reach_and_sees_no_other_recovery_of_jobs(
    desk: RecoveryDesk, hand: JobHand
) -> None:
    mine, theirs = hand.job(customer="C-1"), hand.job(customer="C-2")
    nobodys = hand.job()
    desk.dead()
    runs = await desk.make()
    narrowed = replace(desk.actor("s.bell"), customers=("C-1",))
    made = await make(desk, "retry", [mine, theirs, nobodys], narrowed)
    assert [row.key for row in (await desk.shown(made, "s.bell")).rows] == [mine]
    assert counted(made) == {"unknown": 2}
    everyones = await make(desk, "retry", [theirs])

    async def sees(actor: Actor) -> set[str]:
        page = await recovery_reading.list_recoveries(desk.service, actor, live=True, behind=None, limit=10)
        for each in (made, everyones, runs):
            listed = each["id"] in {row.id for row in page.recoveries}
            read = recovery_reading.read_rows(desk.service, actor, each["id"], limit=1)
            if listed:
                assert (await read).recovery.id == each["id"]
            else:
                await refused_with(ErrorCode.NOT_FOUND, read)
        return {row.id for row in page.recoveries}

    assert await sees(narrowed) == {made["id"]}
    assert await sees(desk.actor("s.bell")) == {made["id"], everyones["id"]}
    assert await sees(desk.actor("s.audit")) == {made["id"], everyones["id"], runs["id"]}
    assert await sees(replace(desk.actor("o.lind"), customers=("C-1",))) == {everyones["id"], runs["id"]}
    unseen = everyones["id"]
    take, drop = TakeOutOrder(keys=("x",)), RecoverySteer(reason="r")
    await refused_with(ErrorCode.NOT_FOUND, recoveries.take_out(desk.service, narrowed, unseen, take, once()))
    await refused_with(ErrorCode.NOT_FOUND, recoveries.drop(desk.service, narrowed, unseen, drop, once()))
    await refused_with(ErrorCode.NOT_FOUND, recovery_steering.abort(desk.service, narrowed, unseen, drop, once()))


async def test_jobs_that_settled_before_a_recovery_is_confirmed_do_not_refuse_it(
    desk: RecoveryDesk, hand: JobHand
) -> None:
    """Jobs go on by themselves: what drifted is told when its row has its turn."""
    first, second = hand.job("running"), hand.job("running")
    made = await make(desk, "cancel", [first, second])
    hand.change(first, status="failed", settled_at="now", failure_summary="So.", event_sequence=6)
    confirmed = await desk.confirm(made)
    assert (confirmed["state"], confirmed["count"]) == ("applying", 2)


async def test_a_filter_finds_within_reach_and_leaves_alone_what_a_person_resolved(
    desk: RecoveryDesk, hand: JobHand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page by page, also where each looks at few; what a person resolved is retried by name alone."""
    monkeypatch.setattr(job_matches, "LOOKED", 2)
    failed = [hand.job(customer="C-1") for _ in range(5)]
    hand.job("succeeded", customer="C-1")
    resolved = hand.job(resolution="resolved", resolved_at="now", resolved_by="s.bell", resolution_reason="By hand.")
    theirs = hand.job(customer="C-2")

    async def found(text: str, actor: Actor) -> dict[str, Any]:
        order = RecoveryOrder(act=RecoveryAct.RETRY, reason="Again", job_filter=text)
        made = (await recoveries.make(desk.service, actor, order, once())).body["recovery"]
        given = RecoverySteer(reason="Looked at")
        keys = [row.key for row in (await desk.shown(made, actor.person)).rows]
        await recoveries.drop(desk.service, actor, made["id"], given, once())
        return {**made, "keys": keys}

    operator, narrowed = desk.actor("o.lind"), replace(desk.actor("s.bell"), customers=("C-1",))
    whole = await found("status:failed", operator)
    assert (whole["keys"], counted(whole)) == ([*failed, theirs], {"resolved": 1})
    assert whole["words"] == "retry the jobs that 'status:failed' finds"
    mine = await found("", narrowed)
    assert (mine["keys"], counted(mine)) == (failed, {"succeeded": 1})
    assert resolved not in mine["keys"]
    few = desk.with_settings(recovery_max_items=3)
    order = RecoveryOrder(act=RecoveryAct.RETRY, reason="Again", job_filter="status:failed")
    large = await refused_with(ErrorCode.PLAN_TOO_LARGE, recoveries.make(few.service, operator, order, once()))
    assert "a narrower filter of jobs" in large.detail
    wrong = RecoveryOrder(act=RecoveryAct.RETRY, reason="Again", job_filter="status:lost")
    await refused_with(ErrorCode.FILTER_INVALID, recoveries.make(desk.service, operator, wrong, once()))
    none = RecoveryOrder(act=RecoveryAct.CANCEL, reason="Again", job_filter="status:running")
    await refused_with(ErrorCode.PLAN_EMPTY, recoveries.make(desk.service, operator, none, once()))
