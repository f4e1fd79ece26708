-- An item's acts, newest first.
select
    coalesce(
        json_agg(
            json_build_object(
                'at', h.at,
                'person', json_build_object('id', h.person, 'name', h.person_name),
                'use_case', h.use_case,
                'outcome', h.outcome,
                'sentence', h.sentence,
                'inputs', h.inputs,
                'money_version', h.money_version
            )
            order by h.id desc
        ),
        '[]'::json
    ) as acts
from (
    select
        a.*,
        coalesce((select p.name from jobs.people as p where p.id = a.person), a.person) as person_name
    from jobs.acts as a
    where a.item = %(item)s::uuid and a.tenant = %(tenant)s
    order by a.id desc
    limit %(most)s
) as h
