-- Names on each row of a plan what is odd about it. By a look into an index for each row: a join of the two, fresh and
-- without statistics, took a square of their number.
update jobs.plan_items as p
set
    warned = coalesce(
        (
            select array_agg(w.kind order by w.place)
            from jobs.plan_warnings as w
            where w.plan = p.plan and w.item = p.item
        ),
        '{}'
    )
where p.plan = %(plan)s::uuid and p.tenant = %(tenant)s
