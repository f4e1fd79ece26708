"""Inputs of jobs: declared fields only, nothing that looks like a credential, no value ever repeated (INV-09)."""

from __future__ import annotations

import base64
import itertools
import random
import re
import uuid
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jobcontract.states import InputType
from jobservice.rules.credentials import credential_in
from jobservice.rules.job_inputs import judge_inputs
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
    "https://hooks.slack.com/workflows/start-here",
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
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "9F86D081884C3D659A2FEAA0C55AD015",
    "key_9f86d081884c3d659a2feaa0c55ad015",
    "JBSWY3DPEHPK3PXP",
    "jbsw y3dp ehpk 3pxp",
    "GEZD-GNBV-GY3T-QOJQ",
    "KVKFKRCPNZQUYMLXOVYDSQKJKZDTSRLD",
    "-----BEGIN CERTIFICATE-----",
    "q2Vf8sK1mZ0xTn4bR7wYhA==",
    "k3j4h5g6f2d8s9a1p0o2i3u7y6t5r4e9",
)
CARDS = (
    "4111111111111111",
    "4111 1111 1111 1111",
    "4111-1111-1111-1111",
    "4111\u00a01111\u00a01111\u00a01111",
    "card:4012888888881881",
    "Visa-4012888888881881",
    "5555555555554444",
    "2223003122003222",
    "378282246310005",
    "3782 822463 10005",
    "30569309025904",
    "3056 930902 5904",
    "6011111111111117",
    "3530111333300000",
    "6200000000000005",
    "4222222222222",
    "4000000000000000006",
    "paid with 4242 4242 4242 4242 today",
    "AB12 4111 1111 1111 1111",  # like an account, whose check digits are wrong
    "\uff14" + "\uff11" * 15,
)
PLAIN = (
    "sha1:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "md5:9f86d081884c3d659a2feaa0c55ad015",
    "statement-9f86d081884c3d659a2feaa0c55ad015.csv",
    "K-4111111111111111",
    "INV4111111111111111",
    "invoice_4111111111111111",
    "4111 1111 1111 1112",
    "+49 151 2345 67890",
    "4915123456786",
    "4006381333931",
    "4012345000047",  # an article, a trade item and a shipment whose check digit would be right for a card too
    "36101234000028",
    "629104100000000074",
    "+44 7700 900123",
    "356938035643809",
    "8944110068022012345",
    "1764547200000",
    "2026113009000012",
    "20261130 090000",
    "4,111,111,111,111,111.00",
    "4111111111111111.5 GBP",
    "FR14 4004 1010 0505 0001 3M02 606",
    "BUILDING2FLOOR3ROOM4",
    "PO4532LINE27ACME",
    "INTERNATIONALISATION",
    "CUSTOMERACCOUNTSTATEMENT",
    "QUARTERLYREPORT3",
    "PRT4532LNK27BXCM",
    "K7QX3ZR5TB2WNP4VM",
    "totalofallstatementsis==",
    "00000000000000000000000000000000",
    "21000000000313947143000901720260",
    "000000000000000000000000000a01bc",
    "MT84MALT011000012345MTLCAST001S",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "01890a5dac96774bbcceb302099a8057",
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


def _of_this_service(bits: int) -> uuid.UUID:
    """An id as the database makes them, of version 7 (RFC 9562)."""
    return uuid.UUID(int=bits & ~(0xF << 76) & ~(0x3 << 62) | 7 << 76 | 2 << 62)


@pytest.mark.requirement("INV-09")
@given(identifier=st.uuids(version=4) | st.builds(_of_this_service, st.integers(0, 2**128 - 1)))
def test_ids_without_dashes_are_no_credentials(identifier: uuid.UUID) -> None:
    assert credential_in(identifier.hex) is None


@pytest.mark.requirement("INV-09")
@pytest.mark.parametrize("card", CARDS)
def test_the_number_of_a_payment_card_is_refused_and_never_repeated(card: str) -> None:
    assert credential_in(card, drawn=False) == "the number of a payment card"
    (fault,) = judge_inputs(DECLARED, {"month": card}).faults
    assert fault.startswith(
        "`month` looks like it holds the number of a payment card: inputs of a job carry no secrets."
    )
    assert re.search(r"\d", fault) is None


@pytest.mark.requirement("INV-09")
def test_the_number_of_a_payment_card_is_refused_as_a_whole_number_too() -> None:
    (fault,) = judge_inputs(DECLARED, {"month": "2026-11", "pages": 4111111111111111}).faults
    assert fault.startswith("`pages` looks like it holds the number of a payment card")
    assert judge_inputs(DECLARED, {"month": "2026-11", "pages": 4111111111111112}).faults == ()


def _with_check_digit(digits: str) -> str:
    """The digits with the one behind them that makes the sum of Luhn come out."""
    doubled = (int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits)))
    return digits + str(-sum(value - 9 if value > 9 else value for value in doubled) % 10)


