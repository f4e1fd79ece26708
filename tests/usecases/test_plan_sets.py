"""Properties of making a plan, over any mix of amounts, currencies, claims and states: every item of the set is once in
the plan or once among what is left out, the sums are those of its rows, and nobody else's claim is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from jobcontract.errors import ErrorCode
from jobcontract.money import Money, totals
from jobcontract.plan_digest import DigestHead, DigestRow, DigestTotal, plan_digest
from jobcontract.plans import Plan, PlanItem, PlanOrder, TakeOut
from jobservice.usecases import plan_reading, plans
from jobservice.usecases.plan_reading import AskedRows
from tests.usecases.desk import BULK, PAYOUTS, RELEASE_MANY, Desk, once, refused_with

pytestmark = [
    pytest.mark.requirement("MONEY-6"),
    pytest.mark.requirement("MONEY-9"),
    pytest.mark.requirement("MONEY-10"),
    pytest.mark.requirement("show-a-preview-before-bulk-money-actions"),
]

SITUATIONS = {
    "free": {},
    "lapsed": {"holder": "k.rao", "lease": "-1 second"},
    "mine": {"holder": "m.ito", "lease": "1 minute"},
    "held": {"holder": "k.rao", "lease": "1 minute"},
    "closed": {"state": "rejected"},
    "pushed": {"pushed_by": "m.ito"},
    "changed": {"payment_changed_by": "m.ito"},
}
IN = ("free", "lapsed", "mine")
AMOUNTS = st.integers(min_value=1, max_value=10**15) | st.integers(min_value=-(10**15), max_value=-1)
ITEMS = st.tuples(AMOUNTS, st.sampled_from(["GBP", "JPY", "EUR", "USD"]), st.sampled_from(sorted(SITUATIONS)))
SETTINGS = settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
EMPTY = """
do $$ begin
    set local session_replication_role = replica;
    delete from jobs.plan_warnings; delete from jobs.plan_exclusions; delete from jobs.plan_items; delete from jobs.claims;
    delete from jobs.items; delete from jobs.plans;
