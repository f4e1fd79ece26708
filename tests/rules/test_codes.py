"""Codes as RFC 6238 has them, as people type them, and how often somebody may be wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobservice.rules import codes
from jobservice.rules.codes import Counted, Guesses, SecretUnfit

KEY = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
"""The ASCII text 12345678901234567890, which is the secret of RFC 6238, appendix B, and of case OTP-01."""
RFC_6238 = {
    59: "94287082",
    1_111_111_109: "07081804",
    1_111_111_111: "14050471",
    1_234_567_890: "89005924",
    2_000_000_000: "69279037",
    20_000_000_000: "65353130",
}
"""Appendix B, the rows of SHA-1: eight digits. Six are the last six, since both are the same number, modulo 10^6."""
STEP = 57_000_000
HAND = {
    STEP - 2: "814299",
    STEP - 1: "643639",
    STEP: "168705",
    STEP + 1: "140418",
    STEP + 2: "514645",
    STEP + 3: "873014",
}
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
marked = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-14")
counts = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-15", "OTP-05")


@marked
@pytest.mark.parametrize(("seconds", "eight"), RFC_6238.items())
def test_codes_are_those_of_the_standard(seconds: int, eight: str) -> None:
    step = codes.step_of(datetime.fromtimestamp(seconds, UTC))
    assert codes.code_at(KEY, step) == eight[-6:]
    assert codes.matching_step(KEY, eight[-6:], step) == step


@marked
@pytest.mark.parametrize(("step", "code"), HAND.items())
def test_one_step_of_drift_is_allowed_either_way_and_no_more(step: int, code: str) -> None:
    assert codes.matching_step(KEY, code, STEP) == (step if abs(step - STEP) <= 1 else None)


@marked
def test_of_two_steps_with_one_code_the_later_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "code_at", lambda _secret, step: "111111" if step != 7 else "222222")
    assert codes.matching_step(KEY, "111111", 7) == 8


@pytest.mark.requirement("OTP-03")
@pytest.mark.parametrize("typed", ["047164", "047 164", " 047164", "0 4 7 1 6 4 "])
def test_a_leading_zero_counts_and_blanks_do_not(typed: str) -> None:
    code = codes.read_code(typed)
    assert code == "047164"
    assert codes.matching_step(KEY, code, codes.step_of(datetime.fromtimestamp(1_700_000_490, UTC))) == 56_666_683


@pytest.mark.requirement("OTP-03")
@pytest.mark.parametrize(
    "typed",
    [
        *("47164", "0471640", "", "      ", "04716a", "+47164", "-47164", "4.7164", "047\t164", "047\n164"),
        *("047\u00a0164", "٠٤٧١٦٤", "०४७१६४", "０４７１６４", "04716４"),
    ],
)
def test_anything_but_six_ascii_digits_is_no_code(typed: str) -> None:
    assert codes.read_code(typed) is None


@pytest.mark.requirement("OTP-03", "MONEY-16")
@pytest.mark.parametrize(
    "spelled",
    [
        KEY,
        KEY.lower(),
        "gezd gnbv gy3t qojq gezd gnbv gy3t qojq",
        "gezd-gnbv-gy3t-qojq-gezd-gnbv-gy3t-qojq",
        f" {KEY}\t",
    ],
)
def test_a_secret_is_read_however_it_is_shown(spelled: str) -> None:
    assert codes.read_secret(spelled) == KEY


@pytest.mark.requirement("OTP-03")
def test_a_secret_needs_no_padding() -> None:
    bare = codes.read_secret("NJXWEY3PNZZW63DFFV2GK43UEE")
    assert codes.read_secret("NJXWEY3PNZZW63DFFV2GK43UEE======") == bare
    assert codes.code_at(bare, STEP) == "469381"


@pytest.mark.requirement("OTP-03", "MONEY-16")
@pytest.mark.parametrize(
    ("spelled", "said"),
    [
        ("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJ0", "this one has 0"),
        ("gezdgnbvgy3tqojqgezdgnbv1893tqojq", "this one has 1, 8, 9"),
        ("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQÖJQ", "this one has others"),
        ("JBSWY3DPEHPK3PXP", "needs 112 bits"),
        ("GEZDGNBVGY3TQOJQGEZDGNBVG", "cut off"),
        ("A" * 136, "at most 128"),
        ("  = ", "no secret in that"),
    ],
)
def test_an_unfit_secret_is_a_sentence_without_the_secret(spelled: str, said: str) -> None:
    with pytest.raises(SecretUnfit, match=said) as unfit:
        codes.read_secret(spelled)
    assert spelled.strip() == "=" or spelled not in str(unfit.value)


def test_new_secrets_have_160_bits_and_differ() -> None:
    made = {codes.new_secret() for _ in range(20)}
    assert len(made) == 20
    assert {len(secret) for secret in made} == {32}
    assert all(codes.read_secret(secret) == secret for secret in made)


@pytest.mark.requirement("MONEY-16")
def test_two_codes_prove_a_phone_only_one_right_after_the_other() -> None:
    assert codes.successive_steps(KEY, HAND[STEP - 1], HAND[STEP], STEP) == STEP
    assert codes.successive_steps(KEY, HAND[STEP], HAND[STEP + 1], STEP) == STEP + 1
    for first, second in ((STEP, STEP), (STEP, STEP - 1), (STEP - 1, STEP + 1), (STEP + 1, STEP + 2)):
        assert codes.successive_steps(KEY, HAND[first], HAND[second], STEP) is None


def test_what_a_picture_says_names_person_and_place() -> None:
    address = codes.enrolment_address(KEY, "m.ito", "production")
    assert address.startswith("otpauth://totp/jobconsole%20production:m.ito?")
    assert f"secret={KEY}" in address


@dataclass
class Person:
    """One person's counters, as the store keeps them: what stands, and when each wrong code was counted."""

    guesses: Guesses = field(default_factory=Guesses)
    failures: list[datetime] = field(default_factory=list)
    now: datetime = NOW

    def recent(self) -> int:
        return sum(at > self.now - codes.WINDOW for at in self.failures)

    def count(self) -> Counted:
        self.failures.append(self.now)
        counted = codes.count_guess(self.guesses, self.recent(), self.now)
        self.guesses = counted.after
        return counted

    def settle(self, counted: Counted, outcome: str) -> None:
        if outcome != "wrong":
            self.failures.remove(max(self.failures))
            self.guesses = codes.give_back(self.guesses, counted, self.recent(), self.now, right=outcome == "right")

    def guess(self, outcome: str) -> bool:
        """Whether the code was looked at."""
        open_before = not self.guesses.locked(self.now)
        self.settle(self.count(), outcome)
        return open_before