@st.composite
def _cards(draw: st.DrawFn) -> tuple[str, str]:
    """The number of a card, and how it is written."""
    begin, length, groups = draw(
        st.sampled_from(
            (
                ("4", 16, (4, 4, 4, 4)),
                ("4", 19, (4, 4, 4, 4, 3)),
                ("53", 16, (4, 4, 4, 4)),
                ("2401", 16, (4, 4, 4, 4)),
                ("34", 15, (4, 6, 5)),
                ("37", 15, (4, 6, 5)),
                ("6011", 16, (4, 4, 4, 4)),
                ("65", 16, (4, 4, 4, 4)),
                ("3566", 16, (4, 4, 4, 4)),
                ("62", 16, (4, 4, 4, 4)),
                ("62", 19, (6, 13)),
            )
        )
    )
    rest = length - 1 - len(begin)
    number = _with_check_digit(begin + draw(st.text("0123456789", min_size=rest, max_size=rest)))
    sign = draw(st.sampled_from(("", " ", "-", "\u2009", "\u2011")))
    ends = list(itertools.accumulate(groups, initial=0))
    return number, sign.join(number[begin:end] for begin, end in itertools.pairwise(ends))


@pytest.mark.requirement("INV-09")
@given(
    card=_cards(), before=st.sampled_from(("", "card ", "(", "pan=")), after=st.sampled_from(("", " 12/29", ")", "."))
)
def test_cards_of_every_network_are_met_however_they_are_written(
    card: tuple[str, str], before: str, after: str
) -> None:
    assert credential_in(f"{before}{card[1]}{after}", drawn=False) == "the number of a payment card"


@pytest.mark.requirement("INV-09")
@given(card=_cards(), turned=st.integers(1, 9))
def test_a_number_whose_check_digit_is_wrong_is_no_card(card: tuple[str, str], turned: int) -> None:
    number, written = card
    assume(len(number) < 19 or number == written)  # the last group of 19 digits may be something of its own
    wrong = str((int(number[-1]) + turned) % 10)
    assert credential_in(written[:-1] + wrong) is None


@pytest.mark.requirement("INV-09")
@given(
    prefix=st.sampled_from(("INV-", "K-", "PO", "cus_", "ref/", "R#")),
    number=st.integers(10**12, 10**19 - 1),
    at=st.datetimes(min_value=datetime(2002, 1, 1), max_value=datetime(2039, 1, 1)),  # noqa: DTZ001  # as files are named
    pence=st.integers(0, 10**15),
    phone=st.integers(10**9, 10**12 - 1),
)
def test_business_keys_times_amounts_and_phones_are_no_credentials(
    prefix: str, number: int, at: datetime, pence: int, phone: int
) -> None:
    moment = at.replace(tzinfo=UTC)
    for plain in (
        f"{prefix}{number}",
        at.strftime("%Y%m%d%H%M%S"),
        at.strftime("%Y%m%d-%H%M%S"),
        at.strftime("payouts_%Y-%m-%dT%H:%M:%SZ.csv"),
        moment.isoformat(),
        str(int(moment.timestamp() * 1_000)),
        str(int(moment.timestamp() * 1_000_000)),
        f"{pence / 100:,.2f} GBP",
        f"{pence / 100:.2f}",
        f"+{phone}",
        f"+{str(phone)[:2]} {str(phone)[2:6]} {str(phone)[6:]}",
        str(phone),
    ):
        assert credential_in(plain) is None, plain