end $$
"""
ADD = """
insert into jobs.items (
    tenant, queue, title, created, amount_minor, currency, payee_id, payee_name, account, pushed_by, changed_by, holder,
    taken_at, expires_at, fence, state, closed_at, payment_changed_by
)
values (
    'acme', 't.payouts', 'T', jobs.now(), %(minor)s, %(currency)s, 'p', 'P', 'GB29NWBK60161331926819', %(pushed_by)s, 'x',
    %(holder)s, case when %(holder)s::text is not null then jobs.now() end, jobs.now() + %(lease)s::interval, 4, %(state)s,
    case when %(state)s = 'rejected' then jobs.now() end, %(payment_changed_by)s
)
returning id::text
"""
CLAIM = """
insert into jobs.claims (item, fence, tenant, queue, holder, taken_at, expires_at)
select id, fence, tenant, queue, holder, taken_at, expires_at from jobs.items where holder is not null
"""


def add(connection: Any, drawn: list[tuple[int, str, str]]) -> dict[str, tuple[int, str, str]]:
    """Items as they were drawn, by their ids."""
    connection.execute(EMPTY)
    found = {}
    nothing = {"pushed_by": "x", "holder": None, "lease": None, "state": "open", "payment_changed_by": None}
    for minor, currency, situation in drawn:
        values = {"minor": minor, "currency": currency, **nothing, **SITUATIONS[situation]}
        found[connection.execute(ADD, values).fetchone()[0]] = (minor, currency, situation)
    connection.execute(CLAIM)
    return found


def fits(item: tuple[int, str, str]) -> bool:
    return item[2] in IN and item[1] in BULK.limits.currencies


def digest_of(plan: Plan, rows: list[PlanItem]) -> str:
    """As whoever confirms computes it, from what the API says."""
    head = DigestHead(
        tenant=plan.tenant,
        plan=plan.id,
        person=plan.owner.id,
        command=plan.command,
        use_case=plan.use_case,
        use_case_version=plan.use_case_version,
        frozen_at=plan.frozen_at,
        parameters={},
        count=plan.count,
        totals=tuple(DigestTotal(**each.model_dump(exclude={"net_minor"})) for each in plan.totals),
    )
    return plan_digest(
        head,
        [
            DigestRow(
                item=row.item,
                money_version=row.money_version,
                key=row.key or "",
                title=row.title,
                minor=row.amount.minor,
                currency=row.amount.currency,
                exponent=row.amount.exponent,
                payee_id=row.payee.id,
                payee_name=row.payee.name,
                account_last4=row.payee.account_last4,
                account_mark=row.account_mark,
            )
            for row in rows
        ],
    )


async def read(desk: Desk, plan: Plan) -> tuple[list[PlanItem], list[str]]:
    """Its rows and the ids of what is not in it, page by page."""
    rows: list[PlanItem] = []
    mark = None
    while True:
        asked = AskedRows(limit=3)
        page = await plan_reading.plan_items(desk.service, desk.actor("s.audit"), plan.id, asked, mark=mark)
        rows += [PlanItem.model_validate(each) for each in json.loads(page.json)]
        assert (page.edition, page.matching) == (plan.edition, plan.count)
        mark = page.next
        if mark is None:
            break
    out: list[str] = []
    while True:
        left, mark = await plan_reading.plan_exclusions(
            desk.service, desk.actor("s.audit"), plan.id, limit=2, mark=mark
        )
        out += [each.item for each in left.items]
        if mark is None:
            return rows, out


def judge(plan: Plan, rows: list[PlanItem], expected: dict[str, tuple[int, str, str]], digest: bytes) -> None:
    """The rows are exactly these, and every sum and the digest are those of the rows."""
    assert [row.item for row in rows] == sorted(expected)
    assert [row.number for row in rows] == list(range(1, len(expected) + 1))
    sums = totals(Money(minor=minor, currency=currency) for minor, currency, _ in expected.values())
    shown = [(t.currency, t.out_minor, t.out_count, t.back_minor, t.back_count) for t in plan.totals]
    counted = [(t.currency, t.out_minor, t.out_count, t.back_minor, t.back_count) for t in sums]
    assert shown == sorted(counted)
    assert all(each.net_minor == each.out_minor - each.back_minor for each in plan.totals)
    assert digest_of(plan, rows) == digest.hex()


@SETTINGS
@given(drawn=st.lists(ITEMS, min_size=1, max_size=9), named=st.booleans())
async def test_every_item_is_once_in_the_plan_or_once_left_out(
    desk: Desk, drawn: list[tuple[int, str, str]], named: bool
) -> None:
    connection = desk.people.connection
    items = add(connection, drawn)
    untouched = "select id, holder, fence, row_version from jobs.items where plan is null order by id"
    before = {row[0]: row for row in connection.execute(untouched).fetchall()}
    what: dict[str, Any] = {"items": tuple(items)} if named else {"filter": ""}
    order = PlanOrder(command=RELEASE_MANY, **what)
    expected = {item: each for item, each in items.items() if fits(each)}
    making = plans.make(desk.service, desk.actor("m.ito"), PAYOUTS, order, once())
    if not expected:
        await refused_with(ErrorCode.PLAN_EMPTY, making)
        return
    made = await making
    plan = Plan.model_validate(made.body)
    rows, out = await read(desk, plan)
    digests = connection.execute("select digest from jobs.plans").fetchone()
    judge(plan, rows, expected, bytes(digests[0]))
    shown = {item for item, each in items.items() if named or each[2] != "closed"}
    assert sorted(out) == sorted(shown - set(expected))
    assert sum(each.count for each in plan.excluded) == len(out)
    after = connection.execute(untouched).fetchall()
    assert after == [before[row[0]] for row in after]
    assert len(after) == len(items) - len(expected)
    if len(expected) > 1:
        gone = sorted(expected)[len(expected) // 2]
        again = await plans.take_out(desk.service, desk.actor("m.ito"), plan.id, TakeOut(items=(gone,)), once())
        plan = Plan.model_validate(again.body)
        rows, out = await read(desk, plan)
        digests = connection.execute("select digest from jobs.plans").fetchone()
        judge(plan, rows, {item: each for item, each in expected.items() if item != gone}, bytes(digests[0]))
        assert gone in out
