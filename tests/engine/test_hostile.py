"""Steps that do what no step should: each ends its own job in words, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
import structlog

from jobcontract.states import Moves, OutcomeKind
from jobservice.application import NewWorkItem, Outcome, done, retry
from jobservice.application_jobs import StepCall, StepFunction, StepOrder
from jobservice.engine import outward
from jobservice.engine.step_call import EFFECTS_MOST
from jobservice.rules.job_kinds import StepUseCase
from tests.engine.stage import EngineStage, nothing

QUEUE = "desk.plain"
Rubbish = cast("Any", object())


class Mute(Exception):
    """An exception that cannot even be told."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


def asks(ask: Callable[[StepCall], object]) -> StepFunction:
    """A step that asks for something, and says that it is done."""

    async def step(call: StepCall) -> Outcome:
        asked = ask(call)
        if isinstance(asked, Awaitable):
            asked = await asked
        return asked if isinstance(asked, Outcome) else done("Done.")

    return step


async def half(call: StepCall) -> Outcome:
    """Declares how far it is, and is done once that is written."""
    await call.progress(50, "Half.")
    await call.wait(0.5)
    return done("Done.")


def mute(call: StepCall) -> Outcome:
    """Raises what cannot be told."""
    raise Mute


HOSTILE: dict[str, Callable[[StepCall], object]] = {
    "keeps_nul": lambda call: call.keep(text="a\0b"),
    "keeps_surrogate": lambda call: call.keep(text="a\ud800b"),
    "keeps_name": lambda call: call.keep(**{"a\0b": 1}),
    "keeps_much": lambda call: call.keep(text="x" * 3_000_000),
    "keeps_big_int": lambda call: call.keep(n=10**5000),
    "item_key": lambda call: call.push(QUEUE, NewWorkItem(key=cast("str", 7), title="Item")),
    "item_nul": lambda call: call.push(QUEUE, NewWorkItem(key="k\0", title="Item")),
    "item_surrogate": lambda call: call.push(QUEUE, NewWorkItem(key="k\ud800", title="Item")),
    "item_none": lambda call: call.push(cast("str", None), NewWorkItem(key="k", title="Item")),
    "job_identity": lambda call: call.submit("t.child", cast("str", None), {}),
    "job_identity_int": lambda call: call.submit("t.child", cast("str", 7), {}),
    "job_kind": lambda call: call.submit(cast("str", None), "i", {}),
    "job_inputs": lambda call: call.submit("t.child", "i", {"month": Rubbish}),
    "job_input_name": lambda call: call.submit("t.child", "i", cast("Any", {7: 1})),
    "job_surrogate": lambda call: call.submit("t.child", "i", {"month": "a\ud800"}),
    "pushes_much": lambda call: [
        call.push(QUEUE, NewWorkItem(key=f"k-{n}", title="Item"))  # type: ignore[func-returns-value]
        for n in range(EFFECTS_MOST + 1)
    ],
    "says_reference": lambda _: done("Done.", reference=cast("str", 7)),
    "says_surrogate": lambda _: Outcome(kind=OutcomeKind.REFUSED, sentence="a\ud800", reference="\0"),
    "says_nothing": lambda _: Outcome(kind=OutcomeKind.REFUSED, sentence=cast("str", None)),
    "says_nan": lambda _: retry("Later.", after_seconds=float("nan")),
    "says_never": lambda _: retry("Later.", after_seconds=float("-inf")),
    "says_true": lambda _: Outcome(kind=OutcomeKind.RETRY, sentence="s", after_seconds=cast("float", 10**400)),
    "mute": mute,
    "progress_words": lambda call: call.progress(10, cast("str", 7)),
    "progress_nan": lambda call: call.progress(cast("int", float("nan"))),
}


ENDS = {
    "says_reference": ("succeeded", 1),
    "says_surrogate": ("failed", 1),
    "says_nothing": ("failed", 1),
}
"""What is not tried three times, and then fails."""


@pytest.fixture
def plain_log() -> Iterator[None]:
    """A log without the values of each frame, which take seconds to write."""
    structlog.configure(processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()])
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("plain_log")
async def test_a_hostile_step_ends_its_job_in_words_and_no_other(stage: EngineStage) -> None:
    stage.kind("t.child", child=nothing)
    stage.kind("t.plain", plain=half)
    for name, ask in HOSTILE.items():
        stage.kind(f"t.{name}", **{name: asks(ask)})
    async with stage.working():
        jobs = {name: await stage.submit(f"t.{name}") for name in HOSTILE}
        plain = await stage.submit("t.plain")
        ends = {name: (await stage.settled(job), stage.step_row(job)["attempts"]) for name, job in jobs.items()}
        assert ends == {name: ENDS.get(name, ("failed", 3)) for name in HOSTILE}
        assert await stage.settled(plain) == "succeeded"
        assert "progress" in stage.events(plain)
    for each in stage.rows("select failure_summary from jobs.jobs where status = 'failed' and kind like 't.keeps%%'"):
        assert "The Worker's log says more" in each["failure_summary"]


class BadBank:
    """An outward step that ends whatever calls it, and does not know what it did."""

    def __init__(self, raised: BaseException) -> None:
        self.raised = raised
        self.sent = 0

    async def send(self, order: StepOrder) -> Outcome:  # noqa: ARG002  # the seam's
        """Raises."""
        self.sent += 1
        raise self.raised

    async def look_up(self, key: str) -> Outcome | None:  # noqa: ARG002  # the seam's
        """Raises."""
        raise self.raised


@pytest.mark.usefixtures("plain_log")
async def test_a_call_that_ends_whatever_calls_it_is_uncertain_and_its_worker_lives(
    stage: EngineStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outward, "PAUSES", (0.0, 0.0))
    banks = {"exits": BadBank(SystemExit("now")), "cancels": BadBank(asyncio.CancelledError())}
    for name, bank in banks.items():
        stage.kind(f"t.{name}", **{name: bank})
    stage.kind("t.plain", plain=nothing)
    async with stage.working():
        for name in banks:
            job = await stage.submit(f"t.{name}")
            assert await stage.settled(job) == "failed"
            assert "A person has to look" in stage.row(job)["failure_summary"]
        assert await stage.settled(await stage.submit("t.plain")) == "succeeded"
    assert [bank.sent for bank in banks.values()] == [1, 1]


@pytest.mark.requirement("MONEY-1", "MONEY-19")
async def test_a_row_that_says_of_a_use_case_of_money_that_it_moves_nothing_runs_nothing(stage: EngineStage) -> None:
    calls: list[str] = []

    async def pays(call: StepCall) -> Outcome:
        calls.append(call.job)
        return done("Paid.")

    stage.kind("t.forged", first=nothing, pays=pays)
    use_case = StepUseCase(id="t.pays", title="Pay", moves=Moves.MONEY)
    stage.records = replace(stage.records, step_use_cases={"t.pays": use_case})
    async with stage.working():
        job = await stage.submit("t.forged")
        assert await stage.settled(job) == "failed"
    assert calls == []
    assert "believes no plan" in stage.row(job)["failure_summary"]
