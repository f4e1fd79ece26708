"""Every code of the records check, each shown by one broken folder laid over the good set, with its exact findings."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jobservice import records
from jobservice.records import CODES
from jobservice.rules.settings import DECLARATIONS, SettingType
from tests.records.applications import BY_CODE, GOOD

BROKEN = Path(__file__).parent / "broken"
NOT_RECORDS = ("absent.txt", "expected.txt", "README.md")


def lay_over(code: str, folder: Path) -> None:
    """The good set with the files of `broken/<code>` over it, less those that its absent.txt names."""
    shutil.copytree(GOOD, folder)
    broken = BROKEN / code
    absent = broken / "absent.txt"
    for name in absent.read_text().split() if absent.exists() else []:
        for path in list(folder.glob(name)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(broken, folder, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns(*NOT_RECORDS))


def findings(code: str, folder: Path) -> list[str]:
    """The lines that the check prints, with paths below the folder."""
    lay_over(code, folder)
    report = records.report(folder, BY_CODE.get(code))
    assert report.exit_code == 1
    tests = Path(__file__).parent
    return [
        line.replace(f"{folder}/", "").replace(f"{folder}:", ".:").replace(f"{tests}/", "") for line in report.lines
    ]


@pytest.mark.requirement(
    "keep-engine-retry-configuration-in-implementation",  # engine-knob-in-record
    "reject-unmapped-engine-steps",  # behavior-unrecorded
    "INV-08",  # failure-effect-unstated
    "INV-09",  # input-secret
    "carry-the-schedule-on-the-job-record",  # schedule-invalid
    "prefer-utc-schedules",  # zone-unreasoned, zone-unstated
    "define-business-local-clock-behavior",  # clock-change-unstated, hour-varies
    "define-misfire-recovery",  # misfire-unstated, misfire-unbounded
    "bound-job-duration",  # bound-missing
    "bound-job-retries",  # attempts-unbounded, backoff-missing
    "remove-occurrences-past-retention",  # retention-missing, retention-short
)
@pytest.mark.parametrize("code", sorted(CODES))
def test_each_code_is_shown_with_its_file_line_and_sentence(code: str, tmp_path: Path) -> None:
    found = findings(code, tmp_path / "records")
    expected = (BROKEN / code / "expected.txt").read_text().splitlines()
    assert sorted(found) == sorted(expected)  # where the checkout lies decides which file comes first
    assert code in {line.split(": ")[1] for line in found}


def test_there_is_one_broken_folder_for_each_declared_code() -> None:
    assert {folder.name for folder in BROKEN.iterdir()} == set(CODES)


def test_the_page_about_records_explains_each_code() -> None:
    page = (Path(__file__).parents[2] / "docs" / "records.md").read_text()
    rows = [line.split("`") for line in page.splitlines() if line.startswith("| `")]
    assert {row[1]: "`".join(row[2:]).strip("| ") for row in rows} == dict(CODES)


def test_the_page_about_records_lists_each_setting_with_its_bounds() -> None:
    page = (Path(__file__).parents[2] / "docs" / "records.md").read_text()
    for declared in DECLARATIONS:
        unit = " s" if declared.type is SettingType.DURATION else ""
        bounds = f"{int(declared.least):,}{unit} | {int(declared.most):,}{unit}"
        assert f"| {declared.id} | {declared.type} | {bounds} | {declared.purpose} |\n" in page
