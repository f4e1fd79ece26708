"""Inputs of jobs: declared fields only, nothing that looks like a credential, no value ever repeated (INV-09)."""

from __future__ import annotations

import base64
import random
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.states import InputType
from jobservice.rules.job_inputs import credential_in, judge_inputs
from jobservice.rules.job_kinds import KindInput

DECLARED = (
    KindInput(name="month", label="Month", type=InputType.TEXT, required=True, most=200),
    KindInput(name="pages", label="Pages", type=InputType.INTEGER, required=False),
    KindInput(name="since", label="Since", type=InputType.INSTANT, required=False),
)
KEY = "PRIVATE" + " KEY"
CREDENTIALS = (
    f"-----BEGIN OPENSSH {KEY}-----\nb3Bl",
    f"-----BEGIN RSA {KEY}-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.s5c1",
    "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP",
    "postgres://jobs:hunter2@db.example.org/jobs",
    "https://x.example.org/f.csv?X-Amz-Signature=0123456789abcdef",
    "password=hunter2",
    "PGPASS" + "WORD=hunter2",
    "token: abcdef123456",
    "secret: abc12345",
    "Passwort: geheim12",
    "pass\u200bword=hunter2",
    "\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44\uff1dhunter2",
    "Authorization: Basic dXNlcjpwYXNz",
    "https://hooks.slack.com/services/T0/B0/" + "X" * 24,
    "sk-" + "ant-api03-" + "a" * 16,
    "hf_" + "a" * 24,
    "Password: hunter2",
    "api_key = abc",
    '{"client_secret": "abc"}',
    "Authorization: Bearer abc.def-123",
    "Authorization: Basic dXNlcjpwYXNz1=",
    "sk_" + "live_4eC39HqLyjWD",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ghp_" + "a" * 36,
    "glpat-" + "a" * 20,
    "xoxb-" + "1234567890-abcdef",
    "token_" + "a1b2c3d4e5",
    "0123456789abcdef" * 4,
)
PLAIN = (
    "token: none",
    "COMPASS=12",
    "Token payment: 12 GBP",
    "Secret Santa: 12 people",
    "GB29NWBK60161331926819",
    "DE89 3704 0044 0532 0130 00",
    "2026-11",
    "INV-2026-000123/ACME",
    "Monthly-Report-2026-12-Final-v2_CustomerAcme.pdf",
    "payouts_2026-11-30T09:00:00Z_batch_000123.csv",
    "MyLongCamelCaseIdentifierNumber42",
    "PO-4500012345-Line-0010-Acme-Corp-Ltd-Pending",
    "https://example.org/reports/2026/11?page=12",
    "m.ito@example.org",
    "cus_NffrFeUfNV2Hib",
    "01HZX3YV5M8Q9W2E4R6T7Y8U1I",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "sha256:" + "9f86d081" * 8,
    "basic understanding of bearer certificates",
    "The password was reset at the counter",
    "Secret Santa list",
    "a token of thanks",
)


@pytest.mark.requirement("INV-09")
@pytest.mark.parametrize("value", CREDENTIALS)
def test_a_credential_is_refused_and_never_repeated(value: str) -> None:
    judged = judge_inputs(DECLARED, {"month": f"see {value}"})
    assert len(judged.faults) == 1
    assert "`month` looks like it holds" in judged.faults[0]
    assert value not in judged.faults[0]


@pytest.mark.requirement("INV-09")
@pytest.mark.parametrize("value", PLAIN)
def test_plain_ids_names_and_prose_are_not_refused(value: str) -> None:
    assert credential_in(value) is None
    assert judge_inputs(DECLARED, {"month": value}).faults == ()


@pytest.mark.requirement("INV-09")
@given(identifier=st.uuids(), number=st.integers(0, 2**63 - 1))
def test_ids_are_no_credentials(identifier: uuid.UUID, number: int) -> None:
    assert credential_in(f"K-{number}") is None
    assert credential_in(str(identifier)) is None
    assert credential_in(identifier.hex) is None


@pytest.mark.requirement("INV-09")
def test_nearly_all_of_what_is_drawn_at_random_is_met() -> None:
    drawn = random.Random(7)  # noqa: S311  # the same tokens in every run
    tokens = [base64.b64encode(drawn.randbytes(32)).decode() for _ in range(500)]
    tokens += [base64.urlsafe_b64encode(drawn.randbytes(32)).decode().rstrip("=") for _ in range(500)]
    assert sum(credential_in(token) is None for token in tokens) <= 10
    assert all(credential_in(token, drawn=False) is None for token in tokens)  # it may be an idempotency token


@given(given_=st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | st.integers() | st.text(max_size=20)))
def test_only_declared_fields_are_kept(given_: dict[str, object]) -> None:
    judged = judge_inputs(DECLARED, {"month": "2026-11", **given_})
    assert set(judged.kept) <= {"month", "pages", "since"}
    assert bool(judged.faults) or set(given_) <= {"month", "pages", "since"}


def test_everything_that_is_wrong_is_said_at_once() -> None:
    judged = judge_inputs(DECLARED, {"mont": "2026-11", "pages": "many", "since": "yesterday"})
    said = " ".join(judged.faults)
    assert "`mont` is not declared by the kind. Did you mean `month`?" in said
    assert "`month` (Month) is required." in said
    assert "`pages` is a whole number" in said
    assert "`since` is an instant" in said
    assert judge_inputs((), {"a": 1}).faults == ("`a` is not declared by the kind. It declares none.",)
