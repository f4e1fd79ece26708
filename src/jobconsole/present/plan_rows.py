"""Owns how the rows of a plan are written: its items, its warnings, what is kept out of it and why. Pure.

Amount, sign, currency and last four stand before the name and are never cut (MONEY.md 27). A row is one line; what it
has no room for is said of the row under the cursor, in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.amounts import account_text, amount_piece
from jobconsole.present.columns import Column, Line, Piece, Tone, joined, width_of
from jobconsole.present.items import input_text
from jobcontract.items import Amount
from jobcontract.states import Exclusion, Warned

if TYPE_CHECKING:
    from jobconsole.client.plan_rows import PlanRow
    from jobcontract.items import Payee
    from jobcontract.plans import ExcludedItem, PlanWarning

WARNED: Mapping[Warned, str] = {
    Warned.FIRST_PAYMENT: "first payment to this account",
    Warned.ACCOUNT_CHANGED: "account changed lately",
    Warned.PAYEE_TWO_ACCOUNTS: "payee with two accounts",
    Warned.ACCOUNT_TWO_PAYEES: "account of two payees",
    Warned.AMOUNT_UNUSUAL: "unusual amount",
    Warned.NEGATIVE: "comes back",
    Warned.SAME_HERE: "same amount twice here",
    Warned.PAID_BEFORE: "paid the same before",
    Warned.LOOK_ALIKE: "looks like another payee",
}
"""What is odd, in a few words; the service's own sentence says it in full."""

EXCLUDED: Mapping[Exclusion, str] = {
    Exclusion.UNKNOWN: "unknown here",
    Exclusion.CLOSED: "closed",
    Exclusion.STATE_UNFIT: "not in a state for it",
    Exclusion.HELD: "held by a colleague",
    Exclusion.IN_PLAN: "in another plan",
    Exclusion.PUSHED_BY_OWNER: "you pushed it yourself",
    Exclusion.CHANGED_BY_OWNER: "you changed it last",
    Exclusion.CURRENCY_WITHOUT_LIMITS: "currency without limits",
    Exclusion.TAKEN_OUT: "taken out by you",
}
"""Why an item is not in a plan, in a few words, to its owner."""

ANSWER_SIGN, ANSWERED_SIGN, NOTED_SIGN = "▲", "✓", "△"
UNREAD = "…"


class ItemWidths:
    """How wide the columns of a plan's items must be for the rows so far: they only grow, so that columns stand still.

    Looks at numbers, not at texts: a plan may have 50,000 rows.
    """

    def __init__(self) -> None:
        self._extremes: dict[tuple[str, int], tuple[int, int]] = {}
        self._rows = 0

    def take(self, rows: Sequence[PlanRow]) -> None:
        """Look at the rows that came since the last time."""
        for at in range(self._rows, len(rows)):
            row = rows[at]
            least, most = self._extremes.get((row.currency, row.exponent), (0, 0))
            if not least <= row.minor <= most:
                self._extremes[row.currency, row.exponent] = min(least, row.minor), max(most, row.minor)
        self._rows = len(rows)

    def needs(self, count: int) -> dict[str, int]:
        """Cells by column id; `count` is how many rows there will be."""
        amounts = [
            Amount(minor=minor, currency=currency, exponent=exponent)
            for (currency, exponent), extremes in self._extremes.items()
            for minor in extremes
        ]
        return {
            "number": width_of(f"{count:,}"),
            "amount": max((width_of(amount_piece(amount).text) for amount in amounts), default=0),
            "account": 5,
        }


def search_text(row: PlanRow) -> str:
    """What a search looks in: the words that the row shows, and the figure as it is written without its commas."""
    shown = amount_piece(row.amount).text.replace(",", "")
    return "\n".join((row.title, row.payee_name, row.key or "", row.account_last4, shown)).casefold()


