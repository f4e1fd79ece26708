"""Zones: from the pinned package alone whatever the machine has, and their clocks against `whenever` and slow looking."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest
import tzdata

from jobservice.rules import zones
from jobservice.rules.zones import Change, UnknownZoneError, Zone
from tests.rules import slow_time

ROOT = Path(__file__).parents[2]
PEER = Path(__file__).with_name("peer_of_zones.py")
ODD = (
    "Africa/Monrovia",  # 44 minutes 30 seconds from UTC until 1972
    "Africa/Casablanca",  # negative daylight saving time, listed to 2087
    "America/New_York",
    "America/Nuuk",  # its rule changes the clock on the day before the one that it names
    "America/Santiago",
    "America/St_Johns",  # changed at one minute past midnight
    "Antarctica/Troll",  # two hours
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",  # half an hour
    "Europe/Dublin",
    "Pacific/Apia",  # a day left out
    "Pacific/Kwajalein",
    "UTC",
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def second(at: str) -> int:
    return round((datetime.fromisoformat(at).replace(tzinfo=UTC) - EPOCH).total_seconds())


def shown(name: str, local: str) -> list[str]:
    instants = zones.zone(name).instants(second(local))
    return [f"{EPOCH + timedelta(seconds=at):%Y-%m-%dT%H:%M:%S}" for at in instants]


def test_a_local_time_is_at_one_instant_at_two_or_at_none() -> None:
    assert shown("Europe/London", "2026-07-01T01:30") == ["2026-07-01T00:30:00"]
    assert shown("Europe/London", "2026-10-25T01:30") == ["2026-10-25T00:30:00", "2026-10-25T01:30:00"]
    assert shown("Europe/London", "2026-10-25T02:00") == ["2026-10-25T02:00:00"]
    assert shown("Europe/London", "2026-03-29T01:00") == []
    assert shown("Europe/London", "2026-03-29T02:00") == ["2026-03-29T01:00:00"]
    assert shown("Australia/Lord_Howe", "2026-04-05T01:45") == ["2026-04-04T14:45:00", "2026-04-04T15:15:00"]
    assert shown("Australia/Lord_Howe", "2026-10-04T02:15") == []
    assert shown("Pacific/Apia", "2011-12-29T23:59") == ["2011-12-30T09:59:00"]
    assert [shown("Pacific/Apia", f"2011-12-30T{hour:02d}:00") for hour in range(24)] == [[]] * 24
    assert shown("Pacific/Apia", "2011-12-31T00:00") == ["2011-12-30T10:00:00"]
    assert len(shown("Pacific/Kwajalein", "1969-09-30T12:00")) == 2  # the clock went back by 23 hours
    assert shown("Africa/Monrovia", "1972-01-06T23:59") == ["1972-01-07T00:43:30"]
    assert shown("Africa/Monrovia", "1972-01-07T00:30") == []


def test_names_are_those_of_the_package_letter_for_letter() -> None:
    listed = set((files("tzdata") / "zones").read_text("utf-8").split())
    assert zones.names() == listed - {"Factory"}
    assert {"UTC", "Etc/UTC", "Europe/London", "US/Eastern", "Asia/Calcutta"} <= zones.names()
    assert zones.version() == tzdata.IANA_VERSION


@pytest.mark.requirement("exclude-machine-local-time")
@pytest.mark.parametrize("name", ["localtime", "Factory", "", "Mars/Base", "../zones", "/etc/localtime", "posixrules"])
def test_a_name_that_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(UnknownZoneError) as refused:
        zones.zone(name)
    assert str(refused.value) == f"The time zone {name!r} is not in the time zone database {zones.version()}."


def test_a_name_in_other_letters_is_refused_and_the_right_one_named() -> None:
    with pytest.raises(UnknownZoneError, match=r"'europe/london' is not in .* Is it Europe/London\?"):
        zones.zone("europe/london")


def peer_changes(names: tuple[str, ...]) -> list[str]:
    """What whenever says, with the pinned package as its only source."""
    environment = {**os.environ, "PYTHONTZPATH": ""}
    done = subprocess.run(
        [sys.executable, PEER], input="\n".join(names), capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.splitlines()


def own_changes(names: tuple[str, ...]) -> list[str]:
    start, end = second("1937-01-01T00:00"), second("2100-01-01T00:00")
    return [
        f"{name} {change.at} {change.before} {change.after}"
        for name in names
        for change in zones.zone(name).changes(start + 1, end)
    ]


@pytest.mark.requirement("test-time-transitions")
def test_odd_zones_change_their_clocks_when_whenever_says() -> None:
    ours, theirs = own_changes(ODD), peer_changes(ODD)
    assert ours == theirs
    assert len(ours) > 1500


@pytest.mark.long
@pytest.mark.requirement("test-time-transitions")
def test_every_zone_changes_its_clock_when_whenever_says() -> None:
    names = tuple(sorted(zones.names()))
    ours = own_changes(names)
    assert ours == peer_changes(names)
    assert len(ours) > 50_000


@pytest.mark.parametrize("name", ODD)
def test_a_stretch_lies_between_two_changes_of_the_clock(name: str) -> None:
    zone = zones.zone(name)
    for at in slow_time.changes(name)[::7]:
        instant = round((at - EPOCH).total_seconds())
        before, after = zone.stretch(instant - 1), zone.stretch(instant)
        assert before.end == instant == after.start
        assert before.offset == slow_time.offset_at(name, at - timedelta(seconds=1)).total_seconds()
        assert after.offset == slow_time.offset_at(name, at).total_seconds()
        assert zone.stretch(after.end - 1) == after == zone.stretch((instant + after.end) // 2)


def test_a_zone_without_changes_is_one_stretch() -> None:
    stretch = zones.zone("UTC").stretch(0)
    assert stretch.start < second("0002-01-01T00:00")
    assert stretch.end > second("9999-01-01T00:00")


def test_changes_later_than_the_file_lists_come_by_its_rule() -> None:
    raw = (files("tzdata") / "zoneinfo" / "Europe" / "London").read_bytes()
    change = Change(second("2090-03-26T01:00"), 0, 3600)
    assert list(Zone("Europe/London", raw).changes(second("2090-01-01T00:00"), second("2090-07-01T00:00"))) == [change]


VECTORS_ELSEWHERE = """
import time
from datetime import datetime
from jobcontract.states import Repeated, Skipped
from jobservice.rules.rhythms import CannotCompute, Cron, between, count, newest

