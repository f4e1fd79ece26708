"""Owns the desk at which money is released in tests: plans made as a person makes them, phones, every order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pyotp
from pydantic import SecretStr

from jobcontract.plans import (
    AbortPlan,
    Confirm,
    PausePlan,
    PlanOrder,
    ResumePlan,
    StartMoney,
    StopMoney,
    WasNotPaid,
    WasPaid,
)
from jobservice.rules.bulk import BulkCommand
from jobservice.rules.keys import Keys
from jobservice.store.database import Database
from jobservice.usecases import confirming, money, plans, steering, uncertain
from jobservice.usecases.codes import PURPOSE
from jobservice.usecases.idempotency import Answered, Once
from tests.usecases.desk import BULK, PAYOUTS, RELEASE_MANY, UNCERTAIN, Desk, once, payout
from tests.usecases.desk import desk as new_desk

KEYS = Keys(
    seal_keys={"s1": bytes(range(32))},
    current_seal="s1",
    sign_keys={"k1": bytes(range(32, 64))},
    current_sign="k1",
)
WRONG = "000000"
"""No code of any of the phones at a test's time, but for one chance in a million."""


class MoneyDesk(Desk):
    """A desk whose finance people have phones."""

    def with_command(self, **changes: Any) -> MoneyDesk:
        """The same desk under another record of the bulk command."""
        command: BulkCommand = replace(BULK, **changes)
        records = replace(self.service.records, bulk={command.id: command})
        return MoneyDesk(replace(self.service, records=records), self.people, self.numbers)

    def with_limits(self, **changes: Any) -> MoneyDesk:
        """The same desk under other limits."""
        return self.with_command(limits=replace(BULK.limits, **changes))

    def enrol(self, *persons: str) -> None:
        """Give each of them a phone."""
        for person in persons:
            sealed = KEYS.seal(person, PURPOSE, secret_of(person).encode())
            self.people.connection.execute(
                "insert into jobs.codes (person, key_id, sealed, enrolled_at) values (%s, %s, %s, jobs.now())",
                (person, sealed.key_id, sealed.sealed),
            )

    def now(self) -> datetime:
        """The database's clock."""
        moment: datetime = self.people.connection.execute("select jobs.now()").fetchone()[0]
        return moment

    def code(self, person: str = "m.ito", *, steps: int = 0) -> str:
        """What the person's phone shows now, or so many steps later."""
        return str(pyotp.TOTP(secret_of(person)).at(int(self.now().timestamp()) + 30 * steps))

    def spent(self, person: str = "m.ito") -> int:
        """The last step of which a code of that person was accepted; 0 = none."""
        row = self.people.connection.execute("select last_step from jobs.codes where person = %s", (person,)).fetchone()
        return 0 if row is None else int(row[0])

    async def pushed(self, count: int, *, minor: int = 1_000, **more: Any) -> list[str]:
        """Push so many payouts; their ids."""
        return [(await self.push(new=payout(f"K-{next(self.numbers)}", minor, **more)))["id"] for _ in range(count)]

    async def plan(self, items: Sequence[str], person: str = "m.ito") -> dict[str, Any]:
        """A plan of these items."""
        order = PlanOrder(command=RELEASE_MANY, items=tuple(items))
        return dict((await plans.make(self.service, self.actor(person), PAYOUTS, order, once())).body)

    def digest(self, plan: dict[str, Any]) -> str:
        """The digest that the service keeps, which a client computes over every page."""
        row = self.people.connection.execute("select digest from jobs.plans where id = %s", (plan["id"],)).fetchone()
        return bytes(row[0]).hex()

    async def confirm(
        self,
        plan: dict[str, Any],
        *,
        person: str = "m.ito",
        code: str | None = "",
        digest: str | None = None,
        request: Once | None = None,
    ) -> Answered:
        """Confirm it: with what the phone shows unless another code, or none, is given."""
        order = Confirm(digest=digest or self.digest(plan), code=self._typed(code, person))
        return await confirming.confirm(self.service, self.actor(person), plan["id"], order, request or once())

    def _typed(self, code: str | None, person: str) -> SecretStr | None:
        return None if code is None else SecretStr(code or self.code(person))

    async def confirmed(self, count: int = 2) -> dict[str, Any]:
        """A plan of so many payouts that m.ito confirmed."""
        plan = await self.plan(await self.pushed(count))
        return dict((await self.confirm(plan)).body)

    async def pause(self, plan: dict[str, Any], person: str = "o.lind", reason: str = "Odd") -> Answered:
        return await steering.pause(self.service, self.actor(person), plan["id"], PausePlan(reason=reason), once())

    async def resume(self, plan: dict[str, Any], person: str = "k.rao", code: str = "") -> Answered:
        order = ResumePlan(code=SecretStr(code or self.code(person)))
        return await steering.resume(self.service, self.actor(person), plan["id"], order, once())

    async def abort(self, plan: dict[str, Any], person: str = "o.lind", reason: str = "Wrong set") -> Answered:
        return await steering.abort(self.service, self.actor(person), plan["id"], AbortPlan(reason=reason), once())

    async def stop(self, person: str = "o.lind", reason: str = "A fraud") -> Answered:
        return await money.stop_money(self.service, self.actor(person), StopMoney(reason=reason), once())

    async def start(self, person: str = "m.ito", code: str = "", reason: str = "All well") -> Answered:
        order = StartMoney(reason=reason, code=SecretStr(code or self.code(person)))
        return await money.start_money(self.service, self.actor(person), order, once())

    async def review(self, plan: dict[str, Any], person: str = "k.rao") -> tuple[str, dict[str, Any]]:
        """Make the plan's first item uncertain, as the Worker does; it, and the review item as `person` claimed it."""
        row = self.people.connection.execute(
            "update jobs.plan_items set turn = 'uncertain', ended_at = jobs.now(), sent_at = jobs.now(), turn_fence = 1,"
            " outward_key = 'jc-' || item where plan = %s and number = 1 returning item::text",
            (plan["id"],),
        ).fetchone()
        added = self.people.connection.execute(
            "insert into jobs.items (tenant, queue, title, created, amount_minor, currency, payee_id, payee_name,"
            " account, pushed_by, changed_by, about) select tenant, %s, 'Was it paid?', jobs.now(), amount_minor,"
            " currency, payee_id, payee_name, account, 'service', 'service', id from jobs.items where id = %s"
            " returning id::text",
            (UNCERTAIN, row[0]),
        ).fetchone()
        claimed = (await self.claim(person, added[0])).body["item"]
        return row[0], dict(claimed)

    async def was_paid(self, review: dict[str, Any], person: str = "k.rao") -> Answered:
        order = WasPaid(fence=review["fence"], reference="BANK-7", reason="It is on the statement")
        return await uncertain.was_paid(self.service, self.actor(person), review["id"], order, once())

    async def was_not_paid(self, review: dict[str, Any], person: str = "k.rao", code: str = "") -> Answered:
        order = WasNotPaid(
            fence=review["fence"], reason="The bank has nothing", code=SecretStr(code or self.code(person))
        )
        return await uncertain.was_not_paid(self.service, self.actor(person), review["id"], order, once())

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """What the database holds."""
        return [tuple(row) for row in self.people.connection.execute(query, values).fetchall()]

    def moved(self) -> tuple[int, ...]:
        """Whatever could be money on its way: confirmed plans, held items, sums, releases, what was said of payouts."""
        return tuple(
            self.rows(
                "select (select count(*) from jobs.plans where confirmed_at is not null),"
                " (select count(*) from jobs.items where held), (select count(*) from jobs.outgoings),"
                " (select count(*) from jobs.releases), (select count(*) from jobs.plan_evidence)"
            )[0]
        )


def secret_of(person: str) -> str:
    """The secret in a person's phone."""
    return _SECRETS[person]


_SECRETS = {
    "m.ito": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    "k.rao": "MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43U",
    "g.fin": "KRUGS4ZANFZSAYJAON2HE2LOM4QG64RA",
}


def money_desk(database: Database, people: Any) -> MoneyDesk:
    """A desk over a database, with the phones of finance enrolled."""
    plain = new_desk(database, people)
    made = MoneyDesk(replace(plain.service, keys=KEYS), people)
    made.enrol(*_SECRETS)
    return made