def inputs_text(row: PlanRow) -> str:
    """Every declared input in words."""
    return " · ".join(input_text(name, value) for name, value in row.inputs.items())


def item_columns(*, wide: bool) -> tuple[Column, ...]:
    """The columns of a plan's items; a wide screen has room for what the item is about."""
    about = Column(id="about", label="about", least=14, most=32 if wide else 20, yields=2)
    inputs = Column(id="inputs", label="inputs", least=12, most=32, yields=1)
    return (
        Column(id="number", label="#", least=3, right=True, uncut=True, most=6, yields=3),
        Column(id="amount", label="amount", least=6, right=True, whole=True),
        Column(id="account", label="acct", least=5, whole=True),
        Column(id="warned", label="", least=1, whole=True),
        Column(id="name", label="payee", least=28 if wide else 12, yields=4),
        *((about, inputs) if wide else (about,)),
    )


def item_cells(row: PlanRow, *, to_answer: bool, answered: bool) -> Mapping[str, Piece]:
    """The cells of one item's row by column id."""
    return {
        "number": Piece(f"{row.number:,}", Tone.QUIET),
        "amount": amount_piece(row.amount),
        "account": Piece(account_text(row.payee), Tone.QUIET),
        "warned": _sign(row, to_answer=to_answer, answered=answered),
        "name": Piece(row.payee_name),
        "about": Piece(row.title, Tone.QUIET),
        "inputs": Piece(inputs_text(row), Tone.QUIET),
    }


def unread_cells(number: int) -> Mapping[str, Piece]:
    """The cells of a row that was not read yet."""
    return {"number": Piece(f"{number:,}", Tone.QUIET), "name": Piece(UNREAD, Tone.QUIET)}


def _sign(row: PlanRow, *, to_answer: bool, answered: bool) -> Piece:
    if to_answer:
        return Piece(ANSWER_SIGN, Tone.WARN)
    if answered:
        return Piece(ANSWERED_SIGN, Tone.GOOD)
    return Piece(NOTED_SIGN if row.warned else "", Tone.QUIET)


def item_lines(row: PlanRow, warnings: Iterable[PlanWarning]) -> list[Line]:
    """Everything of the row under the cursor: what is paid to whom, then each warning with its answer."""
    told = list(warnings)
    lines: list[Line] = [
        (*_paid(row.amount, row.payee), *_more(f"id {row.payee_id}")),
        joined([Piece(row.title), Piece(row.key or "", Tone.QUIET), Piece(inputs_text(row), Tone.QUIET)]),
        *[line for warning in told for line in warning_lines(warning)],
    ]
    if not told and row.warned:
        words = ", ".join(WARNED.get(kind, kind.value) for kind in row.warnings)
        lines.append((Piece(f"{NOTED_SIGN} {words}", Tone.QUIET),))
    return lines


def _paid(amount: Amount | None, payee: Payee | None) -> Line:
    return (
        amount_piece(amount),
        Piece("  "),
        Piece(account_text(payee), Tone.QUIET),
        Piece("  "),
        Piece(payee.name if payee is not None else "", Tone.STRONG),
    )


def _more(text: str) -> Line:
    return (Piece(f" · {text}", Tone.QUIET),) if text else ()


def warning_columns(*, wide: bool) -> tuple[Column, ...]:
    """The columns of a plan's warnings."""
    return (
        Column(id="warned", label="", least=1, whole=True),
        Column(id="amount", label="amount", least=6, right=True, whole=True),
        Column(id="account", label="acct", least=5, whole=True),
        Column(id="name", label="payee", least=12, most=32 if wide else 18, yields=1),
        Column(id="what", label="what is odd", least=18, yields=2),
    )


