"""The key ring is this user's alone, complete, and made only where something is missing."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from jobservice.bootstrap.keyring import (
    SIGNING_KEY,
    add_keys,
    make_keyring,
    read_keys,
    read_signing_key,
    remove_key,
    split_name,
)
from jobservice.rules.keys import Unopenable
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


def _short_seal(ring: Path) -> None:
    next(ring.glob("seal-*.key")).write_bytes(bytes(16))


def _no_seal(ring: Path) -> None:
    next(ring.glob("seal-*.key")).unlink()


def _no_sign(ring: Path) -> None:
    next(ring.glob("sign-*.key")).unlink()


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
        (_short_seal, "holds 16 bytes and needs 32"),
        (_no_seal, "no key that seals the secrets of phones. Make what is missing with: jobservice keyring init"),
        (_no_sign, "no key that signs confirmations"),
    ],
)
def test_what_is_wrong_with_it_is_said(tmp_path: Path, harm: Callable[[Path], None], said: str) -> None:
    make_keyring(tmp_path / "ring")
    harm(tmp_path / "ring")
    with pytest.raises(StartRefused, match=said):
        read_signing_key(tmp_path / "ring"), read_keys(tmp_path / "ring")


def test_a_missing_ring_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match="jobservice keyring init"):
        read_signing_key(tmp_path / "none")


@pytest.mark.requirement("MONEY-17")
def test_a_ring_of_before_gets_the_keys_that_it_lacks(tmp_path: Path) -> None:
    ring = tmp_path / "ring"
    make_keyring(ring)
    signing = read_signing_key(ring)
    for file in ring.glob("s*-*.key"):
        file.unlink()
    make_keyring(ring)
    assert read_signing_key(ring) == signing
    keys = read_keys(ring)
    assert len(keys.seal_keys) == len(keys.sign_keys) == 1
    for file in ring.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.requirement("MONEY-17", "MONEY-19")
def test_new_keys_are_the_current_ones_and_old_ones_still_open(tmp_path: Path) -> None:
    ring = tmp_path / "ring"
    make_keyring(ring)
    old = read_keys(ring)
    sealed, signed = old.seal("m.ito", "code", b"secret"), old.sign("plan", bytes(32))
    for _ in range(10):  # past the number at which text order and count part
        new = add_keys(ring)
    assert len(new.seal_keys) == len(new.sign_keys) == 11
    assert new.current_seal.startswith("0011-")
    assert new.current_sign.startswith("0011-")
    assert new.open("m.ito", "code", sealed) == b"secret"
    assert new.public().verify("plan", bytes(32), signed)
    assert not old.public().verify("plan", bytes(32), new.sign("plan", bytes(32)))
    remove_key(ring, "seal", sealed.key_id)
    with pytest.raises(Unopenable):
        read_keys(ring).open("m.ito", "code", sealed)


@pytest.mark.requirement("MONEY-17")
def test_no_key_shows_itself(tmp_path: Path) -> None:
    make_keyring(tmp_path / "ring")
    keys = read_keys(tmp_path / "ring")
    shown = repr(keys) + str(keys)
    for key in (*keys.seal_keys.values(), *keys.sign_keys.values()):
        assert key.hex() not in shown
        assert repr(key) not in shown


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("seal-0001-9f31c4", ("seal", "0001-9f31c4")),
        ("sign-12345-9f31c4.key", ("sign", "12345-9f31c4")),
        ("signing.key", None),
        ("../seal-0001-9f31c4", None),
        ("seal-0001-9f31c4.key.key", None),
    ],
)
def test_a_name_is_a_keys_or_none(name: str, parts: tuple[str, str] | None) -> None:
    assert split_name(name) == parts
