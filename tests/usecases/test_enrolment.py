"""A phone is enrolled by two of its codes, changes nothing until then, and afterwards rests; what its person had begun is
held back, and everybody concerned is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from jobcontract.errors import ErrorCode
from jobservice.rules import codes as rules
from jobservice.rules.codes import Verdict
from jobservice.store.database import Database
from jobservice.usecases import enrolment, keyring, people
from jobservice.usecases.codes import judge
from jobservice.usecases.enrolment import Pending
from tests.usecases.desk import refused_with
from tests.usecases.money_desk import KEYS, WRONG, MoneyDesk, money_desk, secret_of

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-16")
DAY = 86_400.0


class Office:
    """The commands of the server, with a desk to see what they do to people's work."""

    def __init__(self, desk: MoneyDesk, owner: Database) -> None:
        self.desk = desk
        self.owner = owner

    async def begin(self, person: str = "m.ito", **more: Any) -> Pending:
        return await enrolment.begin(self.owner, KEYS, person, **more)

    def later(self) -> None:
        """Wait for the next code but one: whatever was spent is behind."""
        self.desk.people.connection.execute("update test_clock.offset_now set seconds = seconds + 60")

    def typed(self, secret: str) -> tuple[str, str]:
        """What the new phone shows, and shows next."""
        now = rules.step_of(self.desk.now())
        return rules.code_at(secret, now), rules.code_at(secret, now + 1)

    async def finish(self, pending: Pending, *, rest: float = DAY) -> enrolment.Changed:
        one, two = self.typed(pending.secret)
        return await enrolment.finish(self.owner, KEYS, pending.person, one, two, rest_seconds=rest)

    async def verdict(self, code: str, person: str = "m.ito") -> Verdict:
        return (await judge(self.desk.service, self.desk.actor(person), SecretStr(code))).verdict

    def told(self) -> list[tuple[Any, ...]]:
        return self.desk.rows("select tenant, person, kind from jobs.notices order by person")


@pytest.fixture
def office(database: Database, owner_database: Database, people: Any) -> Office:
    """Its desk's finance people have phones already."""
    return Office(money_desk(database, people), owner_database)


async def test_the_old_phone_works_until_two_codes_of_the_new_one_were_typed(office: Office) -> None:
    pending = await office.begin()
    assert pending.replaces
    assert pending.secret not in repr(pending)
    assert await office.verdict(office.typed(pending.secret)[0]) is Verdict.WRONG
    assert await office.verdict(office.desk.code()) is Verdict.RIGHT
    standing = await enrolment.status(office.owner, "m.ito")
    assert (standing.tries_left, standing.pending_at is None) == (5, False)


@pytest.mark.requirement("OTP-01")
async def test_both_codes_are_spent_and_the_new_phone_is_in_force(office: Office) -> None:
    pending = await office.begin()
    one, two = office.typed(pending.secret)
    changed = await enrolment.finish(office.owner, KEYS, "m.ito", f" {one[:3]} {one[3:]}", two, rest_seconds=0)
    assert changed.rests_until is None
    assert await office.verdict(one) is Verdict.USED
    assert await office.verdict(two) is Verdict.USED
    assert office.desk.spent() == rules.step_of(office.desk.now()) + 1
    old = rules.code_at(secret_of("m.ito"), rules.step_of(office.desk.now()))
    assert await office.verdict(old) is Verdict.WRONG


async def test_codes_spent_on_the_old_phone_are_not_spent_again_on_the_new(office: Office) -> None:
    same = await office.begin(own=secret_of("m.ito"))
    assert await office.verdict(office.desk.code(steps=1)) is Verdict.RIGHT
    refusal = await refused_with(ErrorCode.CODE_USED, office.finish(same))
    assert "already used" in refusal.detail
    assert office.desk.spent() == rules.step_of(office.desk.now()) + 1


@pytest.mark.parametrize("typed", [("000000", "000001"), ("same", "same"), ("second", "first")])
async def test_other_pairs_prove_nothing(office: Office, typed: tuple[str, str]) -> None:
    pending = await office.begin("k.rao")
    first, second = office.typed(pending.secret)
    named = {"same": first, "first": first, "second": second}
    one, two = (named.get(each, each) for each in typed)
    wrong = enrolment.finish(office.owner, KEYS, "k.rao", one, two, rest_seconds=0)
    assert "one right after the other" in (await refused_with(ErrorCode.CODE_WRONG, wrong)).detail
    assert await office.verdict(office.desk.code("k.rao"), "k.rao") is Verdict.RIGHT


