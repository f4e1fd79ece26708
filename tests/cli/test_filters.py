"""The twins of saved filters: kept by profile, pointed at where they cannot be read, and named with `@`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobconsole.cli_filters import filter_of
from jobconsole.kept_filters import KeptFilter, KeptFilters
from jobconsole.paths import filters_file
from tests.cli.twins import Typed

PAYOUTS, DISPUTES = "payments.payouts", "payments.disputes"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def keep(queue: str, name: str, text: str) -> None:
    KeptFilters(filters_file("default")).save(KeptFilter(queue=queue, name=name, text=text))


def test_a_filter_is_saved_listed_and_deleted(typed: Typed) -> None:
    assert "No filter is saved yet" in typed("queues", "filters").stdout
    saved = typed("queues", "filters", "save", PAYOUTS, "big ones", " amount>1000 currency:GBP ")
    assert saved.exit_code == 0
    assert saved.stdout == f"saved for {PAYOUTS}: big ones = amount>1000 currency:GBP\n"
    again = typed("queues", "filters", "save", PAYOUTS, "big ones", "amount>5000 currency:GBP")
    assert "instead of: amount>1000 currency:GBP" in again.stdout
    assert typed("queues", "filters", "list").stdout == f"{PAYOUTS}  big ones  amount>5000 currency:GBP\n"
    assert typed.json("queues", "filters", "list", "--queue", DISPUTES) == {"filters": []}
    gone = typed("queues", "filters", "delete", PAYOUTS, "big ones")
    assert gone.exit_code == 0
    assert "amount>5000" in gone.stdout
    missing = typed("queues", "filters", "delete", PAYOUTS, "big ones")
    assert missing.exit_code == 1
    assert "has no saved filter big ones" in missing.stderr


def test_a_filter_that_cannot_be_read_is_pointed_at_and_not_saved(typed: Typed) -> None:
    refused = typed("queues", "filters", "save", PAYOUTS, "old", "株式 age:3d")
    assert refused.exit_code == 2
    lines = refused.stderr.splitlines()
    assert lines[0].startswith("the filter cannot be read: ")
    assert lines[1:] == ["  株式 age:3d", "  " + " " * 8 + "^"]
    assert not filters_file("default").exists()


def test_a_kept_filter_that_is_no_longer_understood_is_listed_with_why(typed: Typed) -> None:
    keep(PAYOUTS, "old", "age:3d")
    shown = typed("queues", "filters", "list")
    assert shown.exit_code == 0
    assert "old  age:3d" in shown.stdout
    assert "cannot be used: " in shown.stdout
    assert typed.json("queues", "filters", "list")["filters"][0]["fault"]


def test_a_file_that_is_not_ours_is_a_sentence(typed: Typed) -> None:
    keep(PAYOUTS, "one", "x")
    filters_file("default").write_text("{")
    for words in (["list"], ["save", PAYOUTS, "n", "x"], ["delete", PAYOUTS, "one"]):
        told = typed("queues", "filters", *words)
        assert told.exit_code == 1
        assert "is no JSON" in told.stderr
    assert filters_file("default").read_text() == "{"


@pytest.mark.requirement("TUI-01")
def test_names_and_filters_are_data(typed: Typed) -> None:
    keep(PAYOUTS, "[@click=app.quit]go[/]", "[red]x")
    assert "[@click=app.quit]go[/]  [red]x" in typed("queues", "filters", "list").stdout
    told = json.loads(typed("queues", "filters", "list", "--json").stdout)
    assert told["filters"][0]["name"] == "[@click=app.quit]go[/]"
    control = typed("queues", "filters", "save", PAYOUTS, "a\x1b[31m", "x")
    assert control.exit_code == 2
    assert "\x1b" not in control.output


def test_an_at_sign_names_a_saved_filter_of_the_queue_first(capsys: pytest.CaptureFixture[str]) -> None:
    keep(PAYOUTS, "mine", "holder:me")
    keep(DISPUTES, "mine", "holder:me,free")
    keep(DISPUTES, "old", "age>30d")
    assert filter_of("default", PAYOUTS, "holder:free") == "holder:free"
    assert filter_of("default", PAYOUTS, "@mine") == "holder:me"
    assert filter_of("default", DISPUTES, "@mine") == "holder:me,free"
    assert filter_of("default", PAYOUTS, "@old") == "age>30d"
    with pytest.raises(SystemExit) as ended:
        filter_of("default", "payments.others", "@mine")
    assert ended.value.code == 2
    assert f"{DISPUTES}, {PAYOUTS}" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        filter_of("default", PAYOUTS, "@none")
    assert "saved are: mine, old" in capsys.readouterr().err


def test_a_listing_and_claim_next_take_a_saved_filter_by_its_name(typed: Typed) -> None:
    keep(PAYOUTS, "aspire", "aspire")
    page = typed.json("queues", "items", PAYOUTS, "--filter", "@aspire")
    assert [row["title"] for row in page["items"]] == ["Aspire Care Ltd"]
    claimed = typed.json("queues", "claim-next", PAYOUTS, "--filter", "@aspire")
    assert claimed["item"]["title"] == "Aspire Care Ltd"
    refused = typed("queues", "items", PAYOUTS, "--filter", "@none")
    assert refused.exit_code == 2
    assert "no filter is saved as none" in refused.stderr
