"""Owns the queues, use cases and bulk commands of the fake service, as its wire says them. Values alone."""

from __future__ import annotations

from jobconsole.client import fake_scores
from jobcontract.plans import PLAN_ITEMS_MOST
from jobcontract.queues import BulkCommand, Queue, UseCase, UseCaseInput
from jobcontract.states import ClaimMode, ConfirmMethod, InputType, ItemState, Moves


def _input(name: str, kind: InputType, title: str, most: int | None = None) -> UseCaseInput:
    return UseCaseInput(name=name, type=kind, title=title, required=True, most=most)


REASON = _input("reason", InputType.TEXT, "Reason", 500)


def _case(verb: str, title: str, states: tuple[ItemState, ...], *inputs: UseCaseInput) -> UseCase:
    moves = Moves.MONEY if verb == "release" else Moves.NOTHING
    return UseCase(id=f"payments.{verb}", title=title, moves=moves, states=states, inputs=tuple(inputs))


ANY = (ItemState.OPEN, ItemState.SET_ASIDE, ItemState.EVIDENCE_ASKED)
BEFORE = (ItemState.OPEN, ItemState.SET_ASIDE)
SET_ASIDE = _case("set-aside", "Set aside", BEFORE, _input("until", InputType.INSTANT, "Until"), REASON)
REJECT = _case("reject", "Reject", BEFORE, REASON)
NOTE = _case("note", "Write a note", ANY, _input("text", InputType.TEXT, "Note", 2_000))
HAND_OVER = _case("hand-over", "Hand to a colleague", ANY, _input("colleague", InputType.PERSON, "Colleague"), REASON)
RELEASE = _case("release", "Release", (ItemState.OPEN,))
RESOLVE = _case("resolve", "Resolve", ANY, _input("reason", InputType.TEXT, "How it was resolved", 500))
ASK = _case("ask-evidence", "Ask for evidence", ANY, _input("question", InputType.TEXT, "What is needed", 500))

PAYOUTS = Queue(
    id="payments.payouts",
    title="Supplier payouts",
    claim=ClaimMode.REQUIRED,
    money=True,
    inputs=("invoice",),
    use_cases=(RELEASE, SET_ASIDE, REJECT, NOTE, HAND_OVER),
    lease_seconds=3_600,
    bulk=(
        BulkCommand(
            id="payments.release-many",
            title="Release payouts",
            use_case=RELEASE.id,
            confirm_by=ConfirmMethod.TOTP,
            most=PLAN_ITEMS_MOST,
        ),
    ),
    score=fake_scores.RULES["payments.payouts"].id,
)
DISPUTES = Queue(
    id="payments.disputes",
    title="Supplier disputes",
    claim=ClaimMode.OPTIONAL,
    money=True,
    inputs=("evidence",),
    use_cases=(RESOLVE, ASK, NOTE, HAND_OVER),
    lease_seconds=3_600,
    score=fake_scores.RULES["payments.disputes"].id,
)


UNCERTAIN = Queue(
    id="payments.uncertain",
    title="Uncertain payouts",
    claim=ClaimMode.REQUIRED,
    money=True,
    inputs=("invoice",),
    use_cases=(NOTE, HAND_OVER),
    lease_seconds=3_600,
    uncertain_of=(PAYOUTS.bulk[0].id,),
)