async def test_what_was_given_up_is_forgotten(office: Office) -> None:
    pending = await office.begin()
    await enrolment.cancel(office.owner, "m.ito")
    refusal = await refused_with(ErrorCode.INVALID_REQUEST, office.finish(pending))
    assert "being enrolled" in refusal.detail


@pytest.mark.requirement("MONEY-15", "MONEY-31")
async def test_it_rests_and_locks_and_counts_stay(office: Office) -> None:
    for number in range(3):
        await office.verdict(f"00000{number}")
    changed = await office.finish(await office.begin())
    assert changed.rests_until is not None
    assert (changed.rests_until - office.desk.now()).total_seconds() == pytest.approx(DAY, abs=60)
    assert office.desk.rows("select in_a_row from jobs.codes where person = 'm.ito'") == [(3,)]
    assert office.desk.rows("select count(*) from jobs.code_failures") == [(3,)]
    assert await office.verdict(office.typed(secret_of("m.ito"))[0]) is Verdict.UNREADY
    assert changed.told == ("k.rao",)
    assert office.told() == [("acme", "k.rao", "code-enrolled"), ("acme", "m.ito", "code-enrolled")]
    text = office.desk.rows("select text from jobs.notices where person = 'k.rao'")[0][0]
    assert "Another phone was enrolled for m.ito on the server. Their codes confirm nothing before" in text
    assert (None, "code-enrolled", "done") in office.desk.audited()


@pytest.mark.requirement("MONEY-21")
async def test_open_plans_are_void_and_what_is_applied_is_paused(office: Office) -> None:
    desk = office.desk
    applied, other = await desk.confirmed(1), await desk.plan(await desk.pushed(1), "k.rao")
    opened = await desk.plan(await desk.pushed(2))
    office.later()
    changed = await office.finish(await office.begin())
    assert changed.held_back.voided == (opened["name"],)
    assert changed.held_back.paused == (applied["name"],)
    states = dict(desk.rows("select name, state from jobs.plans"))
    assert states == {
        opened["name"]: "voided",
        applied["name"]: "paused",
        other["name"]: "open",
    }
    held = desk.rows("select plan_name, holder, held from jobs.items where plan is not null order by held")
    assert held == [(other["name"], "k.rao", False), (applied["name"], "m.ito", True)]
    assert desk.rows("select reason from jobs.plans where state = 'voided'") == [
        ("Another phone was enrolled for m.ito.",)
    ]
    audited = [action for _, action, _ in desk.audited()]
    assert {"plan-voided", "plan-paused"} <= set(audited)
    topics = {row[0] for row in desk.rows("select topic from jobs.hints where ref = %s", opened["id"])}
    assert "plan" in topics


async def test_a_lost_phone_is_taken_off(office: Office) -> None:
    await office.verdict(office.desk.code())
    spent = office.desk.spent()
    changed = await enrolment.reset(office.owner, "m.ito", rest_seconds=DAY)
    assert changed.told == ("k.rao",)
    assert office.desk.spent() == spent
    assert await office.verdict(office.desk.code(steps=1)) is Verdict.UNREADY
    assert office.desk.rows("select sealed, enrolled_at from jobs.codes where person = 'm.ito'") == [(None, None)]
    again = await refused_with(ErrorCode.INVALID_REQUEST, enrolment.reset(office.owner, "m.ito", rest_seconds=DAY))
    assert again.detail == "No phone of m.ito is enrolled."


@pytest.mark.requirement("MONEY-15", "OTP-05")
async def test_a_lock_for_good_is_ended_on_the_server_alone(office: Office) -> None:
    for _ in range(20):
        await office.verdict(WRONG)
    assert (await enrolment.status(office.owner, "m.ito")).locked_for_good
    await enrolment.unlock(office.owner, "m.ito")
    standing = await enrolment.status(office.owner, "m.ito")
    assert (standing.locked_for_good, standing.locked_until, standing.tries_left) == (False, None, 5)
    assert await office.verdict(office.desk.code()) is Verdict.RIGHT
    assert (None, "code-unlocked", "done") in office.desk.audited()
    assert ("acme", "m.ito", "code-unlocked") in office.told()


