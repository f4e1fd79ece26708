"""Kept filters: what was saved comes back, whoever saves at the same time, and a file that is not ours stays as it is."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobconsole.kept_filters import KEPT_MAX, NAME_MAX, KeptFilter, KeptFilters, KeptFiltersError
from jobcontract.ids import FILTER_MAX
from tests.hostile import MARKUP

PAYOUTS = "payments.payouts"


def kept(name: str, text: str = "amount>1000 currency:GBP", queue: str = PAYOUTS) -> KeptFilter:
    return KeptFilter(queue=queue, name=name, text=text)


@pytest.fixture
def filters(tmp_path: Path) -> KeptFilters:
    return KeptFilters(tmp_path / "config" / "jobconsole" / "filters" / "test.json", patience=0.05)


def test_nothing_is_kept_before_something_is(filters: KeptFilters) -> None:
    assert filters.read() == ()
    assert not filters.file.parent.exists()


def test_what_was_saved_is_read_by_queue_and_name(filters: KeptFilters) -> None:
    for one in (kept("small"), kept("Big"), kept("big", queue="payments.disputes")):
        assert filters.save(one) is None
    assert [(one.queue, one.name) for one in filters.read()] == [
        ("payments.disputes", "big"),
        (PAYOUTS, "Big"),
        (PAYOUTS, "small"),
    ]
    assert filters.find(PAYOUTS, "small") == kept("small")
    assert filters.find(PAYOUTS, "big") is None


def test_saving_under_a_name_again_gives_the_old_one_back(filters: KeptFilters) -> None:
    filters.save(kept("mine", "holder:me"))
    assert filters.save(kept("mine", "holder:me,free")) == kept("mine", "holder:me")
    assert filters.read() == (kept("mine", "holder:me,free"),)


def test_deleting_gives_it_back_and_leaves_the_others(filters: KeptFilters) -> None:
    filters.save(kept("one"))
    filters.save(kept("two"))
    assert filters.delete(PAYOUTS, "one") == kept("one")
    assert filters.delete(PAYOUTS, "one") is None
    assert filters.read() == (kept("two"),)


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("name", [text[:NAME_MAX].strip() for text in MARKUP])
def test_names_and_filters_are_kept_character_for_character(filters: KeptFilters, name: str) -> None:
    filters.save(kept(name, name))
    assert filters.find(PAYOUTS, name) == kept(name, name)


def test_only_the_person_can_read_file_and_new_folders(filters: KeptFilters) -> None:
    before = os.umask(0)
    try:
        filters.save(kept("mine"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(filters.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(filters.file.with_suffix(".lock").stat().st_mode) == 0o600
    for folder in list(filters.file.parents)[:3]:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(path.name for path in filters.file.parent.iterdir()) == ["test.json", "test.lock"]


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (b"{", "no JSON (line 1, column 2)"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "something else"),
        (b'{"theme": "dark"}', "something else"),
        (b'{"version": 2, "filters": []}', "another version"),
        (b'{"version": 1, "filters": [7]}', "entry 1 needs queue, name and filter"),
        (b'{"version": 1, "filters": [{"queue": "q", "name": "n", "filter": "f", "more": 1}]}', "nothing else"),
        (b'{"version": 1, "filters": [{"queue": "q", "name": "", "filter": "f"}]}', "entry 1 is wrong: A saved filter"),
        (b'{"version": 1, "filters": [{"queue": "", "name": "n", "filter": "f"}]}', "its queue is no id"),
        (b'{"version": 1, "filters": [{"queue": "q", "name": "n", "filter": "\\u0000"}]}', "cannot be kept"),
        (
            b'{"version":1,"filters":[' + b",".join([b'{"queue":"q","name":"n","filter":"f"}'] * 2) + b"]}",
            "entry 2 has",
        ),
        (b" " * 2_000_001, "2,000,000 bytes"),
    ],
    ids=range(13),
)
def test_a_file_that_is_not_understood_is_said_and_never_written_over(
    filters: KeptFilters, written: bytes, why: str
) -> None:
    filters.file.parent.mkdir(parents=True)
    filters.file.write_bytes(written)
    for use in (filters.read, lambda: filters.save(kept("mine")), lambda: filters.delete(PAYOUTS, "mine")):
        with pytest.raises(KeptFiltersError) as told:
            use()
        assert why in str(told.value)
        assert str(filters.file) in str(told.value)
        assert "left as it is" in str(told.value)
    assert filters.file.read_bytes() == written


def test_a_pipe_or_folder_of_that_name_holds_nobody(filters: KeptFilters) -> None:
    filters.file.parent.mkdir(parents=True)
    os.mkfifo(filters.file)
    with pytest.raises(KeptFiltersError, match="no plain file"):
        filters.read()
    filters.file.unlink()
    filters.file.mkdir()
    with pytest.raises(KeptFiltersError, match="directory"):
        filters.read()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KeptFiltersError, match=r"cannot be written to .*file/filters/test\.json"):
        KeptFilters(tmp_path / "file" / "filters" / "test.json").save(kept("mine"))


def test_a_link_to_the_file_stays_a_link(filters: KeptFilters, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text(json.dumps({"version": 1, "filters": []}))
    filters.file.parent.mkdir(parents=True)
    filters.file.symlink_to(real)
    filters.save(kept("mine"))
    assert filters.file.is_symlink()
    assert json.loads(real.read_text())["filters"][0]["name"] == "mine"


def test_consoles_that_save_at_the_same_time_lose_none(filters: KeptFilters) -> None:
    def save(number: int) -> None:
        KeptFilters(filters.file, patience=60).save(kept(f"filter {number}"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save, range(24)))
    assert {one.name for one in filters.read()} == {f"filter {number}" for number in range(24)}


def test_a_console_that_is_still_writing_is_said_and_nothing_is_changed(filters: KeptFilters) -> None:
    import fcntl

    filters.save(kept("first"))
    with filters.file.with_suffix(".lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(KeptFiltersError, match="Another console"):
            filters.save(kept("second"))
    assert filters.read() == (kept("first"),)


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (kept(""), "needs a name"),
        (kept(" x"), "without blanks"),
        (kept("\u200b"), "can be seen"),
        (kept("a\nb"), "line break"),
        (kept("a\x1b[31m"), "cannot be seen"),
        (kept("x" * (NAME_MAX + 1)), f"at most {NAME_MAX}"),
        (kept("x", "  "), "matches everything"),
        (kept("x", "x" * (FILTER_MAX + 1)), f"at most {FILTER_MAX}"),
        (kept("x", "\ud800"), "cannot be kept"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_words(filters: KeptFilters, one: KeptFilter, why: str) -> None:
    with pytest.raises(KeptFiltersError, match=why):
        filters.save(one)
    assert not filters.file.exists()


def test_there_is_an_end_to_what_one_profile_keeps(filters: KeptFilters) -> None:
    filters.file.parent.mkdir(parents=True)
    entries = [{"queue": PAYOUTS, "name": f"n{number}", "filter": "x"} for number in range(KEPT_MAX)]
    filters.file.write_text(json.dumps({"version": 1, "filters": entries}))
    with pytest.raises(KeptFiltersError, match="Delete one first"):
        filters.save(kept("one more"))
    assert filters.save(kept("n7", "y")) == kept("n7", "x")
