"""Files that a person asked for: new names, for them alone, never along a path of the service."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from jobconsole.exports import ExportError, write_new


def test_nothing_is_overwritten_and_only_the_person_reads_it(tmp_path: Path) -> None:
    (tmp_path / "plan-lark-42.csv").symlink_to(tmp_path / "elsewhere")
    first = write_new(tmp_path, "plan-lark-42", "csv", b"one")
    second = write_new(tmp_path, "plan-lark-42", "csv", b"two")
    assert (first.name, second.name) == ("plan-lark-42-2.csv", "plan-lark-42-3.csv")
    assert first.read_bytes() == b"one"
    assert stat.S_IMODE(second.stat().st_mode) == 0o600
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("stem", "name"), [("../../etc/passwd", "etcpasswd.csv"), ("…", "export.csv"), ("a\x00b/c", "abc.csv")]
)
def test_a_name_of_the_service_leads_nowhere(tmp_path: Path, stem: str, name: str) -> None:
    path = write_new(tmp_path, stem, "csv", b"")
    assert path == tmp_path / name


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="cannot be written"):
        write_new(tmp_path / "none", "plan", "csv", b"")
