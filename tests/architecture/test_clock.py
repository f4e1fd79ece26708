"""Nothing on the service's side decides by the machine's clock or zone: the database's `jobs.now()` is the one clock, and
`rules/zones.py` the one place that knows zones, from the pinned package alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import pytest

from tests.architecture.tree import ROOT, parsed, python_files

pytestmark = pytest.mark.xdist_group("tree")  # each file is parsed once

BANNED = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("datetime", "fromtimestamp"),
    ("datetime", "utcfromtimestamp"),
    ("date", "today"),
    ("date", "fromtimestamp"),
    ("Instant", "now"),
    ("ZonedDateTime", "now"),
    ("time", "time"),
    ("time", "time_ns"),
    ("time", "clock_gettime"),
    ("time", "localtime"),
    ("time", "gmtime"),
    ("time", "ctime"),
    ("time", "asctime"),
    ("time", "mktime"),
    ("time", "strftime"),
    ("time", "tzset"),
    ("time", "timezone"),
    ("time", "altzone"),
    ("time", "daylight"),
    ("time", "tzname"),
    ("ZoneInfo", "no_cache"),
    ("zoneinfo", "available_timezones"),
    ("zoneinfo", "reset_tzpath"),
    ("zoneinfo", "TZPATH"),
    ("whenever", "reset_tzpath"),
}
"""Of a module or class its member, called or not."""
BANNED_ANYWHERE = {"to_system_tz", "assume_system_tz", "now_in_system_tz", "from_system_tz", "reset_system_tz"}
OTHER_HOUSES = (
    ROOT / "examples" / "payments" / "bank" / "__main__.py",
    ROOT / "src" / "jobservice" / "bootstrap" / "phone.py",
)
"""The example's bank stands for another company, the demo's phone for a device of a person's: each has its own clock,
and no service process runs them."""


def reads_the_machine(tree: ast.Module) -> Iterator[int]:
    """Lines that read the machine's clock or zone, whatever name a module or member was imported under."""
    renamed = {
        each.asname or each.name: each.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in node.names
    }
    for node in ast.walk(tree):
        if _banned_import(node) or _banned_member(node, renamed) or _asks_for_the_local_zone(node, renamed):
            yield getattr(node, "lineno", 0)


def _banned_import(node: ast.AST) -> bool:
    """`from time import localtime`."""
    return isinstance(node, ast.ImportFrom) and any(
        ((node.module or "").rpartition(".")[2], each.name) in BANNED for each in node.names
    )


def _banned_member(node: ast.AST, renamed: Mapping[str, str]) -> bool:
    if not isinstance(node, ast.Attribute):
        return False
    owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    return (renamed.get(owner, owner), node.attr) in BANNED or node.attr in BANNED_ANYWHERE


def _asks_for_the_local_zone(node: ast.AST, renamed: Mapping[str, str]) -> bool:
    """`astimezone()` without a zone; a `ZoneInfo` by name, which looks on the machine first; the machine's own file."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and "/localtime" in node.value
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called == "astimezone":
        given = [*node.args, *(each.value for each in node.keywords)]
        return all(isinstance(each, ast.Constant) and each.value is None for each in given)
    return renamed.get(called, called) in ("ZoneInfo", "tzlocal", "get_localzone")


@pytest.mark.requirement("exclude-machine-local-time")
def test_no_wall_clock_and_no_zone_of_the_machine_is_read() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in python_files("src/jobservice", "src/jobcontract", "examples")
        if path not in OTHER_HOUSES
        for line in reads_the_machine(parsed(path))
    ]
    assert found == []


@pytest.mark.requirement("exclude-machine-local-time")
@pytest.mark.parametrize(
    "line",
    [
        "datetime.now()",
        "datetime.now(UTC)",
        "datetime.datetime.now()",
        "import datetime as dt\ndt.datetime.today()",
        "from datetime import datetime as when\nwhen.now(tz=UTC)",
        "date.today()",
        "datetime.fromtimestamp(5)",
        "clock = datetime.now",
        "time.time()",
        "import time as t\nt.localtime()",
        "from time import localtime",
        "from time import time as seconds",
        "time.strftime('%H')",
        "zone = time.tzname",
        "at.astimezone()",
        "at.astimezone(None)",
        "at.astimezone(tz=None)",
        "ZoneInfo('localtime')",
        "ZoneInfo(name)",
        "zoneinfo.ZoneInfo('Europe/London')",
        "from zoneinfo import ZoneInfo as Z\nZ('UTC')",
        "ZoneInfo.no_cache('UTC')",
        "open('/etc/localtime')",
        "tz.tzlocal()",
        "at.to_system_tz()",
        "whenever.Instant.now()",
    ],
)
def test_a_line_that_reads_the_machine_is_found(line: str) -> None:
    assert list(reads_the_machine(ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    [
        "import time\ntime.monotonic()",
        "from time import monotonic, perf_counter",
        "at.astimezone(UTC)",
        "at.astimezone(zone)",
        "ZoneInfo.from_file(file, key=name)",
        "clock.now()",
        "store.now(transaction)",
        "datetime.fromisoformat(text)",
        "rhythm.time.hour",
    ],
)
def test_a_line_that_reads_no_machine_is_left_alone(line: str) -> None:
    assert list(reads_the_machine(ast.parse(line))) == []