time.tzset()

def at(text):
    return datetime.fromisoformat(text + "+00:00")

def instants(expression, zone, skipped, repeated, after, until):
    rhythm = Cron(expression=expression, zone=zone, skipped=Skipped(skipped), repeated=Repeated(repeated))
    found = between(rhythm, at(after), at(until), most=9)
    assert newest(rhythm, at(after), at(until), most=9) == found.instants
    assert count(rhythm, at(after), at(until)) == len(found.instants)
    return " ".join(f"{each.at:%m-%dT%H:%M%z}" for each in found.instants)

gap = ("30 2 * * *", "America/New_York", "run-at-gap-end", "both", "2025-03-08T00:00", "2025-03-10T07:00")
assert instants(*gap) == "03-08T07:30+0000 03-09T07:00+0000 03-10T06:30+0000", instants(*gap)
twice = ("30 1 * * *", "America/New_York", "skip", "second", "2025-11-01T06:00", "2025-11-03T07:00")
assert instants(*twice) == "11-02T06:30+0000 11-03T06:30+0000", instants(*twice)
midnight = ("0 0 * * *", "Europe/London", "skip", "both", "2025-10-25T12:00", "2025-10-27T12:00")
assert instants(*midnight) == "10-25T23:00+0000 10-27T00:00+0000", instants(*midnight)
half = ("45 1 * * *", "Australia/Lord_Howe", "skip", "both", "2026-04-04T00:00", "2026-04-05T00:00")
assert instants(*half) == "04-04T14:45+0000 04-04T15:15+0000", instants(*half)
for zone in ("localtime", "Machine/Own"):
    try:
        instants("0 0 * * *", zone, "skip", "both", "2025-01-01T00:00", "2025-02-01T00:00")
    except CannotCompute as error:
        assert zone in str(error)
    else:
        raise AssertionError(zone)
print("as everywhere")
"""


@pytest.mark.requirement("exclude-machine-local-time", "test-time-transitions")
@pytest.mark.parametrize("machine", ["UTC", "America/New_York", "Pacific/Apia", "XXX-5:45YYY,M3.2.0,M11.1.0"])
def test_the_machines_zone_and_its_own_files_change_nothing(machine: str, tmp_path: Path) -> None:
    """Its database says that London and New York are Tokyo, and knows a zone that the pinned one does not."""
    tokyo = (files("tzdata") / "zoneinfo" / "Asia" / "Tokyo").read_bytes()
    for name in ("Europe/London", "America/New_York", "Australia/Lord_Howe", "Machine/Own", "localtime"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(tokyo)
    environment = {**os.environ, "TZ": machine, "PYTHONTZPATH": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", VECTORS_ELSEWHERE], capture_output=True, text=True, env=environment, check=False
    )
    assert (done.stdout, done.stderr) == ("as everywhere\n", "")
