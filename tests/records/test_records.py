"""The loader: what it builds, what it refuses to follow or to guess, and that its digest is of the files alone."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.payments import application
from examples.payments.bank.outward import BankOutward
from jobcontract.states import ClaimMode, ConfirmMethod, InputType, ItemState, Moves
from jobservice import records
from jobservice.application import Application
from jobservice.records.folder import RecordFile
from jobservice.records.reading import read_records
from jobservice.records.settings import setting_value
from jobservice.records.yaml import YamlRefused, parse
from jobservice.rules.bulk import BulkCommand, Limits
from jobservice.rules.settings import DECLARATIONS, Settings, SettingType
from tests.records.applications import GOOD, an_application, reject

PAYMENTS = Path(__file__).parents[2] / "examples" / "payments" / "records"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the good set that a test may break."""
    return shutil.copytree(GOOD, tmp_path / "records")


def codes(folder: Path) -> list[str]:
    """The codes that the check finds."""
    return [finding.code for finding in records.load(folder)[1]]


def alone(text: str) -> list[str]:
    """The codes that the check finds in one record by itself."""
    file = RecordFile(shown="one.yaml", path="one.yaml", content=text.encode())
    return [finding.code for finding in read_records((file,))[1]]


def test_the_good_set_is_built_as_it_is_written() -> None:
    found, findings = records.check(an_application(reject=reject))
    assert findings == ()
    assert found is not None
    payouts, talk = found.queues["shop.payouts"], found.queues["shop.talk"]
    assert (payouts.claim, payouts.money, payouts.lease_seconds) == (ClaimMode.REQUIRED, True, 1800.0)
    assert (talk.claim, talk.money, talk.use_cases) == (ClaimMode.DISABLED, False, ())
    use_case = found.use_cases["shop.reject"]
    assert payouts.use_cases == (use_case,)
    assert (use_case.moves, use_case.states) == (Moves.NOTHING, frozenset({ItemState.OPEN}))
    assert (use_case.verb, use_case.audit_reason) == ("reject", "reason")
    assert [(each.name, each.type, each.most) for each in use_case.inputs] == [("reason", InputType.TEXT, 500)]
    assert (found.settings.claims_lease, found.settings.claims_max) == (3600, 50)
    assert (use_case.version, found.use_cases["shop.pay"].version) == (1, 3)


@pytest.mark.requirement("confirm-bulk-money-actions-out-of-band")
def test_a_bulk_command_has_the_values_of_the_settings_that_it_names() -> None:
    found, _ = records.load(GOOD)
    assert found is not None
    day = {"GBP": 10_000_00, "JPY": 2_000_000}
    command = BulkCommand(
        id="shop.pay-many",
        title="Pay refunds",
        queue="shop.refunds",
        use_case="shop.pay",
        confirm_by=ConfirmMethod.TOTP,
        limits=Limits(
            item={"GBP": 500_00, "JPY": 100_000},
            plan={"GBP": 5_000_00, "JPY": 1_000_000},
            person=day,
            account=day,
            person_count=200,
            account_count=20,
        ),
        uncertain="shop.unsure",
        armed_above={"GBP": 1_000_00},
        armed_seconds=300.0,
        answer_above={"JPY": 0},
        free_count=0,
        free_gross={"GBP": 0},
        submits="shop.transfer",
    )
    assert found.bulk == {"shop.pay-many": command}
    assert found.bulk_of("shop.refunds") == (command,)


def test_armed_answers_and_singles_may_be_left_out(folder: Path) -> None:
    bulk = folder / "bulk-commands" / "pay-many.yaml"
    bulk.write_text(re.sub("^(armed|answers|singles):.*\n", "", bulk.read_text(), flags=re.MULTILINE))
    for name in ("armed", "wait", "answers", "singles", "singles-gross"):
        (folder / "settings" / f"pay-{name}.yaml").unlink()
    found, findings = records.load(folder)
    assert findings == ()
    assert found is not None
    command = found.bulk["shop.pay-many"]
    assert (command.armed_above, command.answer_above, command.free_count, command.free_gross) == ({}, {}, 0, {})
    assert command.armed_seconds == 0


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ('{GBP: "1.005"}', "`value.GBP`: GBP has 2 decimals; '1.005' has more and is not rounded."),
        ('{EUR: "1.000"}', "`value.EUR`: '1.000' may be 1,000 or 1.00: write it so."),
        ('{JPY: "-1"}', "`value.JPY`: −JPY 1 is less than nothing."),
        ("{GBP: 500.00}", "`value.GBP` is not text; put it between quotes."),
        ('{gbp: "1.00"}', "`value`: 'gbp' is not a currency of ISO 4217. Did you mean `GBP`?"),
        ("{}", '`value` states an amount for each currency, such as {GBP: "1,000.00", JPY: "200,000"}.'),
        ("500", '`value` states an amount for each currency, such as {GBP: "1,000.00", JPY: "200,000"}.'),
    ],
)
@pytest.mark.requirement("MONEY-10")
def test_an_amount_that_is_not_exact_is_no_limit(folder: Path, value: str, sentence: str) -> None:
    setting = folder / "settings" / "pay-armed.yaml"
    setting.write_text(re.sub("value: .*", f"value: {value}", setting.read_text()))
    found, findings = records.load(folder)
    assert found is None
    assert [(finding.code, finding.line, finding.sentence) for finding in findings] == [("field-invalid", 4, sentence)]