@counts
def test_five_wrong_in_a_row_lock_and_each_further_lock_is_twice_as_long() -> None:
    person, lengths = Person(), []
    for _ in range(3):
        left = []
        for _ in range(5):
            assert person.guess("wrong")
            left.append(person.guesses.tries_left(person.recent(), person.now))
        assert left == [4, 3, 2, 1, 0]
        until = person.guesses.locked_until
        assert until is not None
        lengths.append(until - person.now)
        person.now = until - timedelta(seconds=1)
        assert person.guesses.locked(person.now)
        person.now = until
        assert not person.guesses.locked(person.now)
    assert lengths == [timedelta(minutes=15), timedelta(minutes=30), timedelta(minutes=60)]


@counts
def test_twenty_wrong_in_thirty_days_lock_for_good_though_right_ones_came_between() -> None:
    person = Person()
    for number in range(1, 21):
        assert person.guess("wrong")
        assert person.guesses.locked_for_good == (number == 20)
        person.now += timedelta(days=1)
        if number < 20:
            assert person.guess("right")
            assert person.guesses.in_a_row == 0
    person.now += timedelta(days=3_000)
    assert person.guesses.locked(person.now)


@counts
def test_what_was_wrong_more_than_thirty_days_ago_does_not_count() -> None:
    person = Person()
    for _ in range(40):
        person.guess("wrong")
        person.guess("right")
        person.now += timedelta(days=2)
    assert person.recent() == 14
    assert not person.guesses.locked(person.now)


@counts
def test_a_lock_after_a_month_without_one_is_short_again() -> None:
    person = Person()
    for _ in range(10):
        person.guess("wrong")
        person.now += timedelta(minutes=10)
    assert person.guesses.locks == 2
    person.now += timedelta(days=31)
    for _ in range(5):
        person.guess("wrong")
    assert person.guesses.locked_until == person.now + codes.LOCK_FIRST


def test_no_number_of_locks_is_too_large() -> None:
    assert codes.lock_length(10**9) == codes.LOCK_LONGEST
    assert codes.lock_length(0) == codes.LOCK_FIRST


outcomes = st.sampled_from(["wrong", "wrong", "wrong", "used", "right"])
pauses = st.sampled_from(
    [timedelta(), timedelta(seconds=30), timedelta(minutes=16), timedelta(days=1), timedelta(days=31)]
)


@counts
@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(outcomes, pauses), max_size=60))
def test_one_after_the_other_it_is_the_plain_count(events: list[tuple[str, timedelta]]) -> None:
    person, in_a_row, wrong_at = Person(), 0, list[datetime]()
    locked_until, for_good = NOW, False
    for outcome, pause in events:
        person.now += pause
        assert person.guess(outcome) == (not for_good and locked_until <= person.now)
        if outcome == "right":
            in_a_row = 0
        elif outcome == "wrong":
            in_a_row += 1
            wrong_at.append(person.now)
            for_good = for_good or sum(at > person.now - codes.WINDOW for at in wrong_at) >= 20
            if in_a_row == 5:
                in_a_row = 0
                assert person.guesses.locked_until is not None
                assert person.guesses.locked_until >= person.now + codes.LOCK_FIRST
                locked_until = person.guesses.locked_until
        assert person.guesses.in_a_row == in_a_row
        assert person.guesses.locked(person.now) == (for_good or locked_until > person.now)
        assert person.failures == wrong_at


@counts
@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(["wrong", "used"]), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_at_the_same_moment_it_is_the_same_count_in_whatever_order_they_are_settled(
    found: list[str], chance: Random
) -> None:
    person = Person()
    counted = [(person.count(), outcome) for outcome in found]
    assert sum(not each.before.locked(NOW) for each, _ in counted) <= codes.TRIES
    chance.shuffle(counted)
    for each, outcome in counted:
        person.settle(each, outcome)
    wrong = found.count("wrong")
    assert len(person.failures) == wrong
    assert person.guesses.locks * codes.TRIES + person.guesses.in_a_row == wrong
    if wrong >= codes.TRIES:
        assert person.guesses.locked(NOW)
    assert wrong < codes.WINDOW_TRIES or person.guesses.locked_for_good


@counts
def test_a_right_code_in_a_burst_forgives_those_before_it_and_none_after_it() -> None:
    person = Person()
    counted = [person.count() for _ in range(8)]
    for each, outcome in zip(counted, ["wrong"] * 4 + ["right"] + ["wrong"] * 3, strict=True):
        person.settle(each, outcome)
    assert len(person.failures) == 7
    assert person.guesses == Guesses(in_a_row=3)
