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
        coalesce(p.name, a.person) as person_name
    from jobs.acts as a
    left join jobs.people as p on a.person = p.id
    where a.item = %(item)s::uuid and a.tenant = %(tenant)s
    order by a.id desc
    limit %(most)s
) as h
