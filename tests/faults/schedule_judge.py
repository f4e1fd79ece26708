"""Owns the verdict of the fault suite, from the database alone: nothing lost, nothing completed twice, every effect
accepted once, fences rising, locks held alone, cursors moved forward. Computes instants by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from jobservice.rules.rhythms import Every
from jobservice.rules.schedules import Registered, Schedule
from tests.faults.schedule_jobs import CURSOR, DOOMED, HANGS, NEVER_WORKS, POISON, THINGS, fate
from tests.faults.schedule_people import Stretch
from tests.faults.schedule_people_judge import PeopleJudge
from tests.faults.schedule_world import begun

OWN_CAUSES = {"f.moody": "failed", "f.hangs": "over-bound", "f.blocks": "over-bound", "f.kills": "worker-lost"}
"""Why a run of these schedules may end as a dead letter."""
CURSOR_LOG = """
create schema if not exists test_faults;
create table test_faults.moves (id bigint generated always as identity, tenant text, name text, position text);
grant usage on schema test_faults to public;
grant insert on test_faults.moves to public;
create or replace function test_faults.moved() returns trigger language plpgsql security definer as
$$ begin insert into test_faults.moves (tenant, name, position) values (new.tenant, new.name, new.position); return null; end $$;
create trigger moved after insert or update on jobs.cursors for each row execute function test_faults.moved();
"""
"""What a cursor ever stood at."""
CURSOR_LOG_ENDS = "drop trigger if exists moved on jobs.cursors; drop schema if exists test_faults cascade"


@dataclass(kw_only=True)
class Verdict:
    """What was found. `wrong` is empty where everything is right; `figures` are for the report."""

    wrong: list[str] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)

    def says(self, what: str, rows: Sequence[Any]) -> None:
        """`rows` are the counter-examples of a statement."""
        if rows:
            self.wrong.append(f"{what}: {len(rows)}, such as {list(rows[:3])}")

    def report(self) -> str:
        """The figures, one a line."""
        return "\n".join(f"  {number:>8,}  {what}" for what, number in self.figures.items())


@dataclass(kw_only=True)
class Judge:
    """Looks at one database after the Workers have drained it. `until`: the last instant that is judged.
    `off` and `drained`: when a schedule or a Worker was to take nothing."""

    connection: psycopg.Connection[Any]
    schedules: Mapping[str, Schedule]
    tenants: Sequence[str]
    seed: int
    folder: Path
    began: datetime
    until: datetime
    off: Sequence[Stretch] = ()
    drained: Sequence[Stretch] = ()

    def verdict(self) -> Verdict:
        """Everything."""
        verdict = Verdict()
        self._instants(verdict)
        self._ends(verdict)
        self._attempts(verdict)
        self._locks(verdict)
        self._effects(verdict)
        self._cursors(verdict)
        self._figures(verdict)
        people = PeopleJudge(rows=self._rows, says=verdict.says, folder=self.folder, off=self.off, drained=self.drained)
        people.verdict(verdict.figures)
        return verdict

    def _rows(self, query: str, **values: object) -> list[dict[str, Any]]:
        with self.connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query.encode(), {"until": self.until, **values}).fetchall()

    def _instants(self, verdict: Verdict) -> None:
        """Every instant of every rhythm is one occurrence, or in one run of skips, and nothing else is."""
        runs = self._rows("select tenant, schedule, scheduled_at from jobs.occurrences where scheduled_at <= %(until)s")
        skips = self._rows("select * from jobs.skipped_instants")
        for tenant in self.tenants:
            for schedule in self.schedules.values():
                mine = (tenant, schedule.id)
                assert isinstance(schedule.rhythm, Every)
                step = timedelta(seconds=schedule.rhythm.seconds)
                seen = Counter(row["scheduled_at"] for row in runs if (row["tenant"], row["schedule"]) == mine)
                for skip in skips:
                    if (skip["tenant"], skip["schedule"]) != mine:
                        continue
                    inside = _instants(skip["first_at"], skip["last_at"], step)
                    if len(inside) != skip["count"]:
                        verdict.wrong.append(f"a run of skips counts {skip['count']} and has {len(inside)}: {skip}")
                    seen.update(at for at in inside if at <= self.until)
                if not seen:
                    verdict.wrong.append(f"nothing of {mine}")
                    continue
                first = min(seen)
                wanted = _instants(first, self.until, step)
                verdict.says(f"instants of {mine} that are twice", [at for at, times in seen.items() if times > 1])
                verdict.says(f"instants of {mine} that are lost", sorted(set(wanted) - set(seen)))
                verdict.says(f"instants of {mine} that are none", sorted(set(seen) - set(wanted)))
                if first > self.began + 2 * step or (first - schedule.rhythm.anchor) % step:
                    verdict.wrong.append(f"{mine} begins at {first}, planned since {self.began}")

    def _ends(self, verdict: Verdict) -> None:
        """Every occurrence ended, as what it had to be, and says truly why."""
        verdict.says(
            "occurrences that did not end",
            self._rows(
                "select tenant, schedule, scheduled_at, state, attempts, error from jobs.occurrences"
                " where scheduled_at <= %(until)s and state not in ('completed', 'dead-letter')"
            ),
        )
        for row in self._rows("select * from jobs.occurrences where state in ('completed', 'dead-letter')"):
            schedule = self.schedules[row["schedule"]]
            scope = f"{row['tenant']} {row['schedule']}@{row['scheduled_at']:%Y-%m-%dT%H:%M:%S.%fZ} itself"
            fated = fate(self.seed, scope)
            never = {"f.moody": DOOMED, "f.hangs": HANGS, "f.kills": POISON}.get(row["schedule"], 0.0)
            said = (row["schedule"], row["cause"], row["attempts"], row["error"])
            if row["state"] == "completed" and fated < never:
                verdict.wrong.append(f"completed what never works: {said}")
            if row["state"] == "dead-letter" and not _true(row, schedule, doomed=fated < never):
                verdict.wrong.append(f"a dead letter of {scope} without its cause: {said}")
            if row["origin"] == "planned" and row["started_at"] < row["scheduled_at"]:
                verdict.wrong.append(f"{scope} started before its time, {row['started_at']}")

    def _attempts(self, verdict: Verdict) -> None:
        """Each claim is one attempt with the next fence, and at most the last of a course completed it."""
        verdict.says(
            "attempts that do not follow each other",
            self._rows(
                "select * from (select a.occurrence, a.fence, a.ending, a.taken_at,"
                " row_number() over w as number, lag(a.ended_at) over w as before"
                " from jobs.occurrence_attempts as a window w as (partition by a.occurrence order by a.fence)) as x"
                " where fence <> number or taken_at < before"
            ),
        )
        verdict.says(
            "occurrences whose attempts are not those that are written",
            self._rows(
                "select o.id, o.schedule, o.state, o.cause, o.fence, o.attempts, a.* from jobs.occurrences as o"
                " cross join lateral (select count(*) as written,"
                " count(*) filter (where ending <> 'handed-back' and replay = o.replays) as counted,"
                " count(*) filter (where ending = 'completed' and replay = o.replays) as completed,"
                " max(ending) filter (where fence = o.fence) as last"
                " from jobs.occurrence_attempts where occurrence = o.id) as a"
                " where o.state in ('completed', 'dead-letter') and (a.written <> o.fence or a.counted <> o.attempts"
                " or a.completed <> (o.state = 'completed')::int or (o.state = 'completed' and a.last <> 'completed')"
                " or (o.cause = 'worker-lost' and a.last <> 'lost')"
                " or (o.cause = 'over-bound' and a.last <> 'over-bound'))"
            ),
        )

    def _locks(self, verdict: Verdict) -> None:
        """Between two attempts under one lock, whoever held them, the first ended before the second was taken."""
        verdict.says(
            "attempts under one lock that overlap",
            self._rows(
                "select * from (select o.tenant, o.lock, a.occurrence, a.fence, a.taken_at,"
                " max(a.ended_at) over (partition by o.tenant, o.lock order by a.taken_at, a.ended_at"
                " rows between unbounded preceding and 1 preceding) as before"
                " from jobs.occurrence_attempts as a inner join jobs.occurrences as o on o.id = a.occurrence) as x"
                " where taken_at < before"
            ),
        )

    def _effects(self, verdict: Verdict) -> None:
        """One accepted effect an item that is done, and none of any other."""
        effects = Counter(
            row["business_key"].rpartition(" ")[0]
            for row in self._rows("select business_key from jobs.items where business_key is not null")
        )
        verdict.figures["effects accepted"] = effects.total()
        verdict.says("effects accepted twice", [each for each, times in effects.items() if times > 1])
        rows = self._rows(
            "select o.tenant, o.schedule, o.scheduled_at, o.state, coalesce(i.outcomes, '{}') as outcomes"
            " from jobs.occurrences as o left join lateral (select jsonb_object_agg(key, outcome) as outcomes"
            " from jobs.occurrence_items where occurrence = o.id) as i on true"
        )
        wanted, open_ = set(), set()
        for row in rows:
            schedule = self.schedules[row["schedule"]]
            if schedule.cursor is not None:
                continue
            ended = row["state"] in ("completed", "dead-letter")
            for key in THINGS if isinstance(schedule.selection, Registered) else ("itself",):
                scope = f"{row['tenant']} {row['schedule']}@{row['scheduled_at']:%Y-%m-%dT%H:%M:%S.%fZ} {key}"
                # On the batch path what went well has no row: the run's own end says it.
                if row["outcomes"].get(key) == "done" or row["state"] == "completed":
                    wanted.add(scope)
                elif not ended:
                    open_.add(scope)
        accepted = {scope for scope in effects if f" {CURSOR} " not in scope}
        verdict.says("items that are done without an effect", sorted(wanted - accepted))
        verdict.says("effects of items that are not done", sorted(accepted - wanted - open_))
        starts = begun(self.folder)
        scopes = {each["scope"] for each in starts}
        verdict.figures["use cases begun"] = len(starts)
        verdict.figures["of them begun again for the same item"] = len(starts) - len(scopes)
        verdict.says("effects of what never began", sorted(accepted - scopes))

    def _cursors(self, verdict: Verdict) -> None:
        """A cursor moves one key at a time, forward, and each key behind it has its effect."""
        for tenant in self.tenants:
            moves = [
                int(row["position"])
                for row in self._rows(
                    "select position from test_faults.moves where tenant = %(tenant)s order by id", tenant=tenant
                )
            ]
            if moves != list(range(moves[0], moves[0] + len(moves))) if moves else True:
                verdict.wrong.append(
                    f"the cursor of {tenant} did not move forward one by one: {moves[:5]} ... {len(moves)}"
                )
            keys = self._rows(
                "select business_key from jobs.items where business_key like %(like)s", like=f"{tenant} {CURSOR} %"
            )
            followed = sorted(int(row["business_key"].split(" ")[2]) for row in keys)
            if followed != moves:
                verdict.wrong.append(
                    f"behind the cursor of {tenant} are {len(moves)} keys with {len(followed)} effects"
                )

    def _figures(self, verdict: Verdict) -> None:
        figures = verdict.figures
        for row in self._rows(
            "select state, count(*) as n from jobs.occurrences where ended_at is not null group by 1"
        ):
            figures[f"occurrences ended as {row['state']}"] = row["n"]
        for row in self._rows("select cause, count(*) as n from jobs.occurrences where cause is not null group by 1"):
            figures[f"dead letters because of {row['cause']}"] = row["n"]
        (skipped,) = self._rows("select coalesce(sum(count), 0)::int as n from jobs.skipped_instants")
        figures["instants skipped by a misfire policy"] = skipped["n"]
        for row in self._rows("select ending, count(*) as n from jobs.occurrence_attempts group by 1 order by 1"):
            figures[f"attempts that ended as {row['ending']}"] = row["n"]
        (highest,) = self._rows("select max(fence) as n from jobs.occurrences")
        figures["highest fencing value of an occurrence"] = highest["n"]
        for row in self._rows("select what, count(*) as n from jobs.refused_completions group by 1 order by 1"):
            figures[f"stale writes refused: {row['what']}"] = row["n"]


def _instants(first: datetime, last: datetime, step: timedelta) -> list[datetime]:
    return [first + step * number for number in range((last - first) // step + 1)]


def _true(row: Mapping[str, Any], schedule: Schedule, *, doomed: bool) -> bool:
    """Whether a dead letter's cause is what was done to it, after all its attempts."""
    if row["attempts"] != schedule.attempts:
        return False
    match row["cause"]:
        case "failed":
            return doomed and row["error"] == NEVER_WORKS
        case "over-bound":
            return OWN_CAUSES.get(row["schedule"]) == "over-bound" and "bound" in row["error"]
        case "worker-lost":  # any schedule may be in a Worker that dies; only a killer's should be in every one
            return str(row["error"]).startswith("Worker was lost")
    return False
