"""Cursors and digests: what was signed here comes back, anything else does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.errors import ErrorCode, Refusal
from jobservice.api.signing import Signer

SIGNER = Signer(bytes(range(32)))
CONTEXT = ("items", "acme", "m.ito", "payments.payouts", "waiting", "100")
words = st.text(max_size=20)
positions = st.lists(st.integers(min_value=-(2**63), max_value=2**63) | words.filter(str.isascii), max_size=3)


@given(context=st.lists(words.filter(lambda text: text.encode("utf-8", "ignore").decode() == text)), after=positions)
def test_a_cursor_comes_back_in_its_own_context(context: list[str], after: list[str | int]) -> None:
    assert SIGNER.after(context, SIGNER.cursor(context, after)) == tuple(after)


@pytest.mark.requirement("MONEY-33")
@pytest.mark.parametrize("at", range(len(CONTEXT)))
def test_a_cursor_is_good_for_nothing_else(at: int) -> None:
    cursor = SIGNER.cursor(CONTEXT, ("2026-03-02T09:00:00+00:00", "x"))
    other = (*CONTEXT[:at], "other", *CONTEXT[at + 1 :])
    with pytest.raises(Refusal) as refused:
        SIGNER.after(other, cursor)
    assert refused.value.kind is ErrorCode.CURSOR_INVALID


def test_parts_of_a_context_do_not_run_into_each_other() -> None:
    cursor = SIGNER.cursor(("items", "ab", "c"), (1,))
    for other in (("items", "a", "bc"), ("items", "abc"), ("itemsab", "c"), ("items", "ab", "c", "")):
        with pytest.raises(Refusal):
            SIGNER.after(other, cursor)


@given(at=st.integers(min_value=0), sign=st.sampled_from("ABCXYZabcxyz0189-_=+/ é\x00"))
def test_a_cursor_with_one_character_changed_is_refused(at: int, sign: str) -> None:
    cursor = SIGNER.cursor(CONTEXT, ("2026-03-02T09:00:00+00:00", "0198"))
    at %= len(cursor)
    if cursor[at] == sign:
        return
    with pytest.raises(Refusal):
        SIGNER.after(CONTEXT, cursor[:at] + sign + cursor[at + 1 :])


@given(st.text())
def test_no_text_is_a_cursor_by_chance(text: str) -> None:
    with pytest.raises(Refusal):
        SIGNER.after(CONTEXT, text)


def test_another_key_signs_and_digests_differently() -> None:
    other = Signer(bytes(32))
    assert other.digest(b"{}") != SIGNER.digest(b"{}")
    with pytest.raises(Refusal):
        other.after(CONTEXT, SIGNER.cursor(CONTEXT, (1,)))


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="has 31 bytes; it needs 32"):
        Signer(bytes(31))