@pytest.mark.parametrize(
    ("was", "now", "code", "said"),
    [
        ("personCount: pay.person-count", "personCount: claims.max", "reference-unfit", "claims.max is live claims"),
        ("personCount: pay.person-count", "personCount: pay.item", "reference-unfit", "wants a count"),
        ("item: pay.item", "item: pay.itme", "reference-unknown", "Did you mean `pay.item`?"),
        ("wait: pay.wait", "wait: pay.item", "reference-unfit", "wants a duration"),
        ("{method: totp}", "{method: none}", "field-invalid", "It is one of totp."),
        (", wait: pay.wait}", "}", "field-missing", "`armed.wait` is missing"),
        ("  plan: pay.plan\n", "", "field-missing", "`limits.plan` is missing"),
    ],
)
def test_a_setting_serves_in_the_role_in_which_it_is_named(
    folder: Path, was: str, now: str, code: str, said: str
) -> None:
    bulk = folder / "bulk-commands" / "pay-many.yaml"
    assert was in bulk.read_text()
    bulk.write_text(bulk.read_text().replace(was, now))
    found, findings = records.load(folder)
    assert found is None
    assert [finding.code for finding in findings if said in finding.sentence] == [code]


def test_counts_and_waits_of_a_bulk_command_are_bounded(folder: Path) -> None:
    for name, value in (("person-count", "0"), ("wait", "P2D"), ("singles", "1001")):
        setting = folder / "settings" / f"pay-{name}.yaml"
        setting.write_text(re.sub("value: .*", f"value: {value}", setting.read_text()))
    assert [finding.sentence for finding in records.load(folder)[1]] == [
        "pay.person-count is items that one person sends out in 24 hours: from 1 to 1,000,000.",
        "pay.singles is single releases of one person in 24 hours without a code: from 0 to 1,000.",
        "pay.wait is how long a confirmed plan waits: from 1 s to 86,400 s.",
    ]


def test_a_setting_that_is_named_in_two_roles_keeps_within_the_bounds_of_both(folder: Path) -> None:
    bulk = folder / "bulk-commands" / "pay-many.yaml"
    bulk.write_text(bulk.read_text().replace("count: pay.singles,", "count: pay.person-count,"))
    (folder / "settings" / "pay-singles.yaml").unlink()
    assert codes(folder) == []
    setting = folder / "settings" / "pay-person-count.yaml"
    for value in ("0", "1001"):
        setting.write_text(re.sub("value: .*", f"value: {value}", setting.read_text()))
        assert codes(folder) == ["setting-out-of-bounds"], value


def test_limits_of_one_process_are_replaced_and_compared_like_those_of_the_records() -> None:
    found, _ = records.load(GOOD, overrides={"pay.item": "GBP=100.00;JPY=5", "pay.singles": "2"})
    assert found is not None
    command = found.bulk["shop.pay-many"]
    assert (command.limits.item, command.free_count) == ({"GBP": 100_00, "JPY": 5}, 2)
    wrong = {"pay.item": "GBP=100.00", "pay.plan": "GBP=1;JPY=5.5", "pay.day": "GBP", "pay.armed": "GBP=1;GBP=2"}
    refused, findings = records.load(GOOD, overrides=wrong)
    assert refused is None
    assert [(finding.code, finding.sentence.partition(";")[0]) for finding in findings] == [
        ("field-invalid", "pay.armed: GBP stands there twice."),
        ("field-invalid", "pay.day: 'GBP' is not an amount for each currency, such as GBP=100.00"),
        ("field-invalid", "pay.plan: JPY has 0 decimals"),
        ("limits-incomplete", "`limits.item`: pay.item has no limit for JPY, and another limit has one"),
    ]


