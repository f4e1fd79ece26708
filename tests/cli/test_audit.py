"""The twins of the audit trail and the timeline: what is asked for, what is printed, files that are new and their maker's."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from jobcontract.operating import TimelineKind
from tests.cli.twins import Typed

AUDITOR, OPERATOR = "a.nagy", "o.lind"


@pytest.fixture
def trailed(typed: Typed) -> Typed:
    """A trail of four entries, and two things that happened."""
    trail = typed.fake.trail
    trail.add("m.ito", "claim", "a")
    trail.add(None, "claim-lapsed", "a")
    trail.add("k.rao", "confirm-plan", "p", outcome="refused", sentence="No.")
    trail.add("o.lind", "disable-schedule", "s.one", schedule="s.one", before={"off": False}, after={"off": True})
    trail.seal()
    at = typed.fake.time
    trail.happened(TimelineKind.ALARM, "s.one", "Alarm late.", at - timedelta(hours=2))
    trail.happened(TimelineKind.ACT, "s.one", "Olle Lind disabled it.", at - timedelta(hours=1), person="o.lind")
    trail.happened(TimelineKind.ACT, "old", "Long ago.", at - timedelta(days=2))
    return typed


@pytest.mark.requirement("MONEY-33")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--person", "m.ito"), ["claim"]),
        (("--person", "-"), ["claim-lapsed"]),
        (("--action", "claim", "--subject", "a"), ["claim"]),
        (("--outcome", "refused"), ["confirm-plan"]),
        (("--schedule", "s.one"), ["disable-schedule"]),
        (("--since", "-1h", "--until", "+1h"), ["disable-schedule", "confirm-plan", "claim-lapsed", "claim"]),
        (("--until", "-1h"), []),
    ],
)
def test_a_filter_is_passed_on(trailed: Typed, words: tuple[str, ...], found: list[str]) -> None:
    answer = trailed.json("audit", "list", *words, person=AUDITOR)
    assert [each["action"] for each in answer["entries"]] == found
    shown = trailed("audit", "list", *words, person=AUDITOR).stdout
    assert all(action in shown for action in found or ["No entry is like that."])


def test_one_entry_is_shown_with_before_and_after_and_its_seal(trailed: Typed) -> None:
    shown = trailed("audit", "show", "4", person=AUDITOR).stdout
    assert "off     false   true   changed" in shown
    assert "sealed" in shown
    assert trailed.json("audit", "show", "4", person=AUDITOR)["seal"]["place"] == 4
    assert trailed("audit", "show", "99", person=AUDITOR).exit_code == 1
    assert trailed("audit", "show", "x", person=AUDITOR).exit_code == 2


@pytest.mark.requirement("MONEY-28")
def test_an_export_is_a_new_file_of_its_maker(trailed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "trail.csv"
    result = trailed("audit", "export", "--action", "claim", "--out", str(file), person=AUDITOR)
    assert result.stdout.startswith(f"Written: {file} (")
    assert (file.stat().st_mode & 0o777, file.read_text("utf-8-sig").count("\n")) == (0o600, 2)
    again = trailed("audit", "export", "--out", str(file), person=AUDITOR)
    assert (again.exit_code, "nothing is overwritten" in again.stderr) == (5, True)
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "elsewhere.csv")
    assert trailed("audit", "export", "--out", str(link), person=AUDITOR).exit_code == 5
    assert not (tmp_path / "elsewhere.csv").exists()


def test_a_timeline_is_lines_json_or_markdown(trailed: Typed, tmp_path: Path) -> None:
    shown = trailed("timeline", person=OPERATOR).stdout.splitlines()
    assert [line.split("  ")[1].strip() for line in shown] == ["alarm", "act"]
    answer = trailed.json("timeline", "--from", "-3d", "--to", "-90m", person=OPERATOR)
    assert [each["subject"] for each in answer["entries"]] == ["old", "s.one"]
    assert [each["kind"] for each in trailed.json("timeline", "--kind", "alarm", person=OPERATOR)["entries"]] == [
        "alarm"
    ]
    assert trailed("timeline", "--markdown", person=OPERATOR).stdout.startswith("# Timeline of leeds\n")
    file = tmp_path / "night.md"
    assert trailed("timeline", "--out", str(file), person=OPERATOR).exit_code == 0
    assert "2 entries: 1 act, 1 alarm." in file.read_text()


@pytest.mark.parametrize(
    "words",
    [
        ("timeline", "--from", "-1h", "--to", "-2h"),
        ("timeline", "--from", "-40d"),
        ("timeline", "--from", "whenever"),
        ("timeline", "--kind", "wrong"),
        ("audit", "list", "--since", "-1h", "--until", "-2h"),
        ("audit", "export"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(trailed: Typed, words: tuple[str, ...]) -> None:
    assert trailed(*words, person=AUDITOR).exit_code == 2
