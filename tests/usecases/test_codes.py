"""A code is good once, wrong ones are counted whatever happens, and nothing that stays holds one."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from jobcontract.errors import ErrorCode
from jobservice.rules.codes import Verdict
from jobservice.rules.keys import Keys
from jobservice.store import codes as store
from jobservice.usecases import codes
from jobservice.usecases.codes import Judged
from tests.usecases.desk import Desk, refused_with
from tests.usecases.money_desk import KEYS

KEY = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
START = 1_710_000_000
"""The first second of step 57000000 (case OTP-01)."""
HAND = ["814299", "643639", "168705", "140418", "514645", "873014"]
"""Codes of that secret from two steps before on."""
AT_START, NEXT = HAND[2], HAND[3]
WRONG = [code for code in (f"{number:06d}" for number in range(60)) if code not in HAND]


class Phones:
    """Judges codes of people who all have the secret of the case, at stated times."""

    def __init__(self, desk: Desk, connection: psycopg.Connection[Any]) -> None:
        self.desk = Desk(replace(desk.service, keys=KEYS), desk.people)
        self.connection = connection

    def enrol(self, *people: str, keys: Keys = KEYS) -> None:
        for person in people:
            sealed = keys.seal(person, codes.PURPOSE, KEY.encode())
            self.connection.execute(
                "insert into jobs.codes (person, key_id, sealed, enrolled_at) values (%s, %s, %s, jobs.now())",
                (person, sealed.key_id, sealed.sealed),
            )

    def at(self, seconds: float) -> None:
        """Set the database's clock to so many seconds after the start."""
        self.connection.execute(
            "update test_clock.offset_now set seconds = %s - extract(epoch from clock_timestamp())", (START + seconds,)
        )

    async def judge(self, code: str, person: str = "m.ito") -> Judged:
        return await codes.judge(self.desk.service, self.desk.actor(person), SecretStr(code), about="a plan")

    async def verdict(self, code: str, person: str = "m.ito") -> Verdict:
        return (await self.judge(code, person)).verdict

    def row(self, columns: str, person: str = "m.ito") -> tuple[Any, ...]:
        found = self.connection.execute(f"select {columns} from jobs.codes where person = %s", (person,)).fetchone()
        assert found is not None
        return tuple(found)

    def failures(self, person: str = "m.ito") -> int:
        found = self.connection.execute(
            "select count(*) from jobs.code_failures where person = %s", (person,)
        ).fetchone()
        assert found is not None
        return int(found[0])


@pytest.fixture
def phones(desk: Desk, superuser: psycopg.Connection[Any]) -> Phones:
    """m.ito and k.rao with phones, at the start of the case."""
    phones = Phones(desk, superuser)
    phones.enrol("m.ito", "k.rao")
    phones.at(0)
    return phones


oob = "confirm-bulk-money-actions-out-of-band"


