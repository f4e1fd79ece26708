-- How a person stands with their codes: their row (nulls where there is none), wrong codes of the window, the clock.
select
    c.person,
    c.key_id,
    c.sealed,
    c.pending_key_id,
    c.pending_sealed,
    c.pending_at,
    c.enrolled_at,
    c.rests_until,
    c.last_step,
    c.in_a_row,
    c.locks,
    c.locked_until,
    c.locked_for_good,
    asked.now,
    (
        select count(*)
        from jobs.code_failures as f
        where f.person = %(person)s and f.at > asked.now - make_interval(secs => %(seconds)s)
    ) as recent
from (select jobs.now() as now) as asked
left join jobs.codes as c on c.person = %(person)s