def test_an_outside_half_of_no_use_case_is_a_finding() -> None:
    application = an_application(reject=reject)
    application.outward("shop.payy", BankOutward())
    _, findings = records.check(application)
    assert [(finding.code, finding.sentence) for finding in findings] == [
        (
            "behavior-unrecorded",
            "shop.payy is registered, but no use-case record is shop.payy. Did you mean `shop.pay`?",
        )
    ]


@pytest.mark.requirement("state-the-claim-mode")
@pytest.mark.parametrize("mode", list(ClaimMode))
def test_every_claim_mode_can_be_stated_and_none_is_assumed(folder: Path, mode: ClaimMode) -> None:
    queue = folder / "queues" / "payouts.yaml"
    lease = "lease: shop.lease\n"
    text = queue.read_text().replace("claim: required", f"claim: {mode}")
    queue.write_text(text.replace(lease, "") if mode is ClaimMode.DISABLED else text)
    if mode is ClaimMode.DISABLED:
        (folder / "settings" / "shop-lease.yaml").unlink()
    found, findings = records.load(folder)
    assert findings == ()
    assert found is not None
    assert found.queues["shop.payouts"].claim is mode
    queue.write_text(text.replace(f"claim: {mode}\n", ""))
    assert "claim-mode-unstated" in codes(folder)


def test_the_payments_records_have_no_findings() -> None:

    found, findings = records.check(application)
    assert findings == ()
    assert found is not None
    modes = {queue.id: (queue.claim, queue.money) for queue in found.queues.values()}
    assert modes == {
        "payments.payouts": (ClaimMode.REQUIRED, True),
        "payments.disputes": (ClaimMode.OPTIONAL, True),
        "payments.notes": (ClaimMode.DISABLED, False),
        "payments.uncertain": (ClaimMode.REQUIRED, True),
    }
    assert [each.id for each in found.use_cases.values() if each.moves is Moves.MONEY] == ["payments.release"]
    assert records.report(application.records, application).exit_code == 0


def test_each_declared_setting_is_one_field_of_the_values_in_force() -> None:
    assert [re.sub("[.-]", "_", declared.id) for declared in DECLARATIONS] == [field.name for field in fields(Settings)]


def test_an_override_replaces_the_value_of_one_process_and_is_checked_like_the_record() -> None:
    found, _ = records.load(GOOD, overrides={"claims.lease": "PT2S", "shop.lease": "PT3S"})
    assert found is not None
    assert (found.settings.claims_lease, found.queues["shop.payouts"].lease_seconds) == (2, 3.0)
    wrong = {"claims.leese": "PT2S", "claims.max": "none", "claims.total": "P30D"}
    refused, findings = records.load(GOOD, overrides=wrong)
    assert refused is None
    assert [str(finding) for finding in findings] == [
        "--set claims.leese=PT2S:1: setting-unknown: No record gives a setting claims.leese. Did you mean `claims.lease`?",
        "--set claims.max=none:1: field-invalid: claims.max: 'none' is not a whole number.",
        "--set claims.total=P30D:1: setting-out-of-bounds: claims.total is a claim with all its renewals: from 1 s to 604,800 s.",
    ]


def test_a_lease_is_long_enough_to_be_renewed_and_slots_no_more_than_connections_allow() -> None:
    """A lease is renewed within a fifth of its length, also where the process is busy."""
    found, _ = records.load(GOOD, overrides={"occurrence.lease": "PT5S", "worker.slots": "200"})
    assert found is not None
    refused, findings = records.load(GOOD, overrides={"occurrence.lease": "PT4S", "worker.slots": "201"})
    assert refused is None
    assert [finding.code for finding in findings] == ["setting-out-of-bounds"] * 2


@pytest.mark.requirement("FILE-03")
@pytest.mark.parametrize("target", ["file", "folder", "dangling"])
def test_a_link_that_leaves_the_folder_is_not_followed(folder: Path, tmp_path: Path, target: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "evil.yaml").write_text("kind: queue\nid: shop.evil\n")
    place = {"file": outside / "evil.yaml", "folder": outside, "dangling": tmp_path / "nowhere"}[target]
    (folder / "queues" / "link.yaml").symlink_to(place)
    found, findings = records.load(folder)
    assert found is None
    assert [finding.code for finding in findings] == ["record-outside"]
    assert "evil" not in findings[0].sentence