@pytest.mark.requirement("OTP-01", "MONEY-14", oob)
async def test_a_code_is_good_once(phones: Phones) -> None:
    first = await phones.judge(AT_START)
    assert (first.verdict, first.step) == (Verdict.RIGHT, START // 30)
    for seconds in (5, 29, 35):
        phones.at(seconds)
        assert await phones.verdict(AT_START) is Verdict.USED
    phones.at(36)
    assert await phones.verdict(NEXT) is Verdict.RIGHT
    assert phones.failures() == 0
    phones.at(3)
    assert await phones.verdict(NEXT, "k.rao") is Verdict.RIGHT
    assert await phones.verdict(AT_START, "k.rao") is Verdict.USED


@pytest.mark.requirement("OTP-01")
async def test_what_was_spent_stays_spent_over_a_restart_and_a_clock_set_back(phones: Phones, database: Any) -> None:
    assert await phones.verdict(AT_START) is Verdict.RIGHT
    again = Phones(Desk(replace(phones.desk.service, database=database), phones.desk.people), phones.connection)
    phones.at(-30)
    assert await again.verdict(HAND[1]) is Verdict.USED
    assert phones.row("last_step") == (START // 30,)


@pytest.mark.requirement("OTP-01", "MONEY-14")
async def test_of_one_code_sent_twice_at_once_one_is_accepted(phones: Phones) -> None:
    found = await asyncio.gather(*(phones.verdict(AT_START) for _ in range(6)))
    # The fifth of them was counted as one too many before the others were known to be no guesses.
    assert sorted(found).count(Verdict.RIGHT) == 1
    assert set(found) <= {Verdict.RIGHT, Verdict.USED, Verdict.LOCKED}
    standing = await codes.standing(phones.desk.service, phones.desk.actor("m.ito"))
    assert (standing.tries_left, standing.locked_until, phones.failures()) == (5, None, 0)


@pytest.mark.requirement("OTP-03")
@pytest.mark.parametrize("typed", ["47164", "٠٤٧١٦٤", "", "1687050"])
async def test_what_is_no_code_is_refused_and_not_counted(phones: Phones, typed: str) -> None:
    refusal = await refused_with(ErrorCode.INVALID_REQUEST, phones.judge(typed))
    assert "six digits" in refusal.detail
    assert not typed or typed not in refusal.detail
    assert phones.failures() == 0


@pytest.mark.requirement("OTP-05", "MONEY-15", oob)
async def test_five_wrong_lock_even_the_right_one_until_the_stated_time(phones: Phones) -> None:
    for left, code in zip((4, 3, 2, 1, 0), WRONG, strict=False):
        judged = await phones.judge(code)
        assert (judged.verdict, judged.tries_left) == (Verdict.WRONG, left)
    assert judged.locked_until is not None
    refusal = codes.refuse_code(judged)
    assert refusal.kind is ErrorCode.CODE_WRONG
    assert "no code is taken before 2024-03-09 16:15:" in refusal.detail
    phones.at(60)
    locked = await phones.judge(HAND[4])
    assert (locked.verdict, locked.step, locked.locked_until) == (Verdict.LOCKED, None, judged.locked_until)
    assert codes.refuse_code(locked).kind is ErrorCode.CODE_LOCKED
    assert codes.refuse_code(locked).extra["locked_until"] == judged.locked_until
    # The right one was spent all the same, the person was told, and a colleague's codes go on.
    assert phones.row("last_step") == (START // 30 + 2,)
    told = phones.connection.execute("select tenant, person, kind from jobs.notices").fetchall()
    assert told == [("acme", "m.ito", "code-locked")]
    assert await phones.verdict(HAND[4], "k.rao") is Verdict.RIGHT
    phones.connection.execute("update jobs.codes set locked_until = jobs.now() where person = 'm.ito'")
    assert await phones.verdict(HAND[5]) is Verdict.RIGHT


@pytest.mark.requirement("OTP-05", "MONEY-15", oob)
async def test_fifty_wrong_at_the_same_moment_count_fifty(phones: Phones) -> None:
    found = await asyncio.gather(*(phones.verdict(code) for code in WRONG[:50]))
    assert phones.failures() == 50
    assert found.count(Verdict.WRONG) == 5
    assert found.count(Verdict.LOCKED) == 45
    standing = await codes.standing(phones.desk.service, phones.desk.actor("m.ito"))
    assert (standing.tries_left, standing.locked_for_good, standing.enrolled) == (0, True, True)
    assert await phones.verdict(AT_START) is Verdict.LOCKED
    assert "totp unlock" in codes.refuse_code(await phones.judge(NEXT)).detail


@pytest.mark.requirement("MONEY-15")
async def test_a_right_code_ends_the_row_and_not_the_count_of_the_month(phones: Phones) -> None:
    for code in WRONG[:4]:
        await phones.judge(code)
    assert (await phones.judge(AT_START)).tries_left == 5
    assert phones.failures() == 4
    assert phones.row("in_a_row") == (0,)


@pytest.mark.requirement("MONEY-13", "MONEY-15")
async def test_a_used_code_costs_nothing(phones: Phones) -> None:
    await phones.judge(AT_START)
    await phones.judge(WRONG[0])
    for _ in range(7):
        used = await phones.judge(AT_START)
        assert (used.verdict, used.tries_left) == (Verdict.USED, 4)
    assert phones.failures() == 1


@pytest.mark.requirement("MONEY-13")
async def test_a_code_of_a_step_before_the_freeze_is_early(phones: Phones) -> None:
    judged = await phones.judge(HAND[1])
    frozen = phones.connection.execute("select jobs.now()").fetchone()
    assert frozen is not None
    early = judged.not_before(frozen[0])
    assert (judged.verdict, early.verdict, early.right) == (Verdict.RIGHT, Verdict.EARLY, False)
    assert "older than what it should confirm" in codes.refuse_code(early).detail
    now = await phones.judge(AT_START)
    assert now.not_before(frozen[0]) is now


@pytest.mark.requirement("MONEY-16")
async def test_without_a_phone_or_during_the_rest_no_code_is_ready(phones: Phones) -> None:
    none = await phones.judge(AT_START, "clerk-x")
    assert (none.verdict, codes.refuse_code(none).kind) == (Verdict.UNREADY, ErrorCode.CODE_UNREADY)
    assert "totp enrol" in codes.refuse_code(none).detail
    phones.connection.execute(
        "update jobs.codes set rests_until = jobs.now() + interval '1 hour' where person = 'm.ito'"
    )
    for code in (AT_START, AT_START, WRONG[0]):
        resting = await phones.judge(code)
        assert (resting.verdict, resting.step) == (Verdict.UNREADY, None)
        assert "count from 2024-03-09 17:00:00 UTC on" in codes.refuse_code(resting).detail
    assert phones.failures() == 1
    assert phones.row("last_step") == (START // 30,)
    phones.at(3_601)
    standing = await codes.standing(phones.desk.service, phones.desk.actor("m.ito"))
    assert standing.rests_until is None


@pytest.mark.requirement("MONEY-17")
@pytest.mark.parametrize(
    "service_keys", [None, replace(KEYS, seal_keys={"s1": bytes(32)}), replace(KEYS, seal_keys={})]
)
async def test_a_secret_that_no_key_opens_is_503_and_counts_nothing(phones: Phones, service_keys: Keys | None) -> None:
    service = replace(phones.desk.service, keys=service_keys)
    with_code = codes.judge(service, phones.desk.actor("m.ito"), SecretStr(WRONG[0]))
    refusal = await refused_with(ErrorCode.CODE_UNREADABLE, with_code)
    assert refusal.kind.status == 503
    assert "Nothing was counted" in refusal.detail
    assert (phones.failures(), *phones.row("in_a_row")) == (0, 0)


@pytest.mark.requirement("MONEY-17")
async def test_a_secret_moved_to_another_person_opens_nothing(phones: Phones) -> None:
    phones.connection.execute(
        "update jobs.codes set sealed = (select sealed from jobs.codes where person = 'k.rao') where person = 'm.ito'"
    )
    await refused_with(ErrorCode.CODE_UNREADABLE, phones.judge(AT_START))


@pytest.mark.requirement("MONEY-13", "MONEY-15")
async def test_a_guess_stays_counted_where_settling_it_failed(phones: Phones, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> bool:
        raise RuntimeError("the process died here")

    monkeypatch.setattr(store, "consume", broken)
    with pytest.raises(RuntimeError):
        await phones.judge(WRONG[0])
    assert (phones.failures(), *phones.row("in_a_row, last_step")) == (1, 1, 0)


@pytest.mark.requirement("MONEY-15")
async def test_a_wall_between_tenants_stands_before_codes(phones: Phones) -> None:
    phones.enrol("g.fin")
    assert (await phones.judge(AT_START, "g.fin")).right
    foreign = replace(phones.desk.actor("m.ito"), person="g.fin")
    assert (await codes.judge(phones.desk.service, foreign, SecretStr(NEXT))).verdict is Verdict.UNREADY


@pytest.mark.requirement("OTP-05", "MONEY-31", oob)
async def test_every_verdict_is_audited_and_no_code_stays_anywhere(
    phones: Phones, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    sent = [AT_START, AT_START, *WRONG[10:16]]
    judged = [await phones.judge(code) for code in sent]
    refusals = [codes.refuse_code(each) for each in judged if not each.right]
    rows = phones.connection.execute(
        "select person, action, subject, outcome, detail from jobs.audit order by id"
    ).fetchall()
    verdicts = ["right", "used", "wrong", "wrong", "wrong", "wrong", "wrong", "locked"]
    assert [row[4]["verdict"] for row in rows] == verdicts
    assert [(row[1], row[3]) for row in rows[:3]] == [
        ("code-accepted", "done"),
        ("code-refused", "refused"),
        ("code-refused", "refused"),
    ]
    stands = phones.connection.execute(
        "select (select json_agg(a) from jobs.audit a)::text, (select json_agg(n) from jobs.notices n)::text,"
        " (select json_agg(c) from jobs.codes c)::text"
    ).fetchone()
    assert stands is not None
    printed = capsys.readouterr()
    said = [repr(judged), *(json.dumps([each.detail, repr(each.extra)]) for each in refusals)]
    everything = "\n".join((*stands, *said, caplog.text, printed.out, printed.err))
    for secret in (*set(sent), KEY):
        assert secret not in everything


async def test_only_those_who_release_may_ask_how_their_codes_stand(phones: Phones) -> None:
    await refused_with(ErrorCode.PERMISSION_MISSING, codes.standing(phones.desk.service, phones.desk.actor("o.lind")))
    fresh = await codes.standing(phones.desk.service, phones.desk.actor("clerk-x"))
    assert (fresh.enrolled, fresh.tries_left, fresh.locked_until, fresh.locked_for_good) == (False, 5, None, False)
