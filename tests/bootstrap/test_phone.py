"""The demo's phone shows what real phones would, of the demo's people alone."""

from __future__ import annotations

import stat
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jobservice.bootstrap import demo, phone
from jobservice.bootstrap.phone import DemoPhone
from jobservice.rules.keys import Sealed
from jobservice.settings import StartRefused
from jobservice.store.database import Database
from jobservice.usecases import enrolment
from jobservice.usecases.codes import PURPOSE
from tests.usecases.money_desk import KEYS

pytestmark = pytest.mark.requirement("MONEY-35")
KEY = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
MINA = DemoPhone(person="m.ito", name="Mina Ito", secret=KEY)


def _folder(tmp_path: Path, *phones: DemoPhone) -> Path:
    folder = tmp_path / "people"
    folder.mkdir(mode=0o700)
    (folder / phone.PHONE).write_text(phone.phone_text(phones or (MINA,)))
    (folder / phone.PHONE).chmod(0o600)
    return folder


def test_it_shows_the_code_of_now_and_how_long() -> None:
    rao = DemoPhone(person="k.rao", name="Kiran Rao", secret=KEY)
    assert list(phone.lines((MINA, rao), 1_710_000_012.9)) == [
        "m.ito  Mina Ito   168 705  18 s",
        "k.rao  Kiran Rao  168 705  18 s",
    ]
    assert next(phone.lines((MINA,), 1_700_000_490)) == "m.ito  Mina Ito  047 164  30 s"
    assert KEY not in repr(MINA)


def test_once_gives_a_code_once_and_then_waits_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, clock, slept = _folder(tmp_path), [1_710_000_010.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(time, "time", lambda: clock[0])
    monkeypatch.setattr(time, "sleep", sleep)
    assert [phone.fresh_code(MINA, folder) for _ in range(3)] == ["168705", "140418", "514645"]
    assert slept == [20.0, 30.0]
    # Another person's code of the same moment was not given yet.
    assert phone.fresh_code(DemoPhone(person="k.rao", name="Kiran Rao", secret=KEY), folder) == "514645"
    assert stat.S_IMODE((folder / phone.PRINTED).stat().st_mode) == 0o600


def test_a_clock_set_back_does_not_make_it_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _folder(tmp_path)
    (folder / phone.PRINTED).write_text('{"m.ito": 99999999}')
    monkeypatch.setattr(time, "time", lambda: 1_710_000_010.0)
    assert phone.fresh_code(MINA, folder) == "168705"


@pytest.mark.parametrize(
    "text", ["", "[]", '{"people": [{"person": "m.ito"}]}', '{"people": [{"person": "a", "name": "b", "secret": "0"}]}']
)
def test_what_a_demo_did_not_write_is_a_sentence(tmp_path: Path, text: str) -> None:
    folder = _folder(tmp_path)
    (folder / phone.PHONE).write_text(text)
    with pytest.raises(StartRefused, match="not what a demo writes"):
        phone.read_phones(folder)


def test_where_no_demo_is_or_others_could_read_it_it_refuses(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match=r"There is no demo in .*make demo"):
        phone.read_phones(tmp_path / "people")
    folder = _folder(tmp_path)
    (folder / phone.PHONE).chmod(0o644)
    with pytest.raises(StartRefused, match="open to others"):
        phone.read_phones(folder)
    with pytest.raises(StartRefused, match=r"Those who have: m\.ito"):
        phone.chosen((MINA,), "o.lind")


async def test_the_demos_finance_people_are_enrolled_once_and_stay(
    owner_database: Database, superuser: psycopg.Connection[Any], tmp_path: Path
) -> None:
    await demo.make_people(owner_database)
    file = await demo.enrol_people(owner_database, KEYS, tmp_path / "people")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    phones = phone.read_phones(file.parent)
    assert {each.person for each in phones} == {each.id for each in demo.PEOPLE if each.role in enrolment.ROLES}
    assert len({each.secret for each in phones}) == len(phones)
    await demo.enrol_people(owner_database, KEYS, tmp_path / "people")
    assert phone.read_phones(file.parent) == phones
    assert superuser.execute("select count(*) from jobs.audit where action = 'code-enrolled'").fetchone() == (
        len(phones),
    )
    file.unlink()
    await demo.enrol_people(owner_database, KEYS, tmp_path / "people")
    again = phone.read_phones(file.parent)
    assert not {each.secret for each in again} & {each.secret for each in phones}
    opened = {row[0]: bytes(row[1]) for row in superuser.execute("select person, sealed from jobs.codes")}
    for each in again:
        sealed = Sealed(key_id=KEYS.current_seal, sealed=opened[each.person])
        assert KEYS.open(each.person, PURPOSE, sealed).decode() == each.secret