@pytest.mark.parametrize(
    ("person", "own", "kind", "said"),
    [
        ("no.one", None, ErrorCode.NOT_FOUND, "no person no.one"),
        ("o.lind", None, ErrorCode.INVALID_REQUEST, "only finance people give codes"),
        ("m.ito", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJ0", ErrorCode.INVALID_REQUEST, "this one has 0"),
        ("m.ito", "JBSWY3DPEHPK3PXP", ErrorCode.INVALID_REQUEST, "112 bits"),
    ],
)
async def test_what_cannot_be_enrolled_is_a_sentence(
    office: Office, person: str, own: str | None, kind: ErrorCode, said: str
) -> None:
    assert said in (await refused_with(kind, office.begin(person, own=own))).detail
    assert office.desk.rows("select count(*) from jobs.codes where pending_key_id is not null") == [(0,)]


async def test_somebody_disabled_is_not_enrolled_and_nobody_unknown_unlocked(office: Office) -> None:
    await people.disable_person(office.owner, person="m.ito")
    assert "disabled" in (await refused_with(ErrorCode.INVALID_REQUEST, office.begin())).detail
    await refused_with(ErrorCode.NOT_FOUND, enrolment.unlock(office.owner, "no.one"))
    never = await refused_with(ErrorCode.INVALID_REQUEST, enrolment.unlock(office.owner, "s.bell"))
    assert "nothing is locked" in never.detail
    assert (await enrolment.status(office.owner, "s.bell")).key_id is None


@pytest.mark.requirement("MONEY-17")
async def test_a_pending_secret_put_in_force_by_hand_opens_nothing(office: Office) -> None:
    await office.begin()
    office.desk.people.connection.execute(
        "update jobs.codes set key_id = pending_key_id, sealed = pending_sealed where person = 'm.ito'"
    )
    await refused_with(ErrorCode.CODE_UNREADABLE, office.verdict(WRONG))


NEW = replace(KEYS, seal_keys={**KEYS.seal_keys, "s2": bytes(32)}, current_seal="s2")


@pytest.mark.requirement("MONEY-17")
async def test_a_rotation_seals_every_secret_anew_and_then_the_old_key_may_go(office: Office) -> None:
    pending = await office.begin()
    refusal = await refused_with(ErrorCode.INVALID_REQUEST, keyring.retire_seal(office.owner, "s1"))
    assert "still seals the secrets of g.fin, k.rao, m.ito." in refusal.detail
    office.desk.people.connection.execute("update jobs.codes set sealed = 'nonsense' where person = 'g.fin'")
    done = await keyring.seal_anew(office.owner, NEW)
    assert (done.people, done.unopened) == (("k.rao", "m.ito"), ("g.fin",))
    await refused_with(ErrorCode.INVALID_REQUEST, keyring.retire_seal(office.owner, "s1"))
    await enrolment.reset(office.owner, "g.fin", rest_seconds=0)
    await keyring.retire_seal(office.owner, "s1")
    alone = replace(NEW, seal_keys={"s2": NEW.seal_keys["s2"]})
    office.desk.service = replace(office.desk.service, keys=alone)
    assert await office.verdict(office.desk.code()) is Verdict.RIGHT
    office.later()
    one, two = office.typed(pending.secret)
    await enrolment.finish(office.owner, alone, "m.ito", one, two, rest_seconds=0)
    actions = [action for _, action, _ in office.desk.audited()]
    assert actions.count("key-retired") == actions.count("keyring-rotated") == 1


@pytest.mark.requirement("MONEY-17", "MONEY-19")
async def test_a_key_that_signed_a_plan_that_is_not_over_stays(office: Office) -> None:
    plan = await office.desk.confirmed(1)
    refusal = await refused_with(ErrorCode.INVALID_REQUEST, keyring.retire_sign(office.owner, "k1"))
    assert f"{plan['name']} (acme)" in refusal.detail
    await office.desk.abort(plan)
    await keyring.retire_sign(office.owner, "k1")


@pytest.mark.requirement("MONEY-35")
async def test_only_a_demos_people_are_enrolled_without_proof(office: Office) -> None:
    secret = rules.new_secret()
    for _ in range(2):
        await refused_with(ErrorCode.INVALID_REQUEST, enrolment.enrol_demo(office.owner, KEYS, {"m.ito": secret}))
        office.desk.people.connection.execute("update jobs.people set demo = true")
    office.desk.people.connection.execute("insert into jobs.marks (name, value) values ('demo', 'true')")
    assert await enrolment.enrol_demo(office.owner, KEYS, {"m.ito": secret}) == ("m.ito",)
    assert await enrolment.enrol_demo(office.owner, KEYS, {"m.ito": secret}) == ()
    assert await office.verdict(office.typed(secret)[0]) is Verdict.RIGHT
