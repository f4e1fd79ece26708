"""Tests of how one item is written: its row at every width, its states, its detail."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.present.amounts import amount_text
from jobconsole.present.columns import Line, Tone, lay_out, plain, row_line, width_of
from jobconsole.present.item_rows import measure, row_cells
from jobconsole.present.items import (
    brief_lines,
    claim_line,
    full_lines,
    heading,
    input_text,
    payload_lines,
    state_piece,
    what_is_done,
)
from jobconsole.present.queues import columns_of
from jobcontract.items import ActRecord, ClaimRecord, Item, Payee, PlanRef, TurnRecord
from jobcontract.money import EXPONENTS
from jobcontract.session import Person
from jobcontract.states import ClaimEnding, ClaimMode, ItemState, ItemView, OutcomeKind, Turn
from tests.present.samples import ME, NOW, RAO, amount, detail, held, item, queue, seen

GUTTER = 3


def text_of(lines: tuple[Line, ...] | list[Line]) -> str:
    return "\n".join(plain(line) for line in lines)


@pytest.mark.requirement("MONEY-27")
@given(
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.sampled_from(sorted(EXPONENTS)),
    st.text(min_size=1, max_size=80),
    st.text(max_size=80),
    st.integers(min_value=40, max_value=240),
    st.booleans(),
)
def test_amount_sign_currency_and_last_four_survive_every_width(
    minor: int, currency: str, name: str, title: str, width: int, one_line: bool
) -> None:
    payee = Payee(id="s-1", name=name, account_last4="4471")
    row = held(RAO, 100, amount=amount(minor, currency), payee=payee, title=title)
    columns = columns_of(queue(), ItemView.WAITING, one_line=one_line)
    cells = row_cells(row, seen())
    needs = dict(measure(row, seen()).cells)
    widths, gap = lay_out(columns, needs, width - GUTTER)
    line = plain(row_line(columns, cells, widths, gap))
    assert line.lstrip().startswith(amount_text(amount(minor, currency)))
    assert line.index("…4471") == widths["amount"] + gap
    assert width_of(line) <= width - GUTTER
    if "name" in widths:
        assert line.index("…4471") < widths["amount"] + gap + widths["account"] + gap


@pytest.mark.parametrize(
    ("row", "text", "tone"),
    [
        (item(), "○ free", Tone.FREE),
        (held(ME, 2467), "◆ me 41:07", Tone.MINE),
        (held(RAO, 2467), "◆ k.rao", Tone.PLAIN),
        (held(ME, 252), "▲ me 4:12 lapsing", Tone.WARN),
        (held(RAO, 299), "▲ k.rao lapsing", Tone.WARN),
        (held(RAO, 300), "◆ k.rao", Tone.PLAIN),
        (held(RAO, -1), "○ free, lapsed", Tone.FREE),
        (held(RAO, 0), "○ free, lapsed", Tone.FREE),
        (item(state=ItemState.SET_ASIDE, set_aside_until=NOW + timedelta(days=2)), "‖ until 4 Mar 09:00", Tone.QUIET),
        (item(state=ItemState.REJECTED), "✗ rejected", Tone.BAD),
        (item(state=ItemState.RESOLVED), "✓ resolved", Tone.GOOD),
    ],
)
@pytest.mark.requirement("release-claims-past-their-lease")
def test_every_state_is_a_symbol_a_word_and_a_tone(row: Item, text: str, tone: Tone) -> None:
    shown = state_piece(row, seen())
    assert (shown.text, shown.tone) == (text, tone)


@pytest.mark.requirement("state-the-claim-mode")
def test_a_queue_without_claims_says_open_and_not_free() -> None:
    assert state_piece(item(), seen(ClaimMode.DISABLED)).text == "○ open"
    assert "no claims in this queue" in text_of(brief_lines(item(), None, seen(ClaimMode.DISABLED)))


def test_declared_inputs_are_words() -> None:
    assert input_text("invoice-on-file", True) == "invoice on file"
    assert input_text("invoice-on-file", False) == "no invoice on file"
    assert input_text("attempts", 3) == "attempts 3"
    assert input_text("region", None) == "region unknown"


def test_the_heading_has_the_amount_first() -> None:
    assert plain(heading(item())) == "GBP 90,126.13  …4471  Aspire Care Ltd"
    assert plain(heading(item(amount=None, payee=None))) == "Invoice 1211-00415"


def test_the_detail_says_who_holds_it_until_when_and_how_long_that_can_last() -> None:
    told = detail(item=held(RAO, 1800), capped_at=NOW + timedelta(hours=8))
    assert "◆ k.rao (Kiran Rao) · 30:00 left, until 09:30 · at most until 17:00" in text_of(
        brief_lines(told.item, told, seen())
    )
    assert "free: your claim lapsed" in text_of(brief_lines(held(ME, -5), None, seen()))
    assert "free: k.rao’s claim lapsed" in text_of(brief_lines(held(RAO, -5), None, seen()))
    assert "▲ you, lapsing · 4:12 left" in text_of(brief_lines(held(ME, 252), None, seen()))


def claim(fence: int, by: Person, ending: ClaimEnding | None, **changes: object) -> ClaimRecord:
    fields: dict[str, object] = {
        "fence": fence,
        "holder": by,
        "taken_at": NOW - timedelta(hours=2),
        "expires_at": NOW + timedelta(hours=1),
        "renewals": 0,
        "ended_at": NOW - timedelta(hours=1) if ending else None,
        "ending": ending,
        "ended_by": by if ending else None,
        "reason": None,
    }
    return ClaimRecord.model_validate({**fields, **changes})


def test_the_history_says_who_held_it_from_when_to_when_and_how_it_ended() -> None:
    claims = (
        claim(3, ME, None, renewals=2),
        claim(2, RAO, ClaimEnding.BROKEN, ended_by=ME, reason="on holiday"),
        claim(1, RAO, ClaimEnding.LAPSED),
    )
    text = text_of(full_lines(detail(claims=claims), seen()))
    assert "m.ito · 07:00 GMT – holds it, until 10:00 GMT · renewed 2× · claim 3" in text
    assert "k.rao · 07:00 GMT – 08:00 GMT · broken by m.ito · “on holiday” · claim 2" in text
    assert "k.rao · 07:00 GMT – 08:00 GMT · lapsed · claim 1" in text


def test_the_history_says_what_was_done_by_whom_and_how_it_ended() -> None:
    act = ActRecord(
        at=NOW,
        person=RAO,
        use_case="payments.set-aside",
        outcome=OutcomeKind.REFUSED,
        sentence="The bank is closed.",
        inputs={"reason": "closed\x1b[2J", "until": None},
        money_version=2,
    )
    text = text_of(full_lines(detail(acts=(act,)), seen(zone="Europe/Paris")))
    assert "10:00 CET (09:00Z) · k.rao set-aside · ✗ refused · The bank is closed." in text
    assert "reason “closed␛[2J”" in text
    assert "until" not in text.split("reason")[1]


def test_what_was_sent_along_is_shown_as_data() -> None:
    lines = payload_lines({"source": "[red]x[/]", "rows": [1, {"a": None}]})
    assert text_of(lines) == '  source  [red]x[/]\n  rows    [1, {"a": null}]'


@pytest.mark.parametrize(
    ("title", "queue_id", "words"),
    [
        ("Reject", "payments.payouts", "Reject payout"),
        ("Resolve", "payments.disputes", "Resolve dispute"),
        ("Write a note", "payments.payouts", "Write a note"),
        ("Ask for evidence", "payments.disputes", "Ask for evidence"),
    ],
)
def test_an_act_is_named_by_what_it_does(title: str, queue_id: str, words: str) -> None:
    assert what_is_done(title, queue_id) == words


@pytest.mark.requirement("MONEY-18")
@pytest.mark.parametrize(
    ("kept", "piece", "told"),
    [
        (False, "◆ in plan lark-42", "◆ in plan lark-42 · of you · free at 10:00 if not confirmed"),
        (True, "◆ held by plan lark-42", "◆ held by plan lark-42 until its turn · of you"),
    ],
)
def test_an_item_in_a_plan_says_which(kept: bool, piece: str, told: str) -> None:
    planned = held(ME, 3600, plan=PlanRef(id="p", name="lark-42", held=kept))
    assert state_piece(planned, seen()).text == piece
    assert plain(claim_line(planned, None, seen())).split(maxsplit=1)[1] == told


def test_a_released_item_says_so() -> None:
    assert state_piece(item(state=ItemState.RELEASED), seen()).text == "✓ released"


def test_what_plans_did_stands_in_the_history() -> None:
    turn = TurnRecord(
        plan=PlanRef(id="p", name="lark-42", held=False),
        owner=ME,
        turn=Turn.UNCERTAIN,
        sentence="No answer came.",
        reference="B-1",
        outward_key="jc-1",
        sent_at=NOW,
        ended_at=NOW,
    )
    told = [plain(line) for line in full_lines(detail(turns=(turn,)), seen())]
    assert "  plan lark-42 · of m.ito · ? uncertain · 09:00 GMT · No answer came. · reference B-1" in told
