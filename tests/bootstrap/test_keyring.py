"""The key ring is this user's alone, complete, and made only where something is missing."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from jobservice.bootstrap.keyring import SIGNING_KEY, make_keyring, read_signing_key
from jobservice.settings import StartRefused


def test_it_is_made_closed_and_only_once(tmp_path: Path) -> None:
    ring = tmp_path / "ring"
    make_keyring(ring)
    first = read_signing_key(ring)
    make_keyring(ring)
    assert read_signing_key(ring) == first
    assert len(first) == 32
    assert stat.S_IMODE(ring.stat().st_mode) == 0o700
    assert stat.S_IMODE((ring / SIGNING_KEY).stat().st_mode) == 0o600


def _open_folder(ring: Path) -> None:
    ring.chmod(0o750)


def _open_file(ring: Path) -> None:
    (ring / SIGNING_KEY).chmod(0o640)


def _short_key(ring: Path) -> None:
    (ring / SIGNING_KEY).write_bytes(b"short")


def _no_key(ring: Path) -> None:
    (ring / SIGNING_KEY).unlink()


def _link(ring: Path) -> None:
    (ring / "other.key").symlink_to("/etc/hostname")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_open_folder, r"open to others \(0750\)\. Run: chmod 700"),
        (_open_file, r"open to others \(0640\)\. Run: chmod 600"),
        (_short_key, "holds 5 bytes and needs 32"),
        (_no_key, "is missing. Make the keys with: jobservice keyring init"),
        (_link, "is a link"),
    ],
)
def test_what_is_wrong_with_it_is_said(tmp_path: Path, harm: Callable[[Path], None], said: str) -> None:
    make_keyring(tmp_path / "ring")
    harm(tmp_path / "ring")
    with pytest.raises(StartRefused, match=said):
        read_signing_key(tmp_path / "ring")


def test_a_missing_ring_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match="jobservice keyring init"):
        read_signing_key(tmp_path / "none")