@pytest.mark.requirement("FILE-03")
def test_a_pipe_in_the_folder_is_named_and_does_not_hang_the_start(folder: Path) -> None:
    os.mkfifo(folder / "queues" / "pipe.yaml")
    assert codes(folder) == ["record-outside"]


def test_a_file_of_more_than_64_kib_is_not_parsed(folder: Path) -> None:
    (folder / "queues" / "long.yaml").write_text("kind: queue\n#" + "x" * 65_536)
    assert codes(folder) == ["record-too-large"]


def test_the_digest_is_of_paths_and_bytes_and_not_of_the_place(folder: Path) -> None:
    def digest(of: Path) -> str:
        found, _ = records.load(of)
        assert found is not None
        return found.digest

    assert digest(folder) == digest(GOOD)
    queue = folder / "queues" / "payouts.yaml"
    queue.write_text(queue.read_text() + "# one more line\n")
    changed = digest(folder)
    queue.rename(folder / "queues" / "renamed.yaml")
    assert len({digest(GOOD), changed, digest(folder)}) == 3


def test_no_stays_a_word_and_text_that_yaml_reads_as_something_else_wants_quotes(folder: Path) -> None:
    queue = folder / "queues" / "payouts.yaml"
    text = queue.read_text()
    queue.write_text(text.replace("title: Payouts", "title: no"))
    found, _ = records.load(folder)
    assert found is not None
    assert found.queues["shop.payouts"].title == "no"
    for plain in ("12", "true", "null", "~", "1e3", "0x1F", ""):
        assert alone(text.replace("title: Payouts", f"title: {plain}")) == ["field-invalid"], plain
        quoted = alone(text.replace("title: Payouts", f"title: '{plain}'"))
        assert quoted == ([] if plain else ["field-invalid"]), plain


def test_an_alias_bomb_is_refused_at_its_first_anchor() -> None:
    bomb = "kind: queue\nid: x\na: &a [x, x]\n" + "".join(f"a{n}: &a{n} [*a, *a]\n" for n in range(30))
    with pytest.raises(YamlRefused) as refused:
        parse(bomb)
    assert (refused.value.code, refused.value.line) == ("alias-refused", 3)


def refusal(text: str) -> YamlRefused | None:
    """Why `text` is not a document of ours; None where it is one."""
    try:
        parse(text)
    except YamlRefused as refused:
        return refused
    return None


@given(st.text(max_size=300))
def test_whatever_a_file_holds_it_is_a_mapping_or_a_finding(text: str) -> None:
    refused = refusal(text)
    assert refused is None or refused.code in records.CODES
    assert refused is None or 1 <= refused.line <= len(text.splitlines()) + 2
    assert refused is None or refused.sentence.endswith(".")


@given(st.lists(st.sampled_from("{}[]&*!|>-?:,'\"#% \n\tabk1"), max_size=60).map("".join))
def test_no_arrangement_of_yaml_signs_escapes_as_another_exception(text: str) -> None:
    refused = refusal("kind: queue\nid: x\n" + text)
    assert refused is None or refused.code in records.CODES


@pytest.mark.parametrize(
    ("text", "seconds"), [("PT1H", 3600), ("P7D", 604_800), ("PT90S", 90), ("P1DT2H3M4S", 93_784), ("PT0S", 0)]
)
def test_durations_are_read_in_seconds(text: str, seconds: int) -> None:
    assert setting_value(text, SettingType.DURATION) == seconds


@pytest.mark.parametrize("text", ["P", "PT", "P1M", "P1Y", "1H", "PT1.5S", "PT-1S", "P1W", "pt1h", "PT1H ", "PT１H"])
def test_other_forms_of_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        setting_value(text, SettingType.DURATION)


def test_a_folder_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    absent = Application("shop", tmp_path / "nowhere")
    found, findings = records.check(absent)
    assert found is None
    assert [finding.code for finding in findings] == ["records-missing"]


def test_the_report_counts_records_or_prints_one_line_a_finding(folder: Path) -> None:
    assert records.report(folder).lines == ("77 records, no findings.",)
    (folder / "use-cases" / "reject.yaml").unlink()
    report = records.report(folder)
    assert report.exit_code == 1
    assert report.lines == (
        f"{folder}/queues/payouts.yaml:11: reference-unknown: `useCases`: no use-case record is shop.reject. "
        "Did you mean `shop.remind`?",
    )


def test_the_payments_folder_is_the_one_that_the_application_names() -> None:
    count = len(list(PAYMENTS.rglob("*.yaml")))
    assert records.report(PAYMENTS).lines == (f"{count} records, no findings.",)