@pytest.mark.requirement("INV-09")
@given(country=st.sampled_from(("GB", "DE", "FR", "NL")), bank=st.text("0123456789", min_size=18, max_size=18))
def test_an_account_is_no_credential(country: str, bank: str) -> None:
    letters = "".join(str(int(sign, 36)) for sign in f"{bank}{country}00")
    iban = f"{country}{98 - int(letters) % 97:02}{bank}"
    grouped = " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))
    assert credential_in(iban) is None
    assert credential_in(grouped) is None


@pytest.mark.requirement("INV-09")
def test_nearly_all_keys_in_hexadecimal_and_base32_are_met() -> None:
    drawn = random.Random(7)  # noqa: S311  # the same keys in every run
    keys = [drawn.randbytes(size).hex() for size in (16, 20, 32) for _ in range(300)]
    assert sum(credential_in(key) is None for key in keys) <= 30  # of 32 digits, one in sixty is a UUID by its looks
    secrets = [
        base64.b32encode(drawn.randbytes(size)).decode().rstrip("=") for size in (16, 20, 32) for _ in range(300)
    ]
    assert sum(credential_in(secret) is None for secret in secrets) <= 60
    assert all(credential_in(each, drawn=False) is None for each in keys + secrets)
    short = [base64.b64encode(drawn.randbytes(16)).decode() for _ in range(300)]
    assert sum(credential_in(key) is None for key in short) <= 6


@pytest.mark.requirement("INV-09")
def test_of_a_text_that_is_refused_for_its_length_only_the_beginning_is_looked_at() -> None:
    """Reading a million characters by every pattern would keep everybody else waiting."""
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    assert credential_in(f"{'x ' * 980} {key}") is not None
    for far in (f"{'x ' * 500_000} {key}", "4444 " * 200_000, "a b:" * 250_000):
        assert credential_in(far) is None
        assert "characters; at most 200 are allowed" in " ".join(judge_inputs(DECLARED, {"month": far, far: 1}).faults)


@pytest.mark.requirement("INV-09")
def test_a_digest_is_kept_where_the_kind_declares_one() -> None:
    declared = (
        KindInput(name="checksum", label="Checksum of the file", type=InputType.TEXT, required=True, most=80),
        KindInput(name="file", label="Name", type=InputType.TEXT, required=True, most=80),
    )
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    assert judge_inputs(declared, {"checksum": digest, "file": "a.csv"}).faults == ()
    (fault,) = judge_inputs(declared, {"checksum": "AKIA" + "IOSFODNN7EXAMPLE", "file": "a.csv"}).faults
    assert "`checksum` looks like it holds a token of a service" in fault
    (fault,) = judge_inputs(declared, {"checksum": digest, "file": digest}).faults
    assert "`file` looks like it holds a key or token" in fault
    assert "`sha256:`" in fault  # how a digest says what it is


@pytest.mark.requirement("INV-09")
@pytest.mark.parametrize(("name", "label"), [("sha256_of_file", "File"), ("file", "Fingerprint of the file")])
def test_name_or_title_say_that_an_input_is_a_digest(name: str, label: str) -> None:
    declared = (KindInput(name=name, label=label, type=InputType.TEXT, required=True, most=80),)
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    assert judge_inputs(declared, {name: digest}).faults == ()


@pytest.mark.requirement("INV-09")
def test_what_is_not_declared_is_not_repeated_where_it_looks_like_a_credential() -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    (named,) = judge_inputs(DECLARED, {"month": "2026-11", key: 1}).faults
    assert named == "An input's name looks like a credential; the kind declares month, pages, since."
    both = judge_inputs(DECLARED, {"month": "2026-11", f"n-{key}": key}).faults
    assert [fault.split(":")[0] for fault in both[1:]] == ["An input looks like it holds a token of a service"]
    assert key not in " ".join(both)


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
