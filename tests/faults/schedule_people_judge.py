"""Owns the verdict on what people did in the fault suite, from the database alone: courses of an occurrence, replays and
their trail, recoveries and their accounts, and that what was switched off or drained took nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.schedule_people import Stretch
from tests.faults.schedule_world import begun

Rows = Callable[..., list[dict[str, Any]]]
Says = Callable[[str, Sequence[Any]], None]
OVER = ("done", "aborted", "dropped")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleJudge:
    """`rows` looks into the database; `says` takes the counter-examples of a statement."""

    rows: Rows
    says: Says
    folder: Path
    off: Sequence[Stretch]
    drained: Sequence[Stretch]

    def verdict(self, figures: dict[str, int]) -> None:
        """Everything."""
        self._courses()
        self._done_items()
        self._trail()
        self._recoveries()
        self._stretches()
        for row in self.rows("select state_before, count(*) as n from jobs.occurrence_replays group by 1 order by 1"):
            figures[f"replays of what was {row['state_before']}"] = row["n"]
        for row in self.rows("select state, count(*) as n from jobs.recoveries group by 1 order by 1"):
            figures[f"recoveries that are {row['state']}"] = row["n"]
        for row in self.rows("select turn, count(*) as n from jobs.recovery_rows group by 1 order by 1"):
            figures[f"rows of recoveries that are {row['turn']}"] = row["n"]
        figures["stretches in which a schedule was off"] = len(self.off)
        figures["stretches in which a Worker drained"] = len(self.drained)

    def _courses(self) -> None:
        """A replay begins a course: its fences go on behind those before, it completes at most once, and the courses of an
        occurrence are counted without a gap."""
        self.says(
            "attempts of a course whose fences are not those behind its replay's",
            self.rows(
                "select a.occurrence, a.replay, a.fence, r.fence_before, n.fence_before as next from"
                " jobs.occurrence_attempts as a"
                " left join jobs.occurrence_replays as r on r.occurrence = a.occurrence and r.replay = a.replay"
                " left join jobs.occurrence_replays as n on n.occurrence = a.occurrence and n.replay = a.replay + 1"
                " where (a.replay > 0 and r.replay is null) or a.fence <= coalesce(r.fence_before, 0)"
                " or a.fence > n.fence_before"
            ),
        )
        self.says(
            "courses that were completed more than once, or ended otherwise than their replay says",
            self.rows(
                "select r.occurrence, r.replay, r.state_before, c.completed from jobs.occurrence_replays as r"
                " cross join lateral (select count(*) filter (where ending = 'completed') as completed"
                " from jobs.occurrence_attempts where occurrence = r.occurrence and replay = r.replay - 1) as c"
                " where c.completed <> (r.state_before = 'completed')::int"
            ),
        )
        self.says(
            "occurrences whose replays are not those that are written",
            self.rows(
                "select o.id, o.replays, o.fence_base, r.* from jobs.occurrences as o"
                " cross join lateral (select count(*) as written, coalesce(max(replay), 0) as last,"
                " coalesce(max(fence_before), 0) as base from jobs.occurrence_replays where occurrence = o.id) as r"
                " where r.written <> o.replays or r.last <> o.replays or r.base <> o.fence_base"
            ),
        )

    def _done_items(self) -> None:
        """What was all done when it was run again did not begin once more."""
        starts = Counter(str(each["scope"]) for each in begun(self.folder))
        over = self.rows(
            "select o.tenant, o.schedule, o.scheduled_at, r.attempts from jobs.occurrences as o"
            " cross join lateral (select min(replay) as replay from jobs.occurrence_replays"
            " where occurrence = o.id and not_done = 0 and state_before = 'completed') as f"
            " cross join lateral (select count(*) as attempts from jobs.occurrence_attempts"
            " where occurrence = o.id and replay < f.replay) as r where f.replay is not null"
        )
        most = {f"{row['tenant']} {row['schedule']}@{row['scheduled_at']:%Y-%m-%dT%H:%M:%S.%fZ}": row for row in over}
        again = []
        for scope, times in starts.items():
            row = most.get(scope.rpartition(" ")[0])
            if row is not None and times > row["attempts"]:
                again.append((scope, times, row["attempts"]))
        self.says("items that were done and began again", again)

    def _trail(self) -> None:
        """Every replay is one row of the trail, and there is no other of one."""
        self.says(
            "replays that the trail does not have, or the other way round",
            self.rows(
                "select r.occurrence, r.replay, a.id from (select tenant, subject, id, person,"
                " (detail -> 'after' ->> 'replays')::integer as replay, detail ->> 'reason' as reason,"
                " detail ->> 'recovery' as recovery"
                " from jobs.audit where action = 'replay-occurrence' and outcome = 'done') as a"
                " full join jobs.occurrence_replays as r on r.occurrence::text = a.subject and r.replay = a.replay"
                " and r.tenant = a.tenant and r.person = a.person and r.reason = a.reason"
                " and r.recovery::text is not distinct from a.recovery"
                " where a.id is null or r.replay is null"
            ),
        )

    def _recoveries(self) -> None:
        """Every recovery is over, with an account that is its rows'; a row that ran is one replay, another row none."""
        self.says(
            "recoveries that are not over, or whose account does not add up",
            self.rows(
                "select v.name, v.state, v.count, v.account, r.* from jobs.recoveries as v"
                " cross join lateral (select count(*) as rows, count(*) filter (where turn = 'running') as running,"
                " count(*) filter (where turn = 'not-started') as waiting from jobs.recovery_rows"
                " where recovery = v.id) as r"
                " where v.state <> all(%(over)s) or r.running > 0 or (v.state = 'done' and r.waiting > 0)"
                " or r.rows <> v.count or (v.state <> 'dropped' and (v.over_at is null or exists ("
                "select 1 from (select turn, count(*) as n from jobs.recovery_rows where recovery = v.id group by 1) as t"
                " full join (select key, value::bigint as n from jsonb_each_text(v.account) where value <> '0') as k"
                " on k.key = t.turn where k.n is distinct from t.n)))",
                over=list(OVER),
            ),
        )
        self.says(
            "rows that are not the replays that they made",
            self.rows(
                "select r.name, r.turn, p.n from jobs.recovery_rows as r cross join lateral ("
                "select count(*) as n from jobs.occurrence_replays"
                " where recovery = r.recovery and occurrence::text = r.key) as p"
                " where p.n <> (r.turn in ('done', 'failed', 'running'))::int"
            ),
        )
        self.says(
            "rows that say of the occurrence's end what it was not",
            self.rows(
                "select r.name, r.turn, c.completed from jobs.recovery_rows as r"
                " inner join jobs.occurrence_replays as p on p.recovery = r.recovery and p.occurrence::text = r.key"
                " cross join lateral (select count(*) filter (where ending = 'completed') as completed"
                " from jobs.occurrence_attempts where occurrence = p.occurrence and replay = p.replay) as c"
                " where r.turn in ('done', 'failed') and c.completed <> (r.turn = 'done')::int"
            ),
        )

    def _stretches(self) -> None:
        """What was switched off was not claimed, and who drained took nothing."""
        for each in self.off:
            tenant, schedule = each.who
            self.says(
                f"claims of {schedule} of {tenant} while it was off ({each.since} to {each.until})",
                self.rows(
                    "select a.occurrence, a.fence, a.taken_at from jobs.occurrence_attempts as a"
                    " inner join jobs.occurrences as o on o.id = a.occurrence where o.tenant = %(tenant)s"
                    " and o.schedule = %(schedule)s and a.taken_at >= %(since)s and a.taken_at < %(to)s",
                    tenant=tenant,
                    schedule=schedule,
                    since=each.since,
                    to=each.until,
                ),
            )
        for each in self.drained:
            self.says(
                f"claims of the Worker {each.who[0]} while it drained",
                self.rows(
                    "select occurrence, fence, taken_at from jobs.occurrence_attempts where worker::text = %(worker)s"
                    " and taken_at >= %(since)s and taken_at < %(to)s",
                    worker=each.who[0],
                    since=each.since,
                    to=each.until,
                ),
            )
