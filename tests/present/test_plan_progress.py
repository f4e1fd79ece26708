"""How a running plan is written: its account adds up or says that it does not, its pace is an estimate."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from jobconsole.present.columns import plain
from jobconsole.present.money import bar, day_pieces, limit_part, own_plan_words, stopped_words
from jobconsole.present.plan_progress import Pace, account_lines, bar_line, in_words, progress_lines
from jobconsole.present.plans import PlanSeen
from jobcontract.plans import Plan, PlanTotal, Released, Stop, TurnAccount
from jobcontract.session import Person
from jobcontract.states import ConfirmMethod, Moves, PlanState, Turn

NOW = datetime(2026, 3, 2, 12, 4, tzinfo=UTC)
MIKA, OLLE = Person(id="m.ito", name="Mika Ito"), Person(id="o.lind", name="Olle Lind")
SEEN = PlanSeen(me="m.ito", now=NOW, zone=UTC)
KEYS = {"plan.abort": "A", "plan.resume": "r", "plan.review": "u", "money.start": "G"}
ACCOUNT = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-4")


def total(currency: str, out: int, back: int = 0) -> PlanTotal:
    """A total of one row each way."""
    exponent = 0 if currency == "JPY" else 2
    return PlanTotal(
        currency=currency,
        exponent=exponent,
        out_minor=out,
        out_count=int(bool(out)),
        back_minor=back,
        back_count=int(bool(back)),
        net_minor=out - back,
    )


def a_plan(state: PlanState = PlanState.APPLYING, **changes: object) -> Plan:
    """A plan of 42 items, 29 of which had their turn."""
    account = (
        TurnAccount(turn=Turn.DONE, count=27, totals=(total("GBP", 1_102_040, 54_245), total("JPY", 500))),
        TurnAccount(turn=Turn.REFUSED, count=1, totals=(total("GBP", 30_000),)),
        TurnAccount(turn=Turn.UNCERTAIN, count=1, totals=(total("GBP", 64_245),)),
        TurnAccount(turn=Turn.NOT_STARTED, count=13, totals=(total("GBP", 643_715),)),
    )
    plan = Plan(
        id="0f000000-0000-0000-0000-000000000000",
        name="lark-42",
        command="payments.release-many",
        title="Release payouts",
        queue="payments.payouts",
        use_case="payments.release",
        use_case_title="Release",
        use_case_version=1,
        moves=Moves.MONEY,
        confirm_by=ConfirmMethod.TOTP,
        parameters={},
        filter=None,
        tenant="leeds",
        owner=MIKA,
        approved_by=None,
        state=state,
        edition=1,
        frozen_at=NOW,
        expires_at=NOW,
        confirmed_at=NOW,
        armed_until=None,
        apply_until=NOW + timedelta(hours=4),
        started_at=NOW,
        ended_at=None,
        reason=None,
        ended_by=None,
        count=42,
        payees=37,
        totals=(total("GBP", 1_840_000, 54_245), total("JPY", 500)),
        largest=(),
        excluded=(),
        warnings=0,
        to_answer=0,
        account=account,
        version=7,
        as_of=NOW,
    )
    return plan.model_copy(update=changes)


def texts(plan: Plan, stop: Stop | None = None) -> str:
    """Every sentence of where it stands."""
    return " | ".join(plain(line) for line in progress_lines(plan, stop, SEEN, KEYS))


@ACCOUNT
def test_the_account_has_each_outcome_with_its_amounts_and_what_was_planned() -> None:
    told = [" ".join(plain(line).split()) for line in account_lines(a_plan(), 78)]
    assert told == [
        "✓ done 27 GBP 11,020.40, back 542.45 + JPY 500",
        "✗ refused 1 GBP 300.00",
        "? uncertain 1 GBP 642.45",
        "· not started 13 GBP 6,437.15",
        "= planned 42 GBP 18,400.00, back 542.45 + JPY 500",
    ]


@ACCOUNT
@pytest.mark.parametrize("brief", [False, True])
def test_outcomes_that_do_not_add_up_are_said_in_count_and_in_money(brief: bool) -> None:
    right = a_plan()
    lost = right.model_copy(update={"account": right.account[:-1]})
    less = right.account[-1].model_copy(update={"totals": (total("GBP", 643_714),)})
    cheaper = right.model_copy(update={"account": (*right.account[:-1], less)})
    for plan in (lost, cheaper):
        assert "do not add up" in plain(account_lines(plan, 78, brief=brief)[-1])
    assert "do not add up" not in plain(account_lines(right, 78, brief=brief)[-1])


@ACCOUNT
@pytest.mark.parametrize("width", [30, 58, 78, 138])
def test_no_amount_is_cut_at_any_width(width: int) -> None:
    for brief in (False, True):
        text = " ".join(" ".join(plain(line).split()) for line in account_lines(a_plan(), width, brief=brief))
        for amount in ("11,020.40", "542.45", "JPY 500", "300.00", "6,437.15", "18,400.00"):
            assert amount in text


def test_a_pace_needs_time_and_progress_and_falls_while_nothing_is_told() -> None:
    pace = Pace()
    assert pace.a_second(NOW) is None
    pace.tell(NOW, 10)
    assert pace.a_second(NOW) is None
    pace.tell(NOW + timedelta(seconds=4), 22)
    assert pace.a_second(NOW + timedelta(seconds=4)) == pytest.approx(3.0)
    later = pace.a_second(NOW + timedelta(seconds=13))
    assert later == pytest.approx(1.0)
    pace.tell(NOW + timedelta(seconds=14), 3)
    assert pace.a_second(NOW + timedelta(seconds=15)) is None


def test_the_time_left_is_told_as_an_estimate_or_not_at_all() -> None:
    assert "29 of 42 · 3.1 a second · about 4 s left (estimate)" in plain(bar_line(a_plan(), 3.1, 78))
    assert plain(bar_line(a_plan(), None, 78)).endswith("29 of 42")
    assert plain(bar_line(a_plan(PlanState.PAUSED), 3.1, 78)).endswith("29 of 42")
    assert "29 of 42 · 6 a minute · about 2 min left" in plain(bar_line(a_plan(), 0.1, 58))


def test_what_keeps_it_and_what_became_of_it_are_said_with_who_and_why() -> None:
    stop = Stop(at=NOW, by=OLLE, reason="drill")
    assert "■ money stopped by o.lind 12:04: drill · G starts it again" in texts(a_plan(), stop)
    paused = a_plan(PlanState.PAUSED, ended_by=OLLE, reason="bank asks")
    assert "‖ paused by o.lind: bank asks." in texts(paused)
    assert "paused by the service: Its owner was disabled." in texts(
        a_plan(PlanState.PAUSED, reason="Its owner was disabled.")
    )
    armed = a_plan(PlanState.ARMED, armed_until=NOW + timedelta(seconds=271))
    assert "◔ starts in 4:31, abort until then (A)" in texts(armed)
    assert "its window ends 16:04, in 4 h" in texts(a_plan())
    assert "1 payout of GBP 642.45 is uncertain: a person asks the bank. u → review" in texts(a_plan())
    aborted = a_plan(PlanState.ABORTED, ended_by=MIKA, reason="wrong file", ended_at=NOW)
    assert "✗ Aborted by you at 12:04: wrong file. 27 done, 1 refused, 1 uncertain, 13 had no turn" in texts(aborted)
    assert "window" not in texts(aborted)
    expired = a_plan(PlanState.VOIDED, confirmed_at=None, account=(), ended_at=NOW, reason="A new phone.")
    assert texts(expired) == "– It is void at 12:04: A new phone. It was never confirmed: nothing was released."
    assert in_words(a_plan()).startswith("27 done, 1 refused, 1 uncertain, 13 had no turn and are free again")


def test_the_top_line_names_the_busiest_plan_and_how_many_more_there_are() -> None:
    assert own_plan_words([]) == ""
    assert own_plan_words([a_plan()]) == "▶ lark-42 29/42"
    waiting = a_plan(PlanState.OPEN, account=(), confirmed_at=None)
    assert own_plan_words([a_plan(PlanState.PAUSED), waiting]) == "‖ lark-42 29/42 +1"
    assert own_plan_words([waiting]) == "○ lark-42 open"


@pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-10")
def test_limits_are_told_in_words_and_the_nearer_one_decides() -> None:
    released = Released(
        person=MIKA,
        currency="GBP",
        exponent=2,
        today_count=3,
        today_minor=30_000,
        day_count=29,
        day_minor=1_894_245,
        day_most_minor=20_000_000,
        day_most_count=30,
    )
    assert [each.text for each in day_pieces(released)] == [
        "24 h █████████░ GBP 18,942.45 of 200,000.00",
        "29 of 30 payouts",
    ]
    assert limit_part(released) == pytest.approx(29 / 30)
    free = released.model_copy(update={"day_most_minor": None, "day_most_count": None})
    assert [each.text for each in day_pieces(free)][-1] == "no limit is set"


def test_a_bar_is_full_only_at_the_end_and_empty_only_at_the_start() -> None:
    assert (bar(0.0, 10), bar(0.001, 10), bar(0.999, 10), bar(1.0, 10)) == (
        "░" * 10,
        "█" + "░" * 9,
        "█" * 9 + "░",
        "█" * 10,
    )


def test_a_stop_that_no_person_threw_is_the_services() -> None:
    assert stopped_words(Stop(at=NOW, by=None, reason="restored"), UTC, NOW) == (
        "money stopped by the service 12:04: restored"
    )
