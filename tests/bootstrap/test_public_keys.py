"""The Worker's file of public keys: written whole, read only where nobody else can change it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from jobservice.bootstrap.keyring import make_keyring, read_keys
from jobservice.bootstrap.public_keys import public_text, read_public_keys, write_public_keys
from jobservice.rules.keys import Keys
from jobservice.settings import StartRefused

pytestmark = pytest.mark.requirement("MONEY-19")


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    """Keys of a fresh ring."""
    make_keyring(tmp_path / "ring")
    return read_keys(tmp_path / "ring")


def test_what_was_signed_is_verified_with_the_file_alone(keys: Keys, tmp_path: Path) -> None:
    file = tmp_path / "public.json"
    file.write_text("what was there before")
    before = os.umask(0o077)
    try:
        write_public_keys(keys.public(), file)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert sorted(path.name for path in tmp_path.iterdir()) == ["public.json", "ring"]
    public = read_public_keys(file)
    assert public.verify("plan-1", bytes(32), keys.sign("plan-1", bytes(32)))
    assert not public.verify("plan-2", bytes(32), keys.sign("plan-1", bytes(32)))


def test_it_holds_no_private_half(keys: Keys) -> None:
    text = public_text(keys.public())
    for seed in (*keys.sign_keys.values(), *keys.seal_keys.values()):
        assert seed.hex() not in text
        assert public_text(Keys({}, "", {"x": seed}, "x").public()) != text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"keys": {}}',
        '{"keys": []}',
        '{"keys": {"a": "AAAA"}}',
        '{"keys": {"a": 7}}',
        "\u00e9",
        '{"keys": {"a": "?"}}',
    ],
)
def test_another_file_is_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    file = tmp_path / "public.json"
    file.write_text(text, "utf-8")
    with pytest.raises(StartRefused, match=r"is not a file of public keys\. Write it with: jobservice keyring public"):
        read_public_keys(file)


def test_a_file_that_others_can_change_or_that_is_missing_is_refused(keys: Keys, tmp_path: Path) -> None:
    file = tmp_path / "public.json"
    with pytest.raises(StartRefused, match="cannot be read: No such file"):
        read_public_keys(file)
    write_public_keys(keys.public(), file)
    file.chmod(0o664)
    with pytest.raises(StartRefused, match=r"can be changed by others\. Run: chmod go-w"):
        read_public_keys(file)
    with pytest.raises(StartRefused, match="cannot be written"):
        write_public_keys(keys.public(), tmp_path / "none" / "public.json")
