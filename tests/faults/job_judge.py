"""Owns what has to be true of the account of jobs, whatever died meanwhile: each is a query whose rows are what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Ask = Callable[[str], list[tuple[Any, ...]]]

WRONG: Mapping[str, str] = {
    "a job is not settled": "select id, kind, status from jobs.jobs where settled_at is null",
    "a job ended otherwise than its kind ends": """
        select id, kind, status, failure_summary from jobs.jobs
        where status <> case when kind = 't.fails' then 'failed' else 'succeeded' end
        and not (status = 'cancelled' and cancel_asked_at is not null)""",
    "a job failed for another reason than its own": """
        select id, failure_summary from jobs.jobs
        where status = 'failed' and failure_summary not like 'Never: It cannot be.%'
        and failure_summary <> 'Never: Attempt 2 of 2 ended without a word: its Worker was lost.'""",
    "a job that submits another has not submitted it once": """
        select j.id, count(c.id) from jobs.jobs as j
        left join jobs.jobs as c on c.submission_identity = 'child-' || j.id
        where j.kind = 't.three' group by j.id, j.status
        having count(c.id) <> case when j.status = 'succeeded' then 1 else 0 end""",
    "a child has no parent that succeeded": """
        select c.id from jobs.jobs as c where c.kind = 't.child' and not exists (
            select 1 from jobs.jobs as j where 'child-' || j.id = c.submission_identity and j.status = 'succeeded')""",
    "a history has holes or goes back in time": """
        select job from (
            select e.job, e.sequence, row_number() over w as place, e.at, lag(e.at) over w as before
            from jobs.job_events as e window w as (partition by e.job order by e.sequence)
        ) as h where sequence <> place or before > at""",
    "a root knows another end of its history": """
        select j.id from jobs.jobs as j
        where j.event_sequence <> (select max(e.sequence) from jobs.job_events as e where e.job = j.id)""",
    "a job was settled twice or never": """
        select j.id, count(e.sequence) from jobs.jobs as j
        left join jobs.job_events as e on e.job = j.id and e.kind = 'settled' group by j.id having count(e.sequence) <> 1""",
    "a step went on after its job was settled": """
        select e.job, e.kind from jobs.job_events as e
        join jobs.job_events as s on s.job = e.job and s.kind = 'settled' and s.sequence < e.sequence
        where e.kind not in ('effect-done', 'effect-failed', 'reconciled')""",
    "a step succeeded twice, or its row says otherwise": """
        select s.job, s.step, s.status, count(e.sequence) from jobs.job_steps as s
        left join jobs.job_events as e on e.job = s.job and e.step = s.step and e.kind = 'step-succeeded'
        group by s.job, s.step, s.status having count(e.sequence) <> case when s.status = 'succeeded' then 1 else 0 end""",
    "a step's attempts are not those of its history": """
        select s.job, s.step, s.attempts, count(e.sequence) from jobs.job_steps as s
        left join jobs.job_events as e on e.job = s.job and e.step = s.step and e.kind = 'step-started'
        group by s.job, s.step, s.attempts having count(e.sequence) <> s.attempts""",
    "a step began before the one before it had succeeded": """
        select s.job, s.step from jobs.job_steps as s
        join jobs.job_steps as b on b.job = s.job and b.position = s.position - 1
        join jobs.job_events as e on e.job = s.job and e.step = s.step and e.kind = 'step-started'
        where not exists (
            select 1 from jobs.job_events as d
            where d.job = s.job and d.step = b.step and d.kind = 'step-succeeded' and d.sequence < e.sequence)""",
    "an attempt that succeeded had not begun last": """
        select d.job, d.step from jobs.job_events as d
        where d.kind = 'step-succeeded' and (d.detail ->> 'attempt')::int <> (
            select max((e.detail ->> 'attempt')::int) from jobs.job_events as e
            where e.job = d.job and e.step = d.step and e.kind = 'step-started')""",
    "an effect was done twice, or not, or without its report": """
        select s.job, s.step, s.status, count(i.id) from jobs.job_steps as s
        left join jobs.items as i on substring(i.business_key from '^step:(.*:[a-z]+):[0-9]+:') = s.job || ':' || s.step
        group by s.job, s.step, s.status having count(i.id) <> case when s.status = 'succeeded' then 1 else 0 end""",
    "a failure effect was done twice, or not": """
        select j.id, j.failure_effect_state, count(i.id) from jobs.jobs as j
        left join jobs.items as i on substring(i.business_key from '^effect:(.*):') = j.id::text
        group by j.id, j.failure_effect_state, j.status
        having count(i.id) <> case when j.status = 'failed' then 1 else 0 end
        or j.failure_effect_state <> case when j.status = 'failed' then 'done' else 'none' end""",
    "not one notice an outcome": """
        select j.id, j.status, count(n.id) from jobs.jobs as j left join jobs.job_notices as n on n.job = j.id
        group by j.id, j.status, j.requester
        having count(n.id) <> case when j.requester is null then 0 else 1 end or max(n.outcome) <> j.status""",
    "a notice was not told": """
        select n.id, n.state, n.reason from jobs.job_notices as n
        where n.state <> 'delivered' and not (n.state = 'suppressed' and n.reason = 'They cancelled it themselves.')""",
    "a tally is wrong": """
        with tallied as (
            select kind, status, unresolved, sum(n) as n from (
                select kind, status, unresolved, count as n from jobs.job_tallies
                union all select kind, status, unresolved, change from jobs.job_tally_changes) as a group by 1, 2, 3
        ), counted as (
            select kind, status, status = 'failed' and resolution is null as unresolved, count(*) as n
            from jobs.jobs group by 1, 2, 3
        )
        select * from tallied full join counted using (kind, status, unresolved)
        where coalesce(tallied.n, 0) <> coalesce(counted.n, 0)""",
    "the engine would go on": """
        select workflow_uuid, status from jobs_engine.workflow_status where status in ('ENQUEUED', 'DELAYED', 'PENDING')""",
}


def findings(ask: Ask) -> dict[str, list[tuple[Any, ...]]]:
    """What is wrong, each with a few of its rows."""
    found = {what: ask(query)[:5] for what, query in WRONG.items()}
    return {what: rows for what, rows in found.items() if rows}


def letters(ask: Ask, file: Path) -> dict[str, list[str]]:
    """Ids of notices that were never delivered although they say so, and of those delivered twice in one attempt."""
    sent = file.read_text().split() if file.exists() else []
    told = {
        str(identifier): attempts
        for identifier, attempts in ask("select id::text, attempts from jobs.job_notices where state = 'delivered'")
    }
    times = {each: sent.count(each) for each in set(sent)} if len(sent) != len(set(sent)) else dict.fromkeys(sent, 1)
    wrong = {
        "never delivered": [each for each in told if each not in times],
        "delivered more often than tried": [each for each, number in times.items() if number > told.get(each, 0)],
    }
    return {what: each for what, each in wrong.items() if each}