def warning_cells(warning: PlanWarning) -> Mapping[str, Piece]:
    """The cells of one warning's row by column id."""
    answered = f"kept: “{warning.answer}” · " if warning.answer is not None else ""
    waits = warning.must_answer and warning.answer is None
    return {
        "warned": warning_sign(warning),
        "amount": amount_piece(warning.amount),
        "account": Piece(account_text(warning.payee), Tone.QUIET),
        "name": Piece(warning.payee.name),
        "what": Piece(answered + warning.sentence, Tone.WARN if waits else Tone.PLAIN),
    }


def warning_sign(warning: PlanWarning) -> Piece:
    """Whether the warning waits for an answer, has one, or needs none."""
    if warning.answer is not None:
        return Piece(ANSWERED_SIGN, Tone.GOOD)
    return Piece(ANSWER_SIGN, Tone.WARN) if warning.must_answer else Piece(NOTED_SIGN, Tone.QUIET)


def warning_needs(warnings: Iterable[PlanWarning], needs: Mapping[str, int]) -> dict[str, int]:
    """Widths that the columns need for these warnings too."""
    grown = dict(needs)
    for warning in warnings:
        grown["amount"] = max(grown.get("amount", 0), width_of(amount_piece(warning.amount).text))
        grown["name"] = max(grown.get("name", 0), width_of(warning.payee.name))
    return grown


def warning_lines(warning: PlanWarning) -> list[Line]:
    """One warning in full, and the answer to it."""
    sign = warning_sign(warning)
    tone = Tone.WARN if sign.text == ANSWER_SIGN else Tone.PLAIN
    lines: list[Line] = [(sign, Piece(" "), Piece(warning.sentence, tone))]
    if warning.answer is not None:
        lines.append((Piece(f"  kept in: “{warning.answer}”", Tone.QUIET),))
    return lines


def warned_lines(warning: PlanWarning, *, brief: bool = False) -> list[Line]:
    """The warning under the cursor: its item, then what is odd."""
    row = () if brief else _more(f"row {warning.number:,}")
    return [(*_paid(warning.amount, warning.payee), *row), *warning_lines(warning)]


def excluded_columns() -> tuple[Column, ...]:
    """The columns of what is not in a plan."""
    return (
        Column(id="amount", label="amount", least=6, right=True, whole=True),
        Column(id="account", label="acct", least=5, whole=True),
        Column(id="name", label="payee", least=12, most=30, yields=1),
        Column(id="what", label="why it is kept out", least=16, yields=2),
    )


def excluded_cells(excluded: ExcludedItem) -> Mapping[str, Piece]:
    """The cells of one excluded item's row by column id."""
    name = excluded.payee.name if excluded.payee is not None else excluded.title or excluded.item
    return {
        "amount": amount_piece(excluded.amount),
        "account": Piece(account_text(excluded.payee), Tone.QUIET),
        "name": Piece(name),
        "what": Piece(excluded_words(excluded)),
    }


def excluded_words(excluded: ExcludedItem) -> str:
    """Why it is kept out, with the person where there is one: `held by k.rao`."""
    who = excluded.who.id if excluded.who is not None else None
    if who is not None and excluded.reason is Exclusion.HELD:
        return f"held by {who}"
    if who is not None and excluded.reason is Exclusion.IN_PLAN:
        return f"in a plan of {who}"
    return EXCLUDED.get(excluded.reason, excluded.reason.value)


def excluded_needs(rows: Iterable[ExcludedItem], needs: Mapping[str, int]) -> dict[str, int]:
    """Widths that the columns need for these rows too."""
    grown = dict(needs)
    for row in rows:
        grown["amount"] = max(grown.get("amount", 0), width_of(amount_piece(row.amount).text))
        grown["name"] = max(grown.get("name", 0), width_of(excluded_cells(row)["name"].text))
    return grown


def excluded_lines(excluded: ExcludedItem) -> list[Line]:
    """Everything of the excluded item under the cursor."""
    title = excluded.title or excluded.item
    return [
        (*_paid(excluded.amount, excluded.payee), *_more(title)),
        (Piece("– ", Tone.QUIET), Piece(excluded.sentence)),
    ]
