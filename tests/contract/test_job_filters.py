"""The filter language of jobs: what is read is written back the same, and what is not says where and what to write."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.filter_tokens import quoted
from jobcontract.job_filters import FIELDS, NOT_GIVEN, FilterError, JobFilter, JobIs, judge_names, parse, write
from jobcontract.job_states import JobStatus

ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20).filter(
    lambda text: bool(text.strip())
)
SLUG = st.sampled_from(["m.ito", "payments.bank-file", "acme", "here"])

KIND = st.sampled_from(["Mail.Send_Receipt", "Orders.place", "app:Task", "make.<locals>.run", "réglement"])
"""As other engines name theirs."""


def several(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(values, min_size=1, max_size=3).map(",".join)


CONDITIONS = {
    "status": several(st.sampled_from(list(JobStatus))),
    "is": several(st.sampled_from(list(JobIs))),
    "kind": several(SLUG | KIND | ANY_TEXT.map(quoted)),
    "tenant": several(SLUG),
    "source": several(SLUG),
    "requester": several(st.sampled_from(["me", "none", "NONE", "m.ito"])),
    "scope": several(ANY_TEXT.map(quoted)),
    "error": several(ANY_TEXT.map(quoted)),
}


@st.composite
def filters(draw: st.DrawFn) -> str:
    fields = draw(st.lists(st.sampled_from(list(CONDITIONS)), unique=True, max_size=4))
    parts = [f"{field}:{draw(CONDITIONS[field])}" for field in fields]
    parts += draw(st.lists(st.sampled_from(["age>2d", "AGE<=3W", "age<90m"]), max_size=2))
    parts += draw(st.lists(ANY_TEXT.map(quoted), max_size=2))
    return " ".join(draw(st.permutations(parts)))


@given(filters())
def test_what_was_read_is_written_back_and_read_the_same(text: str) -> None:
    found = parse(text)
    assert parse(write(found)) == found


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_read_or_refused_at_a_place_in_it(text: str) -> None:
    wrong = refused(text)
    if wrong is not None:
        assert 0 <= wrong.at <= len(text)
        assert wrong.sentence


def refused(text: str) -> FilterError | None:
    try:
        parse(text)
    except FilterError as wrong:
        return wrong
    return None


def test_it_says_what_it_asks_for() -> None:
    found = parse('status:failed,running requester:me,none age>2d age>1w age<=5w error:"Account closed" 0193 "a b"')
    assert found.values("status") == ("failed", "running")
    assert found.values("requester") == ("me", NOT_GIVEN)
    assert (found.older, found.younger) == (timedelta(weeks=1), timedelta(weeks=5))
    assert found.values("error") == ("Account closed",)
    assert found.words == ("0193", "a b")
    assert (found.values("kind"), parse("").older) == (None, None)


def test_a_kind_is_kept_as_it_is_written_and_judged_however_it_is() -> None:
    found = parse('kind:Mail.Send_Receipt,PAYMENTS.Report,"two words"')
    assert found.values("kind") == ("Mail.Send_Receipt", "PAYMENTS.Report", "two words")
    judge_names(found, tenant="acme", kinds=["mail.send_receipt", "payments.report", "Two Words"])
    with pytest.raises(FilterError, match=r"'PAYMENTS\.Report' is not a kind of job here"):
        judge_names(found, tenant="acme", kinds=["Mail.Send_Receipt", "two words"])


def test_a_sign_that_means_any_other_is_part_of_a_kind_between_quotes() -> None:
    found = parse('kind:"mail.*","a%b"')
    assert found.values("kind") == ("mail.*", "a%b")
    assert parse(write(found)) == found, "written back between quotes"


@pytest.mark.parametrize(
    ("text", "said", "at"),
    [
        ("state:failed", "Write status:failed", 0),
        ("customer:C-1", "Write scope:C-1", 0),
        ("id:0193", "without a field: 0193", 0),
        ("statsu:failed", "Did you mean status?", 0),
        ("status:unresolved", "Write is:unresolved", 7),
        ("is:failed", "Write status:failed", 3),
        ("status:done", "status takes pending, running", 7),
        ("status>failed", "it takes a colon, status:failed", 6),
        ("age:2d", "age>2d is older", 3),
        ("age:>2d", "age>2d", 3),
        ("age>2", "age>2d is in days", 4),
        ("age>2d,3d", "takes one value", 6),
        ("kind:bank*", "Write it like kind:payments.bank-file", 5),
        (f"kind:{'x' * 201}", "at most 200 characters", 5),
        ("requester:M*", "me, none (nobody asked for it)", 10),
        ("scope:none", 'write scope:"none"', 6),
        ("error:none", 'error:"none"', 6),
        ("status:failed status:running", "For any of several: status:failed,running", 14),
        (" ".join(f"w{number}" for number in range(21)), "At most 20 conditions", 70),
        ("x" * 501, "at most 500", 500),
        ('error:"open', "not closed", 6),
        ("x" * 201, "at most 200 characters", 0),
    ],
)
def test_a_refusal_says_what_to_write_instead_and_where(text: str, said: str, at: int) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text)
    assert said in caught.value.sentence
    assert caught.value.at == at


def test_what_is_named_and_is_not_there_is_refused_at_its_place() -> None:
    found = parse("status:failed kind:payments.report,payments.bank-fil tenant:acme")
    judge_names(found, tenant="acme")
    with pytest.raises(FilterError, match=r"Did you mean payments\.bank-file") as caught:
        judge_names(found, tenant="acme", kinds=["payments.report", "payments.bank-file"])
    assert caught.value.at == 35
    with pytest.raises(FilterError, match=r"These are the jobs of globex\. Switch to acme"):
        judge_names(found, tenant="globex")
    with pytest.raises(FilterError, match="There are: here, shop"):
        judge_names(parse("source:xyz"), tenant="acme", sources=["shop", "here"])
    assert write(JobFilter()) == ""
    assert set(FIELDS) > set(CONDITIONS)
