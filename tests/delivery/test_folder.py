"""Delivering into a folder: one file a letter, for its owner alone."""

from __future__ import annotations

import stat
from email import message_from_bytes, policy
from pathlib import Path

import pytest

from jobservice.delivery import NotDelivered, delivery_from
from jobservice.delivery.folder import Folder
from tests.delivery.servers import a_letter


async def test_a_letter_is_a_file_that_its_owner_alone_may_read_and_a_repetition_replaces_it(tmp_path: Path) -> None:
    folder = tmp_path / "mail here"
    way = delivery_from(f"file://{str(folder).replace(' ', '%20')}")
    assert way == Folder(path=folder)
    await way.deliver(a_letter())
    await way.deliver(a_letter(text="Again."))
    (file,) = folder.iterdir()
    assert file.name == "00000000-0000-0000-0000-000000000007.eml"
    assert (stat.S_IMODE(folder.stat().st_mode), stat.S_IMODE(file.stat().st_mode)) == (0o700, 0o600)
    message = message_from_bytes(file.read_bytes(), policy=policy.default)
    assert (message["To"], message["Subject"]) == ("m.ito@example.org", "Plan lark-42 was confirmed")
    assert message.get_content().splitlines() == ["Again."]


async def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "mail").write_text("no folder")
    with pytest.raises(NotDelivered, match=r"cannot be written into .*mail: ") as caught:
        await Folder(path=tmp_path / "mail").deliver(a_letter())
    assert not caught.value.for_good
    with pytest.raises(NotDelivered, match="No such file"):
        await Folder(path=tmp_path / "none" / "mail").deliver(a_letter())
    with pytest.raises(NotDelivered, match="no e-mail address"):
        await Folder(path=tmp_path / "other").deliver(a_letter(address="nobody"))
